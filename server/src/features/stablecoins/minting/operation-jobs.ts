// The jobs that follow a mint or burn: hand it to the provider, then ask until it is over. The operation's
// id is the order's, so one that is handed over again after a crash is the same order there. That it is
// about to be handed over is committed first: what never was may fail at once when the provider turns out
// to know the platform no more, and what may have been waits, hidden from nobody, until the platform is
// linked again.

import type { OrderProgress, Unlinked } from '../../../connectors/ports/stablecoins.ts';
import type { Caller } from '../../../kernel/caller.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { linkOf, unlink } from '../coins/provider-accounts.ts';
import { mintOf, type StablecoinParts } from '../parts.ts';
import {
  mintsAndBurns,
  type ProviderAccountRow,
  providerAccounts,
  type StablecoinOperationRow,
} from '../store.ts';
import { orderOfRow } from './order.ts';
import { CHECK, failUnordered, heed, isOver, OperationInput } from './progress.ts';

/** Hands an order to its provider. */
export const SUBMIT = defineJob('stablecoins.submit', OperationInput);

/** How often we look whether an account that the provider took no more was linked again. */
const RELINK_MS = 600_000;

type OperationDefinition = typeof SUBMIT;
type OperationJob = JobOf<OperationDefinition>;

interface Loaded {
  row: StablecoinOperationRow;
  account: ProviderAccountRow;
  caller: Caller;
}

async function loadOf({ db }: Runtime, job: OperationJob): Promise<Loaded> {
  const row = await db.read(mintsAndBurns, job.input.operationId);
  const account = row && (await db.read(providerAccounts, row.provider_account));
  if (!row || !account) throw new Error(`job ${job.id} names no mint or burn`);
  return { row, account, caller: await callerOf(db, row.platform_id) };
}

async function currentOf(ctx: Ctx, id: string): Promise<StablecoinOperationRow> {
  const row = await ctx.read(mintsAndBurns, id);
  if (!row) throw new Error(`${id} is gone`);
  return row;
}

/**
 * Commits that it is about to be handed over, for the first time or again. Not at all where another run of
 * the job has been ahead: what that one ended must not be ordered any more.
 */
const begin = (
  runtime: Runtime,
  { row, caller }: Loaded,
): Promise<'first' | 'again' | 'too late'> =>
  operate(runtime, caller, async (ctx) => {
    const current = await currentOf(ctx, row.id);
    if (current.status !== 'CREATED') return 'too late';
    if (current.submitted_at !== null) return 'again';
    ctx.update(mintsAndBurns, current, { submitted_at: ctx.now });
    return 'first';
  });

/** What it means for an operation that the provider does not know the platform any more. */
async function strand(
  ctx: Ctx,
  row: StablecoinOperationRow,
  as: Unlinked['as'],
  unordered: boolean,
): Promise<void> {
  if (isOver(row)) return;
  if (unordered) return void (await failUnordered(ctx, row, `PROVIDER_ACCOUNT_${as}`));
  const job = row.status === 'CREATED' ? SUBMIT : CHECK;
  ctx.later(job, { operationId: row.id }, ctx.now + RELINK_MS);
}

export function operationJobs(parts: StablecoinParts): JobHandler[] {
  async function ask(
    runtime: Runtime,
    { row, account, caller }: Loaded,
    definition: OperationDefinition,
  ): Promise<OrderProgress | Unlinked> {
    const port = mintOf({ caller }, parts);
    const order = await orderOfRow(runtime.db, row, row.stablecoin_id);
    const link = linkOf(runtime, account);
    return definition === SUBMIT
      ? port.submit(link, order)
      : port.check(link, order, runtime.effects.now());
  }

  const follow =
    (definition: OperationDefinition) =>
    async (runtime: Runtime, job: OperationJob): Promise<Result> => {
      const loaded = await loadOf(runtime, job);
      const { row, account, caller } = loaded;
      const staging = (
        stage: (ctx: Ctx, current: StablecoinOperationRow) => Promise<void> | void,
      ) => ({
        caller,
        stage: async (ctx: Ctx) => stage(ctx, await currentOf(ctx, row.id)),
      });
      const needless = definition === SUBMIT ? row.status !== 'CREATED' : isOver(row);
      const nothing = staging(() => {});
      if (needless) return nothing;
      if (account.status !== 'ACTIVE') {
        const as = account.status;
        return staging((ctx, current) => strand(ctx, current, as, current.submitted_at === null));
      }
      const begun = definition === SUBMIT ? await begin(runtime, loaded) : 'again';
      if (begun === 'too late') return nothing;
      const asked = runtime.effects.now();
      const answer = await ask(runtime, loaded, definition);
      if (answer.state !== 'unlinked') {
        return staging((ctx, current) => heed(ctx, current, answer, asked));
      }
      return staging(async (ctx, current) => {
        const known = await ctx.read(providerAccounts, account.id);
        // It was linked anew while the provider answered about the link before.
        const isAnew = known?.version !== account.version && known?.status === 'ACTIVE';
        if (isAnew)
          return void (isOver(current) || ctx.later(definition, { operationId: current.id }));
        if (known?.version === account.version) unlink(ctx, known, answer.as);
        await strand(ctx, current, answer.as, begun === 'first');
      });
    };

  return [
    jobHandler(SUBMIT, { maxAttempts: OUTAGE_ATTEMPTS, run: follow(SUBMIT) }),
    jobHandler(CHECK, { maxAttempts: OUTAGE_ATTEMPTS, run: follow(CHECK) }),
  ];
}
