// A bank that does what the account number says. It keeps no state: where an instruction stands follows
// from its timeline and the time since it was sent, so a restart or a second question changes nothing.
import { sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Time } from '../../../kernel/world.ts';
import type { Progress, RailInstruction, RailPort } from '../../ports/index.ts';
import { onChainOf } from './on-chain.ts';
import {
  QUOTE_OUTCOMES,
  REFUND_OUTCOMES,
  type Step,
  SUCCESS,
  type Timeline,
  TRANSFER_OUTCOMES,
} from './outcomes.ts';

/** Of a payer often no more is known than a text that their bank gave. */
function payerSuffix({ accountType, accountIdentifier }: RailInstruction['account']): string {
  return accountType === 'ORIGINATOR' ? String(accountIdentifier ?? '').slice(-3) : '';
}

function timelineOf({ kind, origin, account }: RailInstruction): Timeline {
  if (kind === 'refund') return REFUND_OUTCOMES[payerSuffix(account)] ?? SUCCESS;
  const quoted = kind === 'payout' && origin === 'quote';
  return (quoted ? QUOTE_OUTCOMES : TRANSFER_OUTCOMES)[sandboxSuffixOf(account)] ?? SUCCESS;
}

function progressOf(step: Step, reference: string, checkAfterMs: number | undefined): Progress {
  switch (step.state) {
    case 'accepted':
      return { state: 'accepted', reference, checkAfterMs: checkAfterMs ?? 0 };
    case 'settled':
      return { state: 'settled', reference, checkAfterMs };
    case 'cancelled':
      return { state: 'cancelled' };
    case 'failed':
      return { state: 'failed', reason: step.reason, refundable: step.refundable };
    case 'returned':
      return { state: 'returned', reason: step.reason };
    default:
      return assertNever(step, 'step of an outcome');
  }
}

/** Where what runs by this timeline stands `elapsedMs` after it began, and when to look again. */
export function progressOn(timeline: Timeline, reference: string, elapsedMs: number): Progress {
  const done = timeline.filter((step) => step.afterMs <= elapsedMs);
  const step = done.at(-1) ?? timeline[0];
  const next = timeline[done.length];
  return progressOf(step, reference, next && next.afterMs - elapsedMs);
}

/** Where the instruction stands `elapsedMs` after it was sent, and when to look again. */
export function progressAt(instruction: RailInstruction, elapsedMs: number): Progress {
  const progress = progressOn(timelineOf(instruction), instruction.id, elapsedMs);
  if (progress.state !== 'settled') return progress;
  const onChain = onChainOf(instruction);
  return onChain ? { ...progress, onChain } : progress;
}

export const sandboxRail: RailPort = {
  carries: () => true,
  pulls: (accountType, rail) => accountType === 'USD_ACCOUNT' && (rail === null || rail === 'ACH'),
  send: async (instruction) => progressAt(instruction, 0),
  check: async (instruction, now: Time) => progressAt(instruction, now - instruction.sentAt),
  // Obliging: whatever has not settled comes back.
  cancel: async (instruction, now: Time) =>
    progressAt(instruction, now - instruction.sentAt).state === 'accepted'
      ? 'cancelled'
      : 'refused',
};
