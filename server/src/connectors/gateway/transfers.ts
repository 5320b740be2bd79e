// The rail of a provider: sends transfers, requests their states, and requests cancellations and
// recalls.

import type { Static } from '@sinclair/typebox';
import { isRail } from '../../catalog/rails/rails.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { iso } from '../../kernel/effects.ts';
import type { FailureReason, Progress, RailInstruction, RecallProgress } from '../ports/index.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import { CancelResult, type Transfer, TransferState } from '../ports/providers/protocol.ts';
import { RecallState } from '../ports/providers/recalls.ts';
import { NOT_FOUND, type ProviderClient } from './client.ts';

/** Default interval of state requests. Messages of the provider usually arrive earlier. */
const CHECK_AFTER_S = 900;
/** Interval after a 404 about a transfer that was sent. */
const UNKNOWN_AFTER_S = 60;
/** Default interval of requests for the state of a recall. Banks decide within days. */
const RECALL_AFTER_S = 86_400;

const FAILURES: Record<Extract<TransferState, { state: 'failed' }>['reason'], FailureReason> = {
  ACCOUNT_INVALID: 'ACCOUNT_INVALID',
  ACCOUNT_CANNOT_RECEIVE: 'ACCOUNT_CANNOT_RECEIVE',
  LIMIT_EXCEEDED: 'LIMIT_EXCEEDED',
  COMPLIANCE_REJECTED: 'COMPLIANCE_REJECTED',
  PROVIDER_REJECTED: 'QUOTE_EXECUTION_FAILED',
};

/** Converts a reported state to the progress of an instruction. */
export function progressOf(reportedState: TransferState): Progress {
  const checkAfterMs = (checkAfterSeconds: number | undefined) =>
    (checkAfterSeconds ?? CHECK_AFTER_S) * 1_000;
  switch (reportedState.state) {
    case 'accepted': {
      const { reference, checkAfterSeconds } = reportedState;
      const knownReference = reference === undefined ? {} : { reference };
      return {
        state: 'accepted',
        ...knownReference,
        checkAfterMs: checkAfterMs(checkAfterSeconds),
      };
    }
    case 'unknown':
      return { state: 'unknown', checkAfterMs: checkAfterMs(reportedState.checkAfterSeconds) };
    case 'settled':
      return { state: 'settled', reference: reportedState.reference };
    case 'failed':
    case 'returned':
      return { state: reportedState.state, reason: FAILURES[reportedState.reason] };
    case 'canceled':
      return { state: 'cancelled' };
    default:
      return assertNever(reportedState, 'state of a transfer');
  }
}

/** Converts a reported state of a recall to its progress. */
export function recallProgressOf(reportedState: RecallState): RecallProgress {
  if (reportedState.state === 'accepted') return { state: 'accepted' };
  if (reportedState.state === 'rejected')
    return { state: 'rejected', reason: reportedState.reason };
  const { checkAfterSeconds = RECALL_AFTER_S } = reportedState;
  return { state: 'requested', checkAfterMs: checkAfterSeconds * 1_000 };
}

const transferOf = (instruction: RailInstruction): Static<typeof Transfer> => {
  const { rail, remittanceInformation, purposeOfPayment, beneficiaryName } = instruction;
  return {
    transferId: instruction.id,
    kind: instruction.kind,
    ...(rail !== null && isRail(rail) ? { rail } : {}),
    amount: Number(instruction.amount),
    currency: instruction.currency,
    account: instruction.account,
    reference: instruction.reference,
    ...(beneficiaryName === undefined ? {} : { beneficiaryName }),
    ...(remittanceInformation === undefined ? {} : { remittanceInformation }),
    ...(purposeOfPayment === undefined ? {} : { purposeOfPayment }),
    firstSentAt: iso(instruction.sentAt),
  };
};

export function transferCalls(client: ProviderClient): ProviderPort['transfers'] {
  return {
    async send(instruction) {
      return progressOf(
        await client.call('/transfers/send', transferOf(instruction), TransferState),
      );
    },
    async check({ id }) {
      const state = await client.callOrNotFound(
        '/transfers/state',
        { transferId: id },
        TransferState,
      );
      if (state === NOT_FOUND) return { state: 'unknown', checkAfterMs: UNKNOWN_AFTER_S * 1_000 };
      return progressOf(state);
    },
    async cancel({ id }) {
      const reply = await client.callOrNotFound(
        '/transfers/cancel',
        { transferId: id },
        CancelResult,
      );
      if (reply === NOT_FOUND) return 'rejected';
      return reply.result === 'canceled' ? 'cancelled' : reply.result;
    },
    async recall({ id: transferId, amount, currency }, cause) {
      const body = { transferId, amount: Number(amount), currency, cause };
      return recallProgressOf(await client.call('/transfers/recall', body, RecallState));
    },
  };
}
