// Reset of a sandbox platform, and fixtures that fill it. Rows are removed and steps run in
// separate change sets. The change set of the request contains the idempotency record, the reset of
// configuration and tokens, and the job that builds the world `business`.
import { setTimeout as sleep } from 'node:timers/promises';
import { FRESH_MS } from '../../../runtime/clocks/clocks.ts';
import type { RemovedCounts } from '../../../runtime/committer/reset.ts';
import { dropFiles } from '../../../runtime/files/files.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { resetConfig } from '../../tenancy/config/index.ts';
import { type Authenticator, removeOtherTokens } from '../../tenancy/tokens/index.ts';
import { startBusiness } from '../business/job.ts';
import { createSandboxFixtures, resetSandbox } from './contract.ts';
import { buildWorld, type WorldDeps } from './fixtures.ts';
import type { Step } from './step.ts';
import { BUSINESS, DEFAULT_PAYMENTS, stepsOf } from './worlds.ts';

export interface SandboxWorldDeps extends WorldDeps {
  runtime(): Runtime;
  tokens: Pick<Authenticator, 'drop'>;
  /** Removes the rows of a platform (`platformReset`). */
  removePlatformRows(platformId: string): Promise<RemovedCounts>;
}

const totalOf = (removed: RemovedCounts) =>
  Object.values(removed).reduce((sum, count) => sum + count, 0);

export const sandboxWorldOperations = (deps: SandboxWorldDeps) => [
  handle(resetSandbox, async (ctx, { body }) => {
    const { including = [] } = body;
    await dropFiles(deps.runtime(), ctx.caller);
    const removedCounts = await deps.removePlatformRows(ctx.caller.platformId);
    if (removedCounts.sandbox_clocks) {
      deps.runtime().clocks.clear(ctx.caller.platformId);
      // After this time no process uses the removed clock.
      await sleep(FRESH_MS);
    }
    if (including.includes('CONFIGURATION')) await resetConfig(ctx);
    if (including.includes('TOKENS')) await removeOtherTokens(ctx, deps.tokens);
    const { customers = 0, transactions = 0, events = 0 } = removedCounts;
    const counts = { customers, transactions, events, rows: totalOf(removedCounts) };
    return { status: 200, body: { removed: counts } };
  }),

  handle(createSandboxFixtures, async (ctx, { body }) => {
    const { world, seed } = body;
    if (world === BUSINESS) {
      await startBusiness(ctx, body.payments ?? DEFAULT_PAYMENTS);
      const reply = { steps: 0, resources: {} };
      return { status: 201, body: reply, replayBody: reply };
    }
    const worldSteps: readonly Step[] = world === undefined ? [] : stepsOf(world);
    const steps = [...worldSteps, ...(body.steps ?? [])];
    const result = await buildWorld(deps.runtime(), ctx.caller, deps, { steps, seed });
    const { resources, replayResources } = result;
    const count = steps.length;
    return {
      status: 201,
      body: { steps: count, resources },
      replayBody: { steps: count, resources: replayResources },
    };
  }),
];
