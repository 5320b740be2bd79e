// Jobs that carry one instruction over a rail: they submit it, or check its progress, and apply the answer.
// What differs between kinds of instructions is data.

import { Type } from '@sinclair/typebox';
import type { Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import { oneOf } from '../../../kernel/schema.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { PaymentInput } from '../refunds/index.ts';
import type { TransactionRow } from '../transactions/index.ts';
import { type As, type ConnectorsOf, currentOf, loadOf } from './payout-jobs.ts';

/** Whether the rail is told, or asked about what it was told. */
type Ask = 'send' | 'check';

export interface RailTransfer<R extends TransactionRow> {
  as: As<R>;
  instructionOf(runtime: Runtime, row: R): Promise<RailInstruction>;
  /** What the answer means for the transaction. */
  heed(ctx: Ctx, row: R, progress: Progress): Promise<void> | void;
  /** Whether there is still something to tell or to ask; a notice may have come before the job. */
  wanted(row: R, ask: Ask): boolean;
}

/** The input of a job that makes a movement. A job without `ask` sends, unless its handler only asks. */
export const RailTransferInput = Type.Object({
  ...PaymentInput.properties,
  ask: Type.Optional(oneOf(['send', 'check'])),
});

/** The job of a kind that makes a movement; whether it tells or asks is in its input unless said here. */
export function overRail<R extends TransactionRow>(
  connectors: ConnectorsOf,
  definition: JobDefinition<typeof RailTransferInput>,
  { as, instructionOf, heed, wanted }: RailTransfer<R>,
  always?: Ask,
): JobHandler {
  const run = async (runtime: Runtime, job: JobOf<typeof definition>): Promise<Result> => {
    const { row, caller } = await loadOf(runtime, job, as);
    const ask = always ?? job.input.ask ?? 'send';
    if (!wanted(row, ask)) return { caller, stage: async () => {} };
    const { rail } = connectors(caller.environment);
    if (!rail) throw new Error(`no rail is connected in ${caller.environment}`);
    const instruction = await instructionOf(runtime, row);
    const progress = await (ask === 'check'
      ? rail.check(instruction, runtime.effects.now())
      : rail.send(instruction));
    return {
      caller,
      stage: async (ctx) => heed(ctx, await currentOf(ctx, row.id, as), progress),
    };
  };
  return jobHandler(definition, { run });
}
