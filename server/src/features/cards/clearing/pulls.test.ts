// The job that takes what was set aside: money that is taken at once, after a while or not at all,
// and what happens meanwhile. However often it runs, and whatever breaks on the way, a pull has one
// effect.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type BegunPayment, cardPayments } from '../../../../test/kit/cards/card-payments.ts';
import { delegatedFixture } from '../../../../test/kit/cards/delegated-cards.ts';
import type {
  CardFundingDebit,
  FundingDebitProgress,
  IssuerPort,
} from '../../../connectors/ports/cards.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { Job } from '../../../runtime/jobs/jobs.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { pullJobs } from './pulls.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearing = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const giving = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;
const SLOW = { descriptor: 'Shop 005' };
const BROKEN = { descriptor: 'Shop 006' };

describe('money that is taken after a while', () => {
  it('is set aside until then', async () => {
    const paid = await fixture.begin(SLOW);
    expect(await paid.now()).toEqual({ status: 'AUTHORIZED', account: '900 of 1000' });
    expect((await paid.shown()).pullSummary).toMatchObject({ count: 1, pendingCount: 1 });
    await app.advance(29_999);
    expect((await paid.now()).account).toBe('900 of 1000');
    await app.advance(1);
    expect(await paid.now()).toEqual({ status: 'AUTHORIZED', account: '900 of 900', cards: 100 });
    expect(await paid.events()).toEqual(['900 of 1000', 'AUTHORIZED', '900 of 900']);
    expect((await paid.shown()).pullSummary).toMatchObject({ count: 1, pendingCount: 0 });
  });

  it('may be cleared before, without a further event', async () => {
    const paid = await fixture.begin(SLOW);
    await paid.notify(clearing(100));
    const early = { status: 'SETTLED', account: '900 of 1000', cards: -100, settled: 100 };
    expect(await paid.now()).toEqual(early);
    await app.advance(30_000);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '900 of 900', settled: 100 });
    expect((await paid.events()).slice(2)).toEqual(['SETTLED', '900 of 900']);
  });

  it('goes back only once it is there', async () => {
    const paid = await fixture.begin(SLOW);
    await paid.notify(clearing(30));
    await paid.notify(EXPIRY);
    const early = { status: 'SETTLED', account: '900 of 1000', cards: -30, settled: 30 };
    expect(await paid.now()).toEqual(early);
    await app.advance(30_000);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '970 of 970', settled: 30 });
    expect((await paid.events()).slice(2)).toEqual(['PARTIALLY_SETTLED', 'SETTLED', '970 of 970']);
  });

  it('is waited for by the first pull and by the second', async () => {
    const paid = await fixture.begin(SLOW);
    await app.advance(10_000);
    await paid.notify(clearing(150));
    expect((await paid.shown()).pullSummary).toMatchObject({ count: 2, pendingCount: 2 });
    await app.advance(20_000);
    expect((await paid.now()).account).toBe('850 of 900');
    await app.advance(10_000);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '850 of 850', settled: 150 });
  });
});

describe('money that cannot be taken', () => {
  it('stays set aside, and a person decides', async () => {
    const paid = await fixture.begin(BROKEN);
    expect(await paid.now()).toEqual({ status: 'EXCEPTION', account: '900 of 1000' });
    expect(await paid.events()).toEqual(['900 of 1000', 'AUTHORIZED', 'EXCEPTION']);
    await app.advance(86_400_000);
    expect((await paid.now()).account).toBe('900 of 1000');
    expect((await paid.shown()).pullSummary).toMatchObject({ count: 1, pendingCount: 0 });
  });

  it('makes an exception of what was cleared and came back already', async () => {
    const paid = await fixture.begin({ ...BROKEN, kind: 'financial_authorization' });
    const stuck = { status: 'EXCEPTION', account: '900 of 1000', cards: -100, settled: 100 };
    expect(await paid.now()).toEqual(stuck);
    expect(await paid.events()).toEqual(['900 of 1000', 'SETTLED', 'EXCEPTION']);
    await paid.notify(giving(100));
    expect(await paid.now()).toEqual({ status: 'EXCEPTION', account: '1000 of 1100', cards: -100 });
  });
});

describe('failed debit of an amount that is not owed', () => {
  const failed: Partial<IssuerPort> = { debitFunding: async () => ({ state: 'failed' }) };

  it('is let go of where the payment has ended with nothing cleared', async () => {
    const paid = await fixture.begin(SLOW);
    await paid.notify(EXPIRY);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '900 of 1000' });
    await runWith(jobOf(paid.id), failed);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
    expect(await paid.events()).toEqual(['900 of 1000', 'AUTHORIZED', 'SETTLED', '1000 of 1000']);
    expect((await paid.shown()).pullSummary).toMatchObject({ count: 0, pendingCount: 0 });
    // What is cleared all the same is taken anew.
    await paid.notify(clearing(40));
    expect((await paid.shown()).pullSummary).toMatchObject({ pendingCount: 1 });
    await app.advance(30_000);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '960 of 960', settled: 40 });
  });

  it('is let go of where other pulls cover what was cleared', async () => {
    const paid = await fixture.begin(SLOW);
    await paid.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 150n });
    await paid.notify(clearing(90));
    await paid.notify(EXPIRY);
    expect((await paid.now()).account).toBe('850 of 1000');
    await runWith(jobOf(paid.id, false, 1), failed);
    expect((await paid.now()).account).toBe('900 of 1000');
    await app.advance(30_000);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '910 of 910', settled: 90 });
  });

  it('stays set aside where they do not, also if all came back', async () => {
    const paid = await fixture.begin(SLOW);
    await paid.notify(clearing(100));
    await paid.notify(giving(100));
    expect((await paid.now()).status).toBe('REFUNDED');
    await runWith(jobOf(paid.id), failed);
    const stuck = { status: 'EXCEPTION', account: '1000 of 1100', cards: -100 };
    expect(await paid.now()).toEqual(stuck);
  });
});

describe('money of a wallet', () => {
  /** How many pulls of a payment were signed for. */
  const signed = async (id: string): Promise<number> => {
    const text =
      "select 1 from wallet_authorizations where operation = 'cardPull' and subject = $1";
    return (await app.runtime.db.query(text, [id])).length;
  };

  /** A payment of 1.00 from a wallet with 5.00, whose key may sign. */
  async function paidByWallet() {
    const wallets = delegatedFixture(app);
    const of = await wallets.walletCard({ funds: 5_000_000 });
    const key = await wallets.key(of);
    const paid = await fixture.beginOn(of.card, { accountId: of.accountId, currency: 'USDB' });
    return { paid, revoke: async () => void ok(await wallets.revoke(key.id), 204) };
  }

  it('is signed for once more when more is taken', async () => {
    const { paid } = await paidByWallet();
    await paid.notify(clearing(123));
    const account = '3770000 of 3770000';
    expect(await paid.now()).toEqual({ status: 'SETTLED', account, settled: 1_230_000 });
    expect(await signed(paid.id)).toBe(2);
  });

  it('is not taken without a key that signs', async () => {
    const { paid, revoke } = await paidByWallet();
    await revoke();
    await paid.notify(clearing(123));
    const short = { status: 'EXCEPTION', account: '4000000 of 4000000' };
    expect(await paid.now()).toEqual({ ...short, cards: -230_000, settled: 1_230_000 });
    expect(await signed(paid.id)).toBe(1);
  });
});

/** Runs the job of a payment as a worker would whose issuer is this one. */
async function runWith(job: Job, issuer: Partial<IssuerPort>): Promise<void> {
  const connectors = () => ({ issuer: issuer as IssuerPort }) as Connectors;
  const [handler] = pullJobs({ connectors });
  if (!handler) throw new Error('no handler');
  const { caller, stage } = await handler.run(app.runtime, job);
  await operate(app.runtime, caller, stage);
}

const jobOf = (transactionId: string, asked = false, at = 0) =>
  ({
    id: 'Job:1',
    attempts: 1,
    input: { transactionId, at, since: app.effects.now(), asked },
  }) as unknown as Job;

describe('the job', () => {
  const asked: { how: string; pull: CardFundingDebit }[] = [];
  const issuer = (progress: FundingDebitProgress): Partial<IssuerPort> => ({
    debitFunding: async (pull) => {
      asked.push({ how: 'pull', pull });
      return progress;
    },
    checkFundingDebit: async (pull) => {
      asked.push({ how: 'check', pull });
      return progress;
    },
  });
  beforeEach(() => void asked.splice(0));

  it('names the same pull each time, in money of the card', async () => {
    const paid = await fixture.begin({ ...SLOW, currency: 'USDB', funds: 5_000_000, amount: 77 });
    await runWith(jobOf(paid.id), issuer({ state: 'pending', checkAfterMs: 60_000 }));
    await runWith(jobOf(paid.id, true), issuer({ state: 'pending', checkAfterMs: 60_000 }));
    const pull = {
      ...{ id: `${paid.id}/pull.1`, cardId: paid.card.id, accountId: paid.accountId },
      ...{ amount: 77n, currency: 'USD', merchant: SLOW, requestedAt: app.effects.now() },
    };
    expect(asked).toEqual([
      { how: 'pull', pull },
      { how: 'check', pull },
    ]);
  });

  it('has one effect though it runs twice, at once or again', async () => {
    const paid = await fixture.begin(SLOW);
    const confirmed = issuer({ state: 'confirmed' });
    await Promise.all([1, 2, 3].map(() => runWith(jobOf(paid.id), confirmed)));
    await runWith(jobOf(paid.id, true), issuer({ state: 'failed' }));
    expect(await paid.now()).toEqual({ status: 'AUTHORIZED', account: '900 of 900', cards: 100 });
    await app.advance(30_000);
    expect(await paid.events()).toEqual(['900 of 1000', 'AUTHORIZED', '900 of 900']);
  });

  it('does not poll a debit that has ended', async () => {
    const paid = await fixture.begin();
    await runWith(jobOf(paid.id), issuer({ state: 'failed' }));
    expect(asked).toEqual([]);
    expect((await paid.now()).status).toBe('AUTHORIZED');
  });

  it('throws where the issuer gives no answer, so that it is run again', async () => {
    const paid = await fixture.begin(SLOW);
    const silent: Partial<IssuerPort> = {
      debitFunding: async () => {
        throw new Error('no answer');
      },
    };
    await expect(runWith(jobOf(paid.id), silent)).rejects.toThrow('no answer');
    await expect(
      pullJobs({ connectors: () => ({}) as Connectors })[0]?.run(app.runtime, jobOf(paid.id)),
    ).rejects.toThrow('no card issuer in sandbox');
    expect((await paid.now()).account).toBe('900 of 1000');
  });

  it('meets clearings and expiries without losing a cent', async () => {
    const all: BegunPayment[] = [];
    while (all.length < 6) all.push(await fixture.begin(SLOW));
    const confirmed = issuer({ state: 'confirmed' });
    await Promise.all(
      all.flatMap((paid) => [
        paid.clear(110),
        runWith(jobOf(paid.id), confirmed),
        paid.notify(EXPIRY, false),
      ]),
    );
    await app.advance(60_000);
    for (const paid of all) {
      const shown = ok(await app.call('GET', `/transactions/${paid.id}`), 200);
      expect(shown).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 110 } });
      expect((await paid.now()).account).toBe('890 of 890');
    }
  });
});
