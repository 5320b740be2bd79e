// Short ways to the things most tests need: a customer with money, an account to pay to.
import { expect } from 'vitest';
import type { Answer, CallOptions, TestApp } from './harness.ts';

let counter = 0;
const next = () => String(++counter).padStart(6, '0');

/** Fails loudly, with the body, when the status is another. */
export function ok(answer: Answer, status: number): Answer['body'] {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body;
}

/** An approved individual. */
export async function customer(app: TestApp, options: CallOptions = {}, more: object = {}) {
  const body = {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `person-${next()}`,
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
    ...more,
  };
  return ok(await app.call('POST', '/customers', body, options), 201);
}

/** The balance of a customer in a currency, never its wallet; null means the platform's own. */
export async function internalAccount(
  app: TestApp,
  customerId: string | null,
  currency: string,
  options: CallOptions = {},
) {
  const path = customerId
    ? `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`
    : `/platform/internal-accounts?currency=${currency}`;
  const { data } = ok(await app.call('GET', path, undefined, options), 200);
  const found = data.filter((each: { type: string }) => each.type !== 'EMBEDDED_WALLET');
  expect(found).toHaveLength(1);
  return found[0];
}

/** What an account can spend and holds in all, smallest units. */
export async function balances(app: TestApp, accountId: string, options: CallOptions = {}) {
  const body = ok(
    await app.call('GET', `/internal-accounts/${accountId}`, undefined, options),
    200,
  );
  return { balance: body.balance.amount as number, total: body.totalBalance.amount as number };
}

export async function fund(app: TestApp, accountId: string, amount: number, options = {}) {
  const path = `/sandbox/internal-accounts/${accountId}/fund`;
  return ok(await app.call('POST', path, { amount }, options), 200);
}

const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };

/** accountInfo of a payable account whose primary identifier ends with `suffix`. */
export const accountInfos: Record<string, (suffix: string) => object> = {
  USD: (suffix) => ({
    accountType: 'USD_ACCOUNT',
    accountNumber: `${next()}${suffix}`,
    routingNumber: '021000021',
    beneficiary,
  }),
  EUR: (suffix) => ({
    accountType: 'EUR_ACCOUNT',
    iban: `DE89370400440${next()}${suffix}`,
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  }),
  MXN: (suffix) => ({
    accountType: 'MXN_ACCOUNT',
    clabeNumber: `032180000${next()}${suffix}`,
    beneficiary,
  }),
  GBP: (suffix) => ({
    accountType: 'GBP_ACCOUNT',
    sortCode: '200000',
    accountNumber: `${next().slice(1)}${suffix}`,
    beneficiary,
  }),
};

/** An external account to pay to; `000` succeeds. */
export async function externalAccount(
  app: TestApp,
  customerId: string | null,
  currency: string,
  suffix = '000',
  options: CallOptions = {},
) {
  const info = accountInfos[currency]?.(suffix);
  const path = customerId ? '/customers/external-accounts' : '/platform/external-accounts';
  const body = { currency, accountInfo: info, ...(customerId ? { customerId } : {}) };
  return ok(await app.call('POST', path, body, options), 201);
}

/** A customer whose USD account holds `amount`. */
export async function fundedCustomer(app: TestApp, amount = 1_000_00, options: CallOptions = {}) {
  const person = await customer(app, options);
  const account = await internalAccount(app, person.id, 'USD', options);
  await fund(app, account.id, amount, options);
  return { person, account };
}

export const quoteBody = (from: string, to: string, amount: number, more: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
  ...more,
});

/** Event types about one resource, in order. */
export async function eventTypes(app: TestApp, subject: string): Promise<string[]> {
  const all = await app.events();
  return all.filter((each) => each.subject === subject).map((each) => each.type);
}

/** Recomputes every balance from the transfers and sums each currency; throws unless all is well. */
export async function booksBalance(app: TestApp): Promise<void> {
  const wrong = await app.runtime.db.query(
    `with moved as (
       select debit as id, case when phase in ('posted', 'post') then -amount else 0 end as balance,
         case phase when 'pending' then amount when 'post' then -amount when 'release' then -amount
           else 0 end as held from ledger_transfers
       union all
       select credit, case when phase in ('posted', 'post') then amount else 0 end, 0
         from ledger_transfers),
     sums as (select id, sum(balance) as balance, sum(held) as held from moved group by id)
     select a.id, a.balance, a.held, s.balance as b, s.held as h from ledger_accounts a
       left join sums s on s.id = a.id
       where a.balance <> coalesce(s.balance, 0) or a.held <> coalesce(s.held, 0)`,
    [],
  );
  expect(wrong).toEqual([]);
  const sums = await app.runtime.db.query(
    'select currency, sum(balance)::text as total from ledger_accounts group by 1 having sum(balance) <> 0',
    [],
  );
  expect(sums).toEqual([]);
}
