// Calling back a pull on its way: the rail is asked, and what it says is brought in like any notice. A pull
// that has ended or arrived meanwhile, or a rail that cannot call back, leaves everything as it is.

import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { CANCEL_PULL, refuseCancel } from '../lifecycle/index.ts';
import { type ConnectorsOf, currentOf, loadOf, postpone, pullOf } from '../payouts/index.ts';
import { asIncoming, type IncomingRow } from '../transactions/index.ts';
import { cancelPull } from './pull.ts';

/** Whether the rail has yet to say that it took it. */
const isUnsent = ({ status, funds }: IncomingRow) => status === 'PENDING' && funds === 'AWAITED';

const isOnItsWay = ({ status, funds, pending_reason }: IncomingRow) =>
  status === 'PROCESSING' && (funds === 'AWAITED' || funds === 'HELD') && pending_reason === null;

export const cancelPullJob = (connectors: ConnectorsOf): JobHandler =>
  jobHandler(CANCEL_PULL, {
    async run(runtime, job) {
      const { row, caller } = await loadOf(runtime, job, asIncoming);
      const { rail } = connectors(caller.environment);
      const now = runtime.world.now();
      const refuse = async (ctx: Ctx) =>
        void refuseCancel(ctx, await currentOf(ctx, row.id, asIncoming));
      if (!rail?.cancel || !(isUnsent(row) || isOnItsWay(row))) return { caller, stage: refuse };
      if (isUnsent(row)) {
        // Its sending may be under way in another worker; a callback must come after it.
        return { caller, stage: async (ctx) => postpone(ctx, CANCEL_PULL, job) };
      }
      const answer = await rail.cancel(await pullOf(runtime, row), now);
      return {
        caller,
        stage: async (ctx) => {
          const current = await currentOf(ctx, row.id, asIncoming);
          if (answer === 'cancelled') await cancelPull(ctx, current);
          if (answer === 'refused') refuseCancel(ctx, current);
        },
      };
    },
  });
