// Jobs that submit one instruction to a rail or check its status, and apply the result. A
// `RailTransfer` defines one kind of transfer.

import { Type } from '@sinclair/typebox';
import type { Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import { oneOf } from '../../../kernel/schema.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
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
import { type ConnectorsOf, loadPayment, type Narrow, readCurrent } from './payout-jobs.ts';

type RailAction = 'send' | 'check';

export interface RailTransfer<R extends TransactionRow> {
  narrow: Narrow<R>;
  instructionOf(runtime: Runtime, row: R): Promise<RailInstruction>;
  apply(ctx: Ctx, row: R, progress: Progress): Promise<void> | void;
  /** Whether the action is still needed. A result may have been recorded before the job runs. */
  isDue(row: R, action: RailAction): boolean;
}

/** A job without `request` sends the instruction, unless its handler only checks the status. */
export const RailTransferInput = Type.Object({
  ...PaymentInput.properties,
  request: Type.Optional(oneOf(['send', 'check'])),
});

/** A job handler for one kind of transfer. `fixedAction` overrides the action in the input of the job. */
export function createRailJobHandler<R extends TransactionRow>(
  connectors: ConnectorsOf,
  definition: JobDefinition<typeof RailTransferInput>,
  { narrow, instructionOf, apply, isDue }: RailTransfer<R>,
  fixedAction?: RailAction,
): JobHandler {
  const run = async (runtime: Runtime, job: JobOf<typeof definition>): Promise<Result> => {
    const { row, caller } = await loadPayment(runtime, job, narrow);
    const action = fixedAction ?? job.input.request ?? 'send';
    if (!isDue(row, action)) return { caller, stage: async () => {} };
    const { rail } = connectors(caller.environment);
    if (!rail) throw new Error(`no rail is connected in ${caller.environment}`);
    const instruction = await instructionOf(runtime, row);
    const progress = await (action === 'check'
      ? rail.check(instruction, await runtime.clocks.nowOf(caller))
      : rail.send(instruction));
    return {
      caller,
      stage: async (ctx) => apply(ctx, await readCurrent(ctx, row.id, narrow), progress),
    };
  };
  return jobHandler(definition, { maxAttempts: OUTAGE_ATTEMPTS, run });
}
