// Fixture for account recovery: a customer with a contact that receives no codes, the start of a
// recovery, and its status and notices.
import { expect } from 'vitest';
import { messages } from '../../../src/features/notifications/messages/store.ts';
import {
  type RecoveryType,
  startRecovery,
} from '../../../src/features/wallets/recovery/recovery-jobs.ts';
import {
  type RecoveryCancelReason,
  type RecoveryRow,
  walletRecoveries,
} from '../../../src/features/wallets/store.ts';
import type { TestApp, TestPlatform } from '../app/harness.ts';
import { walletFixture } from './embedded-wallets.ts';
import { newPhoneNumber } from './one-time-codes.ts';

export const HOUR = 3_600_000;
export const DELAY = 48 * HOUR;

export const recoveryInput = (
  accountId: string,
  type: RecoveryType = 'SMS_OTP',
  delayMs = DELAY,
) => ({
  accountId,
  type,
  delayMs,
  actor: 'Ada',
  reason: 'lost the mailbox',
});

export type RecoveryFixture = ReturnType<typeof recoveryFixture>;

export function recoveryFixture(app: TestApp, platform: TestPlatform = app.platform) {
  const fixture = walletFixture(app, { platform });

  /** A customer with a phone number that receives no codes yet. */
  const createPhoneCustomer = () => fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });

  const start = (accountId: string, type?: RecoveryType, delayMs?: number, owner = platform) =>
    app.operate((ctx) => startRecovery(ctx, recoveryInput(accountId, type, delayMs)), owner);

  const reload = async ({ id }: RecoveryRow) =>
    (await app.runtime.db.read(walletRecoveries, id)) as RecoveryRow;

  const typesOf = async (accountId: string) =>
    (await fixture.credentialsOf(accountId)).map(({ type }) => type);

  /** Recovery notices of a customer: channel and kind. */
  async function messageKinds(customerId: string) {
    const rows = await app.runtime.db.find(messages, { customer_id: customerId });
    return rows
      .filter(({ kind }) => kind.startsWith('WALLET_RECOVERY'))
      .map(({ channel, kind }) => `${channel} ${kind.slice('WALLET_RECOVERY_'.length)}`)
      .sort();
  }

  const advance = (ms: number) => app.effects.set(app.effects.now() + ms);

  async function expectCancelled(row: RecoveryRow, reason: RecoveryCancelReason) {
    expect(await reload(row)).toMatchObject({
      status: 'CANCELLED',
      cancelled_for: reason,
      cancelled_by: null,
      contact_digest: null,
      ended_at: app.effects.now(),
    });
  }

  return {
    fixture,
    createPhoneCustomer,
    start,
    reload,
    typesOf,
    messageKinds,
    advance,
    expectCancelled,
  };
}
