// The job that builds the world `business`. The job runs once, and a failure is stored with its reason. The
// world can be built again after a reset.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault } from '../../../kernel/fault.ts';
import { sandboxClocks } from '../../../runtime/clocks/clock-table.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findCustomers } from '../../customers/records/index.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import type { ClockDeps } from '../clock/operations.ts';
import { type BusinessDeps, buildBusiness } from './build.ts';

const BUILD = defineJob(
  'fixtures.build',
  Type.Object({ platformId: Type.String(), from: Type.Number(), payments: Type.Integer() }),
);

const SPAN_MS = 60 * 86_400_000;
const DEADLINE_MS = 1_200_000;

/** Stages the build. Throws CONFLICT if the platform has customers or its own clock. */
export async function startBusiness(ctx: Ctx, payments: number): Promise<void> {
  const { platformId } = ctx.caller;
  const clock = await ctx.db.read(sandboxClocks, platformId);
  const [customer] = await findCustomers(ctx.db, { platform_id: platformId });
  if (clock || customer) {
    throw new Fault(
      'CONFLICT',
      'The platform has customers or its own clock. Reset the sandbox first.',
    );
  }
  ctx.later(BUILD, { platformId, from: ctx.now - SPAN_MS, payments });
}

export type BusinessJobDeps = BusinessDeps & ClockDeps;

export const businessJobs = (deps: BusinessJobDeps): JobHandler[] => [
  jobHandler(BUILD, {
    maxAttempts: 1,
    deadlineMs: DEADLINE_MS,
    async run(_runtime, { input }) {
      const { runtime, work } = deps.clockWork();
      const caller = systemCaller(input.platformId, 'sandbox');
      await buildBusiness(runtime, work, caller, deps, input);
      return { caller, stage: async () => undefined };
    },
  }),
];
