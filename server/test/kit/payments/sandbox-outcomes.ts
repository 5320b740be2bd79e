// A sandbox platform with a webhook endpoint, for tests of the sandbox's outcome tables. The
// accounts have the suffixes of a table. The webhooks of one payment are compared with the expected
// webhooks before and after each scheduled time.
import { expect } from 'vitest';
import { accountInfos, ok, readBalances } from '../app/fixtures.ts';
import { startApp, type TestApp } from '../app/harness.ts';
import { type Received, startReceiver } from '../http/webhook-receiver.ts';

export type Fixture = Awaited<ReturnType<typeof openSandboxFixture>>;

/** Longer than all delays of the sandbox. */
const LONG_MS = 49 * 3_600_000;

export async function openSandboxFixture() {
  const app: TestApp = await startApp();
  const receiver = await startReceiver((response) => void response.writeHead(200).end());
  ok(await app.call('PATCH', '/config', { webhookEndpoint: receiver.url }), 200);
  return {
    app,
    arrivals: receiver.arrivals as readonly Received[],
    /** Completes all pending work of a row, so that its events do not occur during the next row. */
    drain: () => app.advance(LONG_MS),
    async close(): Promise<void> {
      await app.close();
      await receiver.close();
    },
  };
}

const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };

interface Method {
  currency: string;
  infoOf(suffix: string): object;
}

const bankMethod = (currency: string): Method => ({
  currency,
  infoOf: (suffix) => accountInfos[currency]?.(suffix) as object,
});

/** Kinds of external accounts. The argument of `infoOf` is the suffix of the identifier. */
export const ACCOUNT_METHODS = {
  USD: bankMethod('USD'),
  'EUR by IBAN': bankMethod('EUR'),
  'MXN by CLABE': bankMethod('MXN'),
  'INR by VPA': {
    currency: 'INR',
    infoOf: (suffix) => ({ accountType: 'INR_ACCOUNT', vpa: `grace.${suffix}@upi`, beneficiary }),
  },
  'BTC on Spark': {
    currency: 'BTC',
    infoOf: (suffix) => ({
      accountType: 'SPARK_WALLET',
      address: `spark1${'q'.repeat(60)}${suffix}`,
    }),
  },
  'USDC on Base': {
    currency: 'USDC',
    infoOf: (suffix) => ({ accountType: 'BASE_WALLET', address: `0x${'a'.repeat(37)}${suffix}` }),
  },
} satisfies Record<string, Method>;

export type MethodName = keyof typeof ACCOUNT_METHODS;

/** Registers an account and returns the raw response. */
export function registerAccount(
  { app }: Fixture,
  customerId: string,
  method: MethodName,
  suffix: string,
) {
  const { currency, infoOf } = ACCOUNT_METHODS[method];
  const body = { customerId, currency, accountInfo: infoOf(suffix) };
  return app.call('POST', '/customers/external-accounts', body);
}

/** An internal account whose balance events are compared, and labels for its amounts. */
export interface ObservedAccount {
  id: string;
  name: string;
  /** The first label is that of the initial amount. */
  labels: readonly [Label, ...Label[]];
}

type Label = readonly [amount: number, label: string];

/** `payer remaining/initial`: available and total balance. */
function balanceLine({ name, labels }: ObservedAccount, balance: number, total: number): string {
  const labelsByAmount = new Map<number, string>(labels);
  const [available, totalBalance] = [balance, total].map(
    (amount) => labelsByAmount.get(amount) ?? amount,
  );
  return `${name} ${available}/${totalBalance}`;
}

interface Delivery {
  id: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a resource of any shape.
  data: any;
}

/**
 * `FAILED`, `REFUND_PENDING FAILED/PENDING`: the event, and the status of the resource if it
 * differs.
 */
function paymentLine({ type, data }: Delivery): string {
  const event = type.slice(type.indexOf('.') + 1);
  if (data.refund) return `${event} ${data.status}/${data.refund.status}`;
  return data.status === event ? event : `${event} ${data.status}`;
}

/** Balance and payment amount of every payer, in minor units of any currency. */
export const INITIAL_AMOUNT = 2_000_000;
export const SENT_AMOUNT = 500_000;

export const payerOf = (account: { id: string }): ObservedAccount => ({
  id: account.id,
  name: 'payer',
  labels: [
    [INITIAL_AMOUNT, 'initial'],
    [INITIAL_AMOUNT - SENT_AMOUNT, 'remaining'],
  ],
});

export const payeeOf = (account: { id: string }): ObservedAccount => ({
  id: account.id,
  name: 'payee',
  labels: [
    [0, 'none'],
    [SENT_AMOUNT, 'received'],
  ],
});

/** The expectation for a row. Throws if there is none. */
export function expectedOf<R>(table: Readonly<Record<string, R>>, key: string): R {
  const row = table[key];
  if (row === undefined)
    throw new Error(`The table has no row for ${key}. Add the expected result.`);
  return row;
}

/** Collects the following webhooks about one payment and its accounts. */
export async function observePayment(
  fixture: Fixture,
  paymentId: () => string,
  accounts: readonly ObservedAccount[],
) {
  await fixture.app.settle();
  let receivedCount = fixture.arrivals.length;
  let lastData: unknown;
  function line(delivery: Delivery): string {
    const { type, data } = delivery;
    if (data.id === paymentId()) return paymentLine(delivery);
    const account = accounts.find((account) => account.id === data.id);
    if (type !== 'INTERNAL_ACCOUNT.BALANCE_UPDATED' || !account) return `${type} ${data.id}`;
    return balanceLine(account, data.balance.amount, data.totalBalance.amount);
  }
  return {
    /**
     * The webhooks since the last call. Webhooks of the payment must arrive in the order of their
     * IDs. Balance events are delivered concurrently and are sorted by ID.
     */
    next(): string[] {
      const newDeliveries: Delivery[] = fixture.arrivals
        .slice(receivedCount)
        .map(({ body }) => JSON.parse(body));
      receivedCount = fixture.arrivals.length;
      const paymentDeliveries = newDeliveries.filter(
        (delivery) => delivery.data.id === paymentId(),
      );
      const ids = paymentDeliveries.map((delivery) => delivery.id);
      expect(ids).toEqual(ids.toSorted());
      expect(new Set(newDeliveries.map((delivery) => delivery.id)).size).toBe(newDeliveries.length);
      lastData = paymentDeliveries.at(-1)?.data ?? lastData;
      return newDeliveries.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(line);
    },
    /** The payment as the latest webhook shows it. */
    last: () => lastData,
  };
}

/** The expected events of a row immediately and after a delay, and its final state. */
export interface Row {
  immediateEvents: readonly string[];
  laterEvents?: { afterMs: number; status: string; events: readonly string[] };
  end: {
    status: string;
    failureReason?: string;
    refund?: readonly [status: string, reason: string];
    quote?: string;
  };
}

interface Payment {
  id: string;
  quoteId?: string;
  accounts: readonly ObservedAccount[];
  scenario: Awaited<ReturnType<typeof observePayment>>;
}

/** The lines without those about accounts that this payment does not have. */
const selectLines = ({ accounts }: Payment, lines: readonly string[]) => {
  const absentAccounts = ['payer', 'platform'].filter(
    (name) => !accounts.some((account) => account.name === name),
  );
  return lines.filter((line) => !absentAccounts.includes(line.split(' ')[0] as string));
};

async function read({ app }: Fixture, path: string) {
  return ok(await app.call('GET', path), 200);
}

/**
 * Compares the payment, its refund and its quote with `end`, and the payment with its last webhook.
 */
async function expectEnd(fixture: Fixture, payment: Payment, end: Row['end']): Promise<void> {
  const finalPayment = await read(fixture, `/transactions/${payment.id}`);
  const { status, failureReason, refund } = finalPayment;
  const { quote, ...expected } = end;
  expect({ status, failureReason, refund: refund && [refund.status, refund.reason] }).toEqual({
    failureReason: undefined,
    refund: undefined,
    ...expected,
  });
  if (refund) expect(refund.settledAt !== undefined).toBe(refund.status === 'COMPLETED');
  expect(payment.scenario.last()).toEqual(finalPayment);
  if (!payment.quoteId) return;
  expect((await read(fixture, `/quotes/${payment.quoteId}`)).status).toBe(quote);
}

/** Advances the clock through the times of the row, and compares the webhooks with its events. */
export async function expectWebhooks(fixture: Fixture, payment: Payment, row: Row): Promise<void> {
  const { app } = fixture;
  const { id, scenario, accounts } = payment;
  const { immediateEvents, laterEvents, end } = row;
  await app.settle();
  const receivedLines = scenario.next();
  expect(receivedLines).toEqual(selectLines(payment, immediateEvents));
  if (laterEvents) {
    await app.advance(laterEvents.afterMs - 1);
    expect(scenario.next()).toEqual([]);
    expect((await read(fixture, `/transactions/${id}`)).status).toBe(laterEvents.status);
    await app.advance(1);
    const laterLines = scenario.next();
    expect(laterLines).toEqual(selectLines(payment, laterEvents.events));
    receivedLines.push(...laterLines);
  }
  await expectEnd(fixture, payment, end);
  for (const account of accounts) {
    const { balance, total } = await readBalances(app, account.id);
    const [[initialAmount]] = account.labels;
    const latestLine = receivedLines.findLast((line) => line.startsWith(`${account.name} `));
    expect(balanceLine(account, balance, total)).toBe(
      latestLine ?? balanceLine(account, initialAmount, initialAmount),
    );
  }
  await fixture.drain();
  expect(scenario.next()).toEqual([]);
}
