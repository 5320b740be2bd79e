// Only values that a client chooses select sandbox outcomes. Every ID that the server generates
// here has a suffix that a sandbox table contains, and the outcome is the default one.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  DESCRIPTOR_DECLINES,
  FUNDING_DEBIT_OUTCOMES,
  FUNDING_REJECTIONS,
  ISSUE_OUTCOMES,
} from '../../src/connectors/sandbox/cards/card-outcomes.ts';
import {
  BUSINESS_SUFFIXES,
  OWNER_OUTCOMES,
  PERSON_SUFFIXES,
  STATUS_BY_SUFFIX,
} from '../../src/connectors/sandbox/identity/identity.ts';
import { LIVENESS_BY_SUFFIX } from '../../src/connectors/sandbox/identity/liveness.ts';
import {
  SCRIPTED_SUFFIX,
  withoutScriptedSuffix,
} from '../../src/connectors/sandbox/payments/account-details.ts';
import { sandboxFunding } from '../../src/connectors/sandbox/payments/funding.ts';
import { sandboxPaymentFunding } from '../../src/connectors/sandbox/payments/funding-payment.ts';
import { NAME_CHECKS_BY_SUFFIX } from '../../src/connectors/sandbox/payments/names.ts';
import {
  QUOTE_OUTCOMES,
  REFUND_OUTCOMES,
  TRANSFER_OUTCOMES,
} from '../../src/connectors/sandbox/payments/outcomes.ts';
import {
  AUTO_ENABLED_SUFFIX,
  BANK_FAILURE_SUFFIX,
  BANK_LINKS,
  BANK_REJECTED_SUFFIX,
  MISMATCH_SUFFIX,
  ORDERS,
  TOKENS,
} from '../../src/connectors/sandbox/stablecoins/mint-outcomes.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import { mintFixture } from '../kit/payments/mints.ts';
import { walletFixture } from '../kit/wallets/embedded-wallets.ts';

/** The values derived from the account identifier. */
const OF_ACCOUNTS = [
  ...[QUOTE_OUTCOMES, REFUND_OUTCOMES, TRANSFER_OUTCOMES].flatMap(Object.keys),
  ...[LIVENESS_BY_SUFFIX, NAME_CHECKS_BY_SUFFIX, BANK_LINKS].flatMap(Object.keys),
  ...[BANK_FAILURE_SUFFIX, BANK_REJECTED_SUFFIX],
];
const MAGIC = [
  ...new Set([
    ...OF_ACCOUNTS,
    ...[DESCRIPTOR_DECLINES, FUNDING_REJECTIONS, ISSUE_OUTCOMES, FUNDING_DEBIT_OUTCOMES].flatMap(
      Object.keys,
    ),
    ...[BUSINESS_SUFFIXES, OWNER_OUTCOMES, PERSON_SUFFIXES, STATUS_BY_SUFFIX].flatMap(Object.keys),
    ...[ORDERS, TOKENS].flatMap(Object.keys),
    ...[AUTO_ENABLED_SUFFIX, MISMATCH_SUFFIX],
  ]),
].sort();

const app = testApp();
let suffix: string;
beforeAll(async () => {
  const { random } = app.effects;
  // Replaces the last three digits of every uuid. Other randomness is unchanged.
  app.effects.random = (count) => {
    const bytes = random(count);
    if (count !== 16 || !suffix) return bytes;
    bytes[14] = ((bytes[14] as number) & 0xf0) | Number.parseInt(suffix.slice(0, 1), 16);
    bytes[15] = Number.parseInt(suffix.slice(1), 16);
    return bytes;
  };
});
beforeEach(() => {
  suffix = '';
});

/** The body of the reply, whose ID has the tested suffix. */
function bodyWithSuffix(response: ApiResponse | ApiResponse['body'], status?: number) {
  const body = status === undefined ? response : ok(response, status);
  expect(body.id.slice(-3)).toBe(suffix);
  return body;
}

const statusOf = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200).status;

/** Fields of a customer without a `platformCustomerId`. */
const UNNAMED = { platformCustomerId: undefined };

describe.each(MAGIC)('generated IDs that end in %s', (scriptedSuffix) => {
  beforeEach(() => {
    suffix = scriptedSuffix;
  });

  it('do not change the approval of a customer and the match of a name', async () => {
    const person = bodyWithSuffix(await createCustomer(app, {}, UNNAMED));
    expect(person.kycStatus).toBe('APPROVED');
    const account = bodyWithSuffix(await createExternalAccount(app, person.id, 'EUR'));
    expect([account.status, account.beneficiaryVerificationStatus]).toEqual(['ACTIVE', 'MATCHED']);
  });

  it('do not change the result of a quote, a transfer and a funding debit', async () => {
    const person = bodyWithSuffix(await createCustomer(app, {}, UNNAMED));
    const usd = bodyWithSuffix(await findInternalAccount(app, person.id, 'USD'));
    await fundAccount(app, usd.id, 500_00);
    const [euros, dollars] = [
      bodyWithSuffix(await createExternalAccount(app, person.id, 'EUR')),
      bodyWithSuffix(await createExternalAccount(app, person.id, 'USD')),
    ];
    const body = quoteBody(usd.id, euros.id, 100_00, { immediatelyExecute: true });
    const quote = bodyWithSuffix(await app.call('POST', '/quotes', body), 201);
    const [internal, external] = [{ accountId: usd.id }, { accountId: dollars.id }];
    const transferOut = { source: internal, destination: external, amount: 100_00 };
    const into = { source: external, destination: internal, amount: 100_00 };
    const ids = [
      quote.transactionId,
      bodyWithSuffix(await app.call('POST', '/transfer-out', transferOut), 201).id,
      bodyWithSuffix(await app.call('POST', '/transfer-in', into), 201).id,
    ];
    await app.settle();
    await app.advance(60_000);
    for (const id of ids) expect(await statusOf(id)).toBe('COMPLETED');
  });

  it('do not change the issuing, funding and use of a card', async () => {
    const { customer: person, accountId } = await walletFixture(app).createWalletCustomer(UNNAMED);
    const usd = bodyWithSuffix(await findInternalAccount(app, person.id, 'USD'));
    await fundAccount(app, usd.id, 500_00);
    const create = { cardholderId: person.id, form: 'VIRTUAL', fundingSources: [accountId] };
    const card = bodyWithSuffix(await app.call('POST', '/cards', create), 201);
    await app.settle();
    const path = `/cards/${card.id}`;
    expect(ok(await app.call('GET', path), 200).state).toBe('ACTIVE');
    ok(await app.call('PATCH', path, { fundingSources: [usd.id] }), 200);
    const pay = {
      amount: 10_00,
      currency: { code: 'USD' },
      merchant: { descriptor: 'CORNER SHOP', mcc: '5411', country: 'US' },
    };
    const simulated = `/sandbox${path}/simulate/financial_authorization`;
    ok(await app.call('POST', simulated, pay), 202);
    await app.settle();
    const { data } = ok(
      await app.call('GET', `/transactions?customerId=${person.id}&type=CARD`),
      200,
    );
    expect(data.map((transaction: ApiResponse['body']) => transaction.status)).toEqual(['SETTLED']);
  });

  it('do not change the minting of a stablecoin', async () => {
    const fixture = mintFixture(app);
    const coin = bodyWithSuffix(await fixture.createCoin());
    const order = await fixture.mint(coin.id, fixture.mintBody((await fixture.createWallet()).id));
    const { id } = bodyWithSuffix(order, 201);
    await app.advance(5_000);
    expect(ok(await fixture.read(`/stablecoin-operations/${id}`), 200).status).toBe('COMPLETED');
  });
});

describe('account details that the sandbox generates', () => {
  it('are regenerated until their suffix has no meaning', () => {
    const generated = ['1002', '1105', '2205', '1300'];
    const seeds: string[] = [];
    const text = withoutScriptedSuffix('seed', (seed) => {
      seeds.push(seed);
      return generated[seeds.length - 1] as string;
    });
    expect([text, seeds.length, new Set(seeds).size]).toEqual(['1300', 4, 4]);
  });

  it('exclude every suffix that an account table contains', () => {
    for (const outcome of OF_ACCOUNTS) expect(outcome).toMatch(SCRIPTED_SUFFIX);
  });

  it('never have one of these suffixes', () => {
    const suffixes = new Set<string>();
    for (let index = 0; index < 300; index++) {
      for (const currency of ['USD', 'EUR', 'GBP', 'MXN', 'BTC', 'USDB', 'USDC', 'USDT']) {
        const accountId = `InternalAccount:${index}`;
        for (const { accountOrWalletInfo: info } of sandboxFunding.instructions({
          accountId,
          currency,
          owner: 'customer',
        })) {
          for (const name of ['accountNumber', 'iban', 'clabeNumber', 'address']) {
            const value = info[name as keyof typeof info] as string | undefined;
            if (value === undefined) continue;
            suffixes.add(`${info.accountType} ${name}`);
            expect(value).not.toMatch(SCRIPTED_SUFFIX);
          }
        }
      }
    }
    expect(suffixes.size).toBeGreaterThan(10);
  });

  it('never have one of these suffixes for a payment', () => {
    const suffixes = new Set<string>();
    for (let index = 0; index < 100; index++) {
      const transactionId = `Transaction:${index}`;
      const common = { transactionId, amount: 10_000n, at: 0, expiresAt: 60_000 };
      for (const [currency, network] of [
        ['ARS', undefined],
        ['SGD', undefined],
        ['INR', undefined],
        ['BTC', 'SPARK'],
        ['BTC', 'LIGHTNING'],
      ] as const) {
        const reference = `RH${String(index % 1_000).padStart(32, '0')}`;
        const payment = { ...common, reference, currency, network, owner: 'customer' as const };
        for (const { accountOrWalletInfo } of sandboxPaymentFunding(payment)) {
          const info = accountOrWalletInfo as unknown as Record<string, string | undefined>;
          for (const name of ['accountNumber', 'address', 'invoice', 'vpa']) {
            const value = info[name]?.replace(/@.*/, '');
            if (value === undefined) continue;
            suffixes.add(`${currency} ${name}`);
            expect(value).not.toMatch(SCRIPTED_SUFFIX);
          }
        }
      }
    }
    expect([...suffixes].sort()).toEqual([
      'ARS accountNumber',
      'BTC address',
      'BTC invoice',
      'INR vpa',
      'SGD accountNumber',
    ]);
  });
});
