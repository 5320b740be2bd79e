// Applies deposits and deposit returns that a provider reports. Each bank reference is posted only once.

import type { Message } from '../../../connectors/ports/providers/protocol.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { providerReports, recordDeposit, recordDepositReturn } from '../manual/index.ts';
import { readTransaction } from '../transactions/index.ts';
import type { Outcome } from './transfers.ts';

type DepositReporter = Parameters<typeof providerReports.depositOf>[1];
type DepositMessage = Extract<Message, { type: 'deposit.received' }>;
type DepositReturnMessage = Extract<Message, { type: 'deposit.returned' }>;

/** The problem of a conflict. Any other error is thrown. */
function conflictOf(error: unknown): { problem: string } {
  if (error instanceof Fault && error.code === 'CONFLICT') return { problem: error.message };
  throw error;
}

/**
 * Another amount or target for a recorded bank reference is a contradiction. Throws ACCOUNT_NOT_FOUND,
 * REFERENCE_NOT_FOUND and INVALID_CURRENCY. The caller then stores the message for an operator, who
 * attributes the funds.
 */
export async function applyDepositMessage(
  runtime: Runtime,
  reportedBy: DepositReporter,
  message: DepositMessage,
): Promise<Outcome> {
  const { id: _, type: __, occurredAt: ___, ...entry } = message;
  const result = await recordDeposit(runtime, { ...entry, reportedBy }).catch(conflictOf);
  if ('problem' in result) return { result: 'CONTRADICTORY', ...result };
  const { transactionId, platformId, recorded } = result;
  const subject = { platformId, transactionId };
  if (recorded === 'now') return { result: 'APPLIED', ...subject };
  const isOwn = await providerReports.depositOf(runtime, reportedBy, entry);
  const problem = 'An operator already recorded this deposit. It was not posted again.';
  return { result: 'IGNORED', ...subject, ...(isOwn ? {} : { problem }) };
}

/** Throws NOT_FOUND if the deposit is not recorded. */
export async function applyDepositReturn(
  runtime: Runtime,
  reportedBy: DepositReporter,
  message: DepositReturnMessage,
): Promise<Outcome> {
  const { bankReference, currency, amount } = message;
  const deposit = await providerReports.depositOf(runtime, reportedBy, { currency, bankReference });
  if (!deposit) throw new Fault('NOT_FOUND', 'No deposit has this bank reference.');
  const subject = { platformId: deposit.platform_id, transactionId: deposit.transaction_id };
  if (deposit.amount !== BigInt(amount)) {
    const problem =
      `The message has ${amount} ${currency}, but the deposit has ${deposit.amount} ` +
      '(minor units).';
    return { result: 'CONTRADICTORY', ...subject, problem };
  }
  // Another message applied the return, or an operator recorded it.
  const isReversed = async () => {
    const row = await readTransaction(runtime.db, deposit.transaction_id);
    return row !== undefined && (await providerReports.reversalTimeOf(runtime, row)) !== undefined;
  };
  if (await isReversed()) return { result: 'IGNORED', ...subject };
  try {
    await recordDepositReturn(runtime, { transactionId: deposit.transaction_id });
    return { result: 'APPLIED', ...subject };
  } catch (error) {
    const conflict = conflictOf(error);
    if (await isReversed()) return { result: 'IGNORED', ...subject };
    return { result: 'CONTRADICTORY', ...subject, ...conflict };
  }
}
