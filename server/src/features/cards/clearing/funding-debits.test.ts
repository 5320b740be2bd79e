// The job for funding debits: confirmation immediately, later or never, and events before the
// confirmation. A debit has one effect regardless of the number of runs and failures.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type CardPaymentFixture, cardPayments } from '../../../../test/kit/cards/card-payments.ts';
import { delegatedFixture } from '../../../../test/kit/cards/delegated-cards.ts';
import type {
  CardFundingDebit,
  FundingDebitProgress,
  IssuerPort,
} from '../../../connectors/ports/cards.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { Job } from '../../../runtime/jobs/jobs.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { fundingDebitJobs } from './funding-debits.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const refundNotice = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;
const SLOW_MERCHANT = { descriptor: 'Shop 005' };
const FAILING_MERCHANT = { descriptor: 'Shop 006' };

describe('a funding debit that is confirmed later', () => {
  it('remains on hold until the confirmation', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    expect(await payment.readState()).toEqual({ status: 'AUTHORIZED', account: '900 of 1000' });
    expect((await payment.readResource()).pullSummary).toMatchObject({ count: 1, pendingCount: 1 });
    await app.advance(29_999);
    expect((await payment.readState()).account).toBe('900 of 1000');
    await app.advance(1);
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '900 of 900',
      cards: 100,
    });
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'AUTHORIZED', '900 of 900']);
    expect((await payment.readResource()).pullSummary).toMatchObject({ count: 1, pendingCount: 0 });
  });

  it('allows a clearing before the confirmation, which then emits only a balance event', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(clearingNotice(100));
    const expectedState = { status: 'SETTLED', account: '900 of 1000', cards: -100, settled: 100 };
    expect(await payment.readState()).toEqual(expectedState);
    await app.advance(30_000);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '900 of 900',
      settled: 100,
    });
    expect((await payment.readEvents()).slice(2)).toEqual(['SETTLED', '900 of 900']);
  });

  it('is released only after its confirmation', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(clearingNotice(30));
    await payment.notify(EXPIRY);
    const expectedState = { status: 'SETTLED', account: '900 of 1000', cards: -30, settled: 30 };
    expect(await payment.readState()).toEqual(expectedState);
    await app.advance(30_000);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '970 of 970',
      settled: 30,
    });
    expect((await payment.readEvents()).slice(2)).toEqual([
      'PARTIALLY_SETTLED',
      'SETTLED',
      '970 of 970',
    ]);
  });

  it('is confirmed separately from a second debit', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await app.advance(10_000);
    await payment.notify(clearingNotice(150));
    expect((await payment.readResource()).pullSummary).toMatchObject({ count: 2, pendingCount: 2 });
    await app.advance(20_000);
    expect((await payment.readState()).account).toBe('850 of 900');
    await app.advance(10_000);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '850 of 850',
      settled: 150,
    });
  });
});

describe('a funding debit that fails', () => {
  it('remains on hold until an operator decides', async () => {
    const payment = await fixture.startPayment(FAILING_MERCHANT);
    expect(await payment.readState()).toEqual({ status: 'EXCEPTION', account: '900 of 1000' });
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'AUTHORIZED', 'EXCEPTION']);
    await app.advance(86_400_000);
    expect((await payment.readState()).account).toBe('900 of 1000');
    expect((await payment.readResource()).pullSummary).toMatchObject({ count: 1, pendingCount: 0 });
  });

  it('changes a settled payment to an exception', async () => {
    const payment = await fixture.startPayment({
      ...FAILING_MERCHANT,
      kind: 'financial_authorization',
    });
    const exceptionState = {
      status: 'EXCEPTION',
      account: '900 of 1000',
      cards: -100,
      settled: 100,
    };
    expect(await payment.readState()).toEqual(exceptionState);
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'SETTLED', 'EXCEPTION']);
    await payment.notify(refundNotice(100));
    expect(await payment.readState()).toEqual({
      status: 'EXCEPTION',
      account: '1000 of 1100',
      cards: -100,
    });
  });
});

describe('the hold of a failed debit', () => {
  const failingIssuer: Partial<IssuerPort> = { debitFunding: async () => ({ state: 'failed' }) };

  it('is voided if the payment is closed without a clearing', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(EXPIRY);
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account: '900 of 1000' });
    await runWith(jobOf(payment.id), failingIssuer);
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
    expect(await payment.readEvents()).toEqual([
      '900 of 1000',
      'AUTHORIZED',
      'SETTLED',
      '1000 of 1000',
    ]);
    expect((await payment.readResource()).pullSummary).toMatchObject({ count: 0, pendingCount: 0 });
    // A later clearing is debited again.
    await payment.notify(clearingNotice(40));
    expect((await payment.readResource()).pullSummary).toMatchObject({ pendingCount: 1 });
    await app.advance(30_000);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '960 of 960',
      settled: 40,
    });
  });

  it('is voided if other debits cover the cleared amount', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 150n });
    await payment.notify(clearingNotice(90));
    await payment.notify(EXPIRY);
    expect((await payment.readState()).account).toBe('850 of 1000');
    await runWith(jobOf(payment.id, false, 1), failingIssuer);
    expect((await payment.readState()).account).toBe('900 of 1000');
    await app.advance(30_000);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '910 of 910',
      settled: 90,
    });
  });

  it('remains if the cleared amount is not covered, even after a full refund', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(clearingNotice(100));
    await payment.notify(refundNotice(100));
    expect((await payment.readState()).status).toBe('REFUNDED');
    await runWith(jobOf(payment.id), failingIssuer);
    const exceptionState = { status: 'EXCEPTION', account: '1000 of 1100', cards: -100 };
    expect(await payment.readState()).toEqual(exceptionState);
  });
});

describe('a funding debit of a wallet', () => {
  /** Number of signed funding debits of a payment. */
  const countSignatures = async (id: string): Promise<number> => {
    const signatureSql =
      "select 1 from wallet_authorizations where operation = 'cardPull' and subject = $1";
    return (await app.runtime.db.query(signatureSql, [id])).length;
  };

  /** A payment of 1.00 from a wallet with 5.00, with an active key. */
  async function payByWallet() {
    const wallets = delegatedFixture(app);
    const walletCard = await wallets.createWalletCard({ funds: 5_000_000 });
    const key = await wallets.createKey(walletCard);
    const cardPayment = await fixture.startPaymentWith(walletCard.card, {
      accountId: walletCard.accountId,
      currency: 'USDB',
    });
    return { payment: cardPayment, revoke: async () => void ok(await wallets.revoke(key.id), 204) };
  }

  it('is signed again when more is debited', async () => {
    const { payment } = await payByWallet();
    await payment.notify(clearingNotice(123));
    const account = '3770000 of 3770000';
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account, settled: 1_230_000 });
    expect(await countSignatures(payment.id)).toBe(2);
  });

  it('is not requested without an active key', async () => {
    const { payment, revoke } = await payByWallet();
    await revoke();
    await payment.notify(clearingNotice(123));
    const exception = { status: 'EXCEPTION', account: '4000000 of 4000000' };
    expect(await payment.readState()).toEqual({
      ...exception,
      cards: -230_000,
      settled: 1_230_000,
    });
    expect(await countSignatures(payment.id)).toBe(1);
  });
});

/** Runs the job of a payment with this issuer, like a worker. */
async function runWith(job: Job, issuer: Partial<IssuerPort>): Promise<void> {
  const connectors = () => ({ issuer: issuer as IssuerPort }) as Connectors;
  const [handler] = fundingDebitJobs({ connectors });
  if (!handler) throw new Error('The funding debit job has no handler.');
  const { caller, stage } = await handler.run(app.runtime, job);
  await operate(app.runtime, caller, stage);
}

const jobOf = (transactionId: string, isRequested = false, index = 0) =>
  ({
    id: 'Job:1',
    attempts: 1,
    input: { transactionId, at: index, since: app.effects.now(), requested: isRequested },
  }) as unknown as Job;

describe('the funding debit job', () => {
  const calls: { method: string; debit: CardFundingDebit }[] = [];
  const issuerReporting = (progress: FundingDebitProgress): Partial<IssuerPort> => ({
    debitFunding: async (debit) => {
      calls.push({ method: 'debit', debit });
      return progress;
    },
    checkFundingDebit: async (debit) => {
      calls.push({ method: 'check', debit });
      return progress;
    },
  });
  beforeEach(() => void calls.splice(0));

  it('sends the same debit each time, in the currency of the card', async () => {
    const payment = await fixture.startPayment({
      ...SLOW_MERCHANT,
      currency: 'USDB',
      funds: 5_000_000,
      amount: 77,
    });
    await runWith(jobOf(payment.id), issuerReporting({ state: 'pending', checkAfterMs: 60_000 }));
    await runWith(
      jobOf(payment.id, true),
      issuerReporting({ state: 'pending', checkAfterMs: 60_000 }),
    );
    const debit = {
      ...{
        id: `${payment.id}/pull.1`,
        cardId: payment.card.id,
        accountId: payment.accountId,
      },
      ...{ amount: 77n, currency: 'USD', merchant: SLOW_MERCHANT, requestedAt: app.effects.now() },
    };
    expect(calls).toEqual([
      { method: 'debit', debit },
      { method: 'check', debit },
    ]);
  });

  it('has one effect if it runs repeatedly, concurrently or later', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    const confirmingIssuer = issuerReporting({ state: 'confirmed' });
    await Promise.all([1, 2, 3].map(() => runWith(jobOf(payment.id), confirmingIssuer)));
    await runWith(jobOf(payment.id, true), issuerReporting({ state: 'failed' }));
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '900 of 900',
      cards: 100,
    });
    await app.advance(30_000);
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'AUTHORIZED', '900 of 900']);
  });

  it('does not poll a debit with a final result', async () => {
    const payment = await fixture.startPayment();
    await runWith(jobOf(payment.id), issuerReporting({ state: 'failed' }));
    expect(calls).toEqual([]);
    expect((await payment.readState()).status).toBe('AUTHORIZED');
  });

  it('throws without a response or without an issuer, so that it runs again', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    const unresponsiveIssuer: Partial<IssuerPort> = {
      debitFunding: async () => {
        throw new Error('no response');
      },
    };
    await expect(runWith(jobOf(payment.id), unresponsiveIssuer)).rejects.toThrow('no response');
    await expect(
      fundingDebitJobs({ connectors: () => ({}) as Connectors })[0]?.run(
        app.runtime,
        jobOf(payment.id),
      ),
    ).rejects.toThrow('no card issuer is available in sandbox');
    expect((await payment.readState()).account).toBe('900 of 1000');
  });

  it('keeps amounts exact under concurrent clearings and expiries', async () => {
    const allPayments: CardPaymentFixture[] = [];
    while (allPayments.length < 6) allPayments.push(await fixture.startPayment(SLOW_MERCHANT));
    const confirmingIssuer = issuerReporting({ state: 'confirmed' });
    await Promise.all(
      allPayments.flatMap((cardPayment) => [
        cardPayment.clear(110),
        runWith(jobOf(cardPayment.id), confirmingIssuer),
        cardPayment.notify(EXPIRY, false),
      ]),
    );
    await app.advance(60_000);
    for (const cardPayment of allPayments) {
      const transaction = ok(await app.call('GET', `/transactions/${cardPayment.id}`), 200);
      expect(transaction).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 110 } });
      expect((await cardPayment.readState()).account).toBe('890 of 890');
    }
  });
});
