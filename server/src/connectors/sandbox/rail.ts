// A bank that does what the account number says. It keeps no state: where an instruction stands follows
// from its timeline and the time since it was sent, so a restart or a second question changes nothing.
import { sandboxSuffixOf } from '../../catalog/account-info.ts';
import type { Time } from '../../kernel/world.ts';
import type { Progress, RailInstruction, RailPort } from '../ports.ts';
import {
  QUOTE_OUTCOMES,
  type Step,
  SUCCESS,
  type Timeline,
  TRANSFER_OUTCOMES,
} from './outcomes.ts';

function timelineOf(instruction: RailInstruction): Timeline {
  const outcomes = instruction.origin === 'quote' ? QUOTE_OUTCOMES : TRANSFER_OUTCOMES;
  return outcomes[sandboxSuffixOf(instruction.account)] ?? SUCCESS;
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
  }
}

/** Where the instruction stands `elapsedMs` after it was sent, and when to look again. */
export function progressAt(instruction: RailInstruction, elapsedMs: number): Progress {
  const timeline = timelineOf(instruction);
  const done = timeline.filter((step) => step.afterMs <= elapsedMs);
  const step = done.at(-1) ?? timeline[0];
  const next = timeline[done.length];
  return progressOf(step, instruction.id, next && next.afterMs - elapsedMs);
}

export const sandboxRail: RailPort = {
  carries: () => true,
  send: async (instruction) => progressAt(instruction, 0),
  check: async (instruction, now: Time) => progressAt(instruction, now - instruction.sentAt),
};
