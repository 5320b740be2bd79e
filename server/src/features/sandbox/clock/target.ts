// Target of a change of a clock: an instant, or a duration after its current time.
import { type Duration, readDuration, timeAfter } from '../../../kernel/duration.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import type { FieldError } from '../../../kernel/fault.ts';

export interface ClockChange {
  advance?: string;
  to?: string;
  freeze?: boolean;
}

const MAX_ADVANCE: Duration = { months: 24, ms: 0 };

/** Errors of a change that do not depend on the clock. */
export function changeErrors(body: unknown): FieldError[] {
  if (typeof body !== 'object' || body === null) return [];
  const { advance, to, freeze } = body as Record<string, unknown>;
  const errors: FieldError[] = [];
  if (advance === undefined && to === undefined && freeze === undefined) {
    const message = 'At least one of advance, to and freeze is required.';
    errors.push({ field: '', message });
  }
  if (typeof advance === 'string' && !readDuration(advance)) {
    errors.push({ field: 'advance', message: 'must be an ISO 8601 duration, such as P2D or PT6M' });
  }
  if (advance !== undefined && to !== undefined) {
    errors.push({ field: 'to', message: 'must not be combined with advance' });
  }
  return errors;
}

/** The target of a change of a clock that shows `now`, or the reason why it is invalid. */
export function targetOf({ advance, to }: ClockChange, now: Time): Time | FieldError {
  const latestTime = timeAfter(now, MAX_ADVANCE);
  const field = to === undefined ? 'advance' : 'to';
  const duration = advance === undefined ? undefined : readDuration(advance);
  const target =
    to === undefined ? timeAfter(now, duration ?? { months: 0, ms: 0 }) : Date.parse(to);
  if (target < now)
    return { field, message: `must not be before the time of the clock, ${iso(now)}` };
  if (target <= latestTime) return target;
  return { field, message: `must be at most two years after the time of the clock, ${iso(now)}` };
}
