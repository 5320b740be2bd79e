// Jobs of a mint or burn: submission to the provider, then polls of its status. The intent to
// submit is committed first, and the operation ID is the order ID, so a repeated submission is
// idempotent. If the provider rejects the account before or at the first submission, the order
// fails. Any other order waits until the account is linked again.

import type { OrderProgress, UnlinkedResult } from '../../../connectors/ports/stablecoins.ts';
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
import { mintOf, type StablecoinDeps } from '../deps.ts';
import {
  mintsAndBurns,
  type ProviderAccountRow,
  providerAccounts,
  type StablecoinOperationRow,
} from '../store.ts';
import { orderOfRow } from './order.ts';
import {
  applyProgress,
  CHECK,
  failUnsubmitted,
  isFinalStatus,
  OperationInput,
} from './progress.ts';

/** Submits an order to its provider. */
export const SUBMIT = defineJob('stablecoins.submit', OperationInput);

/** Interval of checks whether a rejected account was linked again. */
const RELINK_MS = 600_000;

type OperationDefinition = typeof SUBMIT;
type OperationJob = JobOf<OperationDefinition>;

interface LoadedOperation {
  row: StablecoinOperationRow;
  account: ProviderAccountRow;
  caller: Caller;
}

async function loadOperation({ db }: Runtime, job: OperationJob): Promise<LoadedOperation> {
  const row = await db.read(mintsAndBurns, job.input.operationId);
  const account = row && (await db.read(providerAccounts, row.provider_account));
  if (!row || !account) throw new Error(`job ${job.id} refers to no mint or burn`);
  return { row, account, caller: await callerOf(db, row.platform_id) };
}

async function readCurrentRow(ctx: Ctx, id: string): Promise<StablecoinOperationRow> {
  const row = await ctx.read(mintsAndBurns, id);
  if (!row) throw new Error(`${id} was not found`);
  return row;
}

/**
 * Commits the intent to submit. `again`: the intent was committed before. `final`: the operation is
 * no longer CREATED.
 */
const begin = (
  runtime: Runtime,
  { row, caller }: LoadedOperation,
): Promise<'first' | 'again' | 'final'> =>
  operate(runtime, caller, async (ctx) => {
    const currentRow = await readCurrentRow(ctx, row.id);
    if (currentRow.status !== 'CREATED') return 'final';
    if (currentRow.submitted_at !== null) return 'again';
    ctx.update(mintsAndBurns, currentRow, { submitted_at: ctx.now });
    return 'first';
  });

/**
 * Fails an unsubmitted operation of a rejected account. Schedules a retry of any other operation.
 */
async function handleUnlinked(
  ctx: Ctx,
  row: StablecoinOperationRow,
  linkStatus: UnlinkedResult['reason'],
  isUnsubmitted: boolean,
): Promise<void> {
  if (isFinalStatus(row)) return;
  if (isUnsubmitted)
    return void (await failUnsubmitted(ctx, row, `PROVIDER_ACCOUNT_${linkStatus}`));
  const job = row.status === 'CREATED' ? SUBMIT : CHECK;
  ctx.later(job, { operationId: row.id }, ctx.now + RELINK_MS);
}

export function operationJobs(deps: StablecoinDeps): JobHandler[] {
  async function call(
    runtime: Runtime,
    { row, account, caller }: LoadedOperation,
    definition: OperationDefinition,
  ): Promise<OrderProgress | UnlinkedResult> {
    const port = mintOf({ caller }, deps);
    const order = await orderOfRow(runtime.db, row, row.stablecoin_id);
    const link = linkOf(runtime, account);
    return definition === SUBMIT
      ? port.submit(link, order)
      : port.check(link, order, await runtime.clocks.nowOf(caller));
  }

  const run =
    (definition: OperationDefinition) =>
    async (runtime: Runtime, job: OperationJob): Promise<Result> => {
      const loadedOperation = await loadOperation(runtime, job);
      const { row, account, caller } = loadedOperation;
      const createResult = (
        stage: (ctx: Ctx, currentRow: StablecoinOperationRow) => Promise<void> | void,
      ) => ({
        caller,
        stage: async (ctx: Ctx) => stage(ctx, await readCurrentRow(ctx, row.id)),
      });
      const isNeedless = definition === SUBMIT ? row.status !== 'CREATED' : isFinalStatus(row);
      const noChange = createResult(() => {});
      if (isNeedless) return noChange;
      if (account.status !== 'ACTIVE') {
        const linkStatus = account.status;
        return createResult((ctx, currentRow) =>
          handleUnlinked(ctx, currentRow, linkStatus, currentRow.submitted_at === null),
        );
      }
      const startOutcome = definition === SUBMIT ? await begin(runtime, loadedOperation) : 'again';
      if (startOutcome === 'final') return noChange;
      const calledAt = await runtime.clocks.nowOf(caller);
      const response = await call(runtime, loadedOperation, definition);
      if (response.state !== 'unlinked') {
        return createResult((ctx, currentRow) =>
          applyProgress(ctx, currentRow, response, calledAt),
        );
      }
      return createResult(async (ctx, currentRow) => {
        const linkedProviderAccount = await ctx.read(providerAccounts, account.id);
        // The account was linked again during the call with the previous link.
        const isRelinked =
          linkedProviderAccount?.version !== account.version &&
          linkedProviderAccount?.status === 'ACTIVE';
        if (isRelinked)
          return void (
            isFinalStatus(currentRow) || ctx.later(definition, { operationId: currentRow.id })
          );
        if (linkedProviderAccount?.version === account.version)
          unlink(ctx, linkedProviderAccount, response.reason);
        await handleUnlinked(ctx, currentRow, response.reason, startOutcome === 'first');
      });
    };

  return [
    jobHandler(SUBMIT, { maxAttempts: OUTAGE_ATTEMPTS, run: run(SUBMIT) }),
    jobHandler(CHECK, { maxAttempts: OUTAGE_ATTEMPTS, run: run(CHECK) }),
  ];
}
