// Calling back a pull on its way: the rail is asked, and what it says is brought in like any notice. A pull
// that has ended meanwhile, or a rail that cannot call back, leaves everything as it is.
import type { Ctx } from '../../runtime/context.ts';
import type { JobHandler } from '../../runtime/jobs.ts';
import {
  CANCEL_PULL,
  type ConnectorsOf,
  currentOf,
  loadOf,
  pullOf,
  refuseCancel,
} from '../transactions/index.ts';
import { cancelPull } from './pull.ts';

/** How long a callback waits for a pull that the rail has not answered yet. */
const WAIT_MS = 1_000;

export const cancelPullJob = (connectors: ConnectorsOf): JobHandler => ({
  kind: CANCEL_PULL,
  async run(runtime, job) {
    const { row, caller } = await loadOf(runtime, job);
    const { rail } = connectors(caller.environment);
    const now = runtime.world.now();
    const refuse = async (ctx: Ctx) => void refuseCancel(ctx, await currentOf(ctx, row.id));
    const over = row.status !== 'PENDING' && row.status !== 'PROCESSING';
    if (over || !rail?.cancel) return { caller, stage: refuse };
    if (row.status === 'PENDING') {
      // Its sending may be under way in another worker; a callback must come after it.
      const again = async (ctx: Ctx) =>
        ctx.later(CANCEL_PULL, { transactionId: row.id }, now + WAIT_MS);
      return { caller, stage: again };
    }
    const answer = await rail.cancel(await pullOf(runtime, row), now);
    return {
      caller,
      stage: async (ctx) => {
        const current = await currentOf(ctx, row.id);
        if (answer === 'cancelled') await cancelPull(ctx, current);
        if (answer === 'refused') refuseCancel(ctx, current);
      },
    };
  },
});
