// The scripted bank: the result of each account number and its time.
import { describe, expect, it } from 'vitest';
import type { Progress, RailInstruction } from '../../ports/index.ts';
import { progressAt, sandboxRail } from './rail.ts';

const SENT_AT = Date.UTC(2026, 0, 5);

const instruction = (
  suffix: string,
  origin: 'quote' | 'transfer',
  account: Record<string, unknown> = {},
): RailInstruction => ({
  id: 'Transaction:1',
  platformId: 'PlatformConfig:1',
  kind: 'payout',
  origin,
  rail: 'ACH',
  reference: 'RH0123456789ABCDEF',
  currency: 'USD',
  amount: 100n,
  account: { accountType: 'USD_ACCOUNT', accountNumber: `123456${suffix}`, ...account },
  sentAt: SENT_AT,
});

/** Every result that polling returns, with its time in milliseconds. */
async function timelineOf(instruction: RailInstruction): Promise<string[]> {
  const timeline: string[] = [];
  let elapsedMs = 0;
  let progress: Progress = await sandboxRail.send(instruction);
  for (;;) {
    const reason = 'reason' in progress ? ` ${progress.reason}` : '';
    const refundNote =
      'refundable' in progress && progress.refundable === false ? ' not refundable' : '';
    timeline.push(`${elapsedMs} ${progress.state}${reason}${refundNote}`);
    const checkAfterMs = 'checkAfterMs' in progress ? progress.checkAfterMs : undefined;
    if (checkAfterMs === undefined) return timeline;
    elapsedMs += checkAfterMs;
    progress = await sandboxRail.check(instruction, SENT_AT + elapsedMs);
  }
}

const SETTLED_IMMEDIATELY = ['0 settled'];

describe('a payout of a quote', () => {
  it.each<[string, string[]]>([
    ['000', SETTLED_IMMEDIATELY],
    ['001', SETTLED_IMMEDIATELY],
    ['002', ['0 failed QUOTE_EXECUTION_FAILED']],
    ['003', ['0 accepted', '360000 settled']],
    ['004', ['0 accepted', '2000 failed COUNTERPARTY_POST_TX_FAILED']],
    ['005', ['0 settled', '10000 returned PAYOUT_RETURNED']],
    ['006', ['0 accepted', '2000 cancelled']],
    ['007', ['0 accepted', '2000 failed COUNTERPARTY_POST_TX_FAILED not refundable']],
    ['008', ['0 settled', '172800000 returned PAYOUT_RETURNED']],
    ['102', SETTLED_IMMEDIATELY],
  ])('has the timeline of the suffix %s', async (suffix, expectedTimeline) => {
    expect(await timelineOf(instruction(suffix, 'quote'))).toEqual(expectedTimeline);
  });
});

describe('a transfer', () => {
  it.each<[string, string[]]>([
    ['000', SETTLED_IMMEDIATELY],
    ['002', ['0 failed QUOTE_EXECUTION_FAILED']],
    ['003', ['0 failed ACCOUNT_INVALID']],
    ['004', ['0 failed ACCOUNT_CANNOT_RECEIVE']],
    ['005', ['0 accepted', '30000 failed PAYOUT_RETURNED']],
    ['006', SETTLED_IMMEDIATELY],
    ['007', SETTLED_IMMEDIATELY],
  ])('has the timeline of the suffix %s', async (suffix, expectedTimeline) => {
    expect(await timelineOf(instruction(suffix, 'transfer'))).toEqual(expectedTimeline);
  });
});

describe('the scripted bank', () => {
  it('depends only on the elapsed time', () => {
    const delayedInstruction = instruction('003', 'quote');
    expect(progressAt(delayedInstruction, 359_999)).toMatchObject({
      state: 'accepted',
      checkAfterMs: 1,
    });
    expect(progressAt(delayedInstruction, 360_000)).toEqual({
      state: 'settled',
      reference: delayedInstruction.id,
    });
    expect(progressAt(delayedInstruction, 1e9)).toEqual(progressAt(delayedInstruction, 360_000));
    const returnedInstruction = instruction('005', 'quote');
    expect(progressAt(returnedInstruction, 9_999)).toMatchObject({
      state: 'settled',
      checkAfterMs: 1,
    });
    expect(progressAt(returnedInstruction, 10_000)).toMatchObject({ state: 'returned' });
  });

  it('reads the suffix of the identifier of the account', () => {
    const outcome = (account: Record<string, unknown>) =>
      progressAt(instruction('000', 'quote', account), 0).state;
    expect(outcome({ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013002' })).toBe('failed');
    expect(outcome({ accountType: 'MXN_ACCOUNT', clabeNumber: '032180000118359002' })).toBe(
      'failed',
    );
    expect(outcome({ accountType: 'INR_ACCOUNT', vpa: 'name.002@upi' })).toBe('failed');
    expect(outcome({ accountType: 'INR_ACCOUNT', vpa: 'name@bank002' })).toBe('settled');
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Be002';
    expect(outcome({ accountType: 'ETHEREUM_WALLET', address })).toBe('failed');
  });
});

describe('a debit', () => {
  it.each<[string, string[]]>([
    ['000', SETTLED_IMMEDIATELY],
    ['002', ['0 failed QUOTE_EXECUTION_FAILED']],
    ['003', ['0 failed ACCOUNT_INVALID']],
    ['004', ['0 failed ACCOUNT_CANNOT_RECEIVE']],
    ['005', ['0 accepted', '30000 failed PAYOUT_RETURNED']],
    ['006', SETTLED_IMMEDIATELY],
    ['007', SETTLED_IMMEDIATELY],
  ])(
    'has the same timeline for a quote and a transfer with the suffix %s',
    async (suffix, expectedTimeline) => {
      const debit = { kind: 'debit' } as const;
      expect(await timelineOf({ ...instruction(suffix, 'transfer'), ...debit })).toEqual(
        expectedTimeline,
      );
      expect(await timelineOf({ ...instruction(suffix, 'quote'), ...debit })).toEqual(
        expectedTimeline,
      );
    },
  );

  it('is supported for US bank accounts by ACH only', () => {
    expect(sandboxRail.supportsDebit?.('USD_ACCOUNT', 'ACH')).toBe(true);
    expect(sandboxRail.supportsDebit?.('USD_ACCOUNT', 'WIRE')).toBe(false);
    expect(sandboxRail.supportsDebit?.('EUR_ACCOUNT', 'SEPA')).toBe(false);
  });
});

describe('a refund', () => {
  it.each<[string, string[]]>([
    ['000', SETTLED_IMMEDIATELY],
    ['003', ['0 accepted', '360000 settled']],
    ['007', ['0 accepted', '2000 failed ACCOUNT_CANNOT_RECEIVE']],
  ])('to a payer with the suffix %s has its timeline', async (suffix, expectedTimeline) => {
    const payer = { accountType: 'ORIGINATOR', accountIdentifier: `DE${suffix}` };
    const refund = { ...instruction('', 'quote'), kind: 'refund', account: payer } as const;
    expect(await timelineOf(refund)).toEqual(expectedTimeline);
  });

  it('settles for an unknown payer, and for an account that was debited', async () => {
    const unknownPayer = { ...instruction('', 'quote'), account: { accountType: 'ORIGINATOR' } };
    expect(await timelineOf({ ...unknownPayer, kind: 'refund' })).toEqual(SETTLED_IMMEDIATELY);
    expect(await timelineOf({ ...instruction('007', 'quote'), kind: 'refund' })).toEqual(
      SETTLED_IMMEDIATELY,
    );
  });
});
