// What tests of the way back into a wallet do over and over: somebody who has another contact than codes go
// to, a recovery that begins, and a look at what became of it and at what was said about it.
import { expect } from 'vitest';
import { messages } from '../../../src/features/notifications/messages/store.ts';
import {
  type RecoveryType,
  startRecovery,
} from '../../../src/features/wallets/recovery/recovery-jobs.ts';
import {
  type RecoveryRow,
  type RecoveryStop,
  walletRecoveries,
} from '../../../src/features/wallets/store.ts';
import type { TestApp, TestPlatform } from '../app/harness.ts';
import { walletDesk } from './embedded-wallets.ts';
import { phoneNumber } from './one-time-codes.ts';

export const HOUR = 3_600_000;
export const DELAY = 48 * HOUR;

export const asking = (accountId: string, type: RecoveryType = 'SMS_OTP', delayMs = DELAY) => ({
  accountId,
  type,
  delayMs,
  actor: 'Ada',
  reason: 'lost the mailbox',
});

export type RecoveryDesk = ReturnType<typeof recoveryDesk>;

export function recoveryDesk(app: TestApp, as: TestPlatform = app.platform) {
  const desk = walletDesk(app, { as });

  /** Somebody with a telephone number that no codes go to yet. */
  const person = () => desk.customerWithWallet({ phoneNumber: phoneNumber() });

  const begin = (accountId: string, type?: RecoveryType, delayMs?: number, by = as) =>
    app.operate((ctx) => startRecovery(ctx, asking(accountId, type, delayMs)), by);

  const again = async ({ id }: RecoveryRow) =>
    (await app.runtime.db.read(walletRecoveries, id)) as RecoveryRow;

  const typesOf = async (accountId: string) =>
    (await desk.credentialsOf(accountId)).map(({ type }) => type);

  /** What announces recoveries, of one customer: channel and kind. */
  async function announced(customerId: string) {
    const rows = await app.runtime.db.find(messages, { customer_id: customerId });
    return rows
      .filter(({ kind }) => kind.startsWith('WALLET_RECOVERY'))
      .map(({ channel, kind }) => `${channel} ${kind.slice('WALLET_RECOVERY_'.length)}`)
      .sort();
  }

  const wait = (ms: number) => app.world.set(app.world.now() + ms);

  async function expectStopped(row: RecoveryRow, why: RecoveryStop) {
    expect(await again(row)).toMatchObject({
      status: 'CANCELLED',
      cancelled_for: why,
      cancelled_by: null,
      contact_digest: null,
      ended_at: app.world.now(),
    });
  }

  return { desk, person, begin, again, typesOf, announced, wait, expectStopped };
}
