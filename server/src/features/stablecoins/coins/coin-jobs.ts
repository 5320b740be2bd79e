// Jobs of a registered token. Each successful poll schedules the next until the issuance is final
// or the provider requests no poll. An approved token is enabled once it is provisioned.
import type { IssuanceStatus, TokenLookup } from '../../../connectors/ports/stablecoins.ts';
import type { JobInput } from '../../../kernel/contract/job.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import { type JobHandler, jobHandler, type Result } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { recordAccountAction } from '../../balances/account-actions/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { mintOf, type StablecoinDeps } from '../deps.ts';
import {
  ENABLE,
  POLL_ISSUANCE,
  scheduleEnablement,
  scheduleNextPoll,
} from '../minting/issuance-polls.ts';
import { operationJobs } from '../minting/operation-jobs.ts';
import {
  type IssuanceEvent,
  isIssuable,
  issuanceStates,
  type ServiceEvent,
  serviceStates,
} from '../states.ts';
import { type ProviderAccountRow, type StablecoinRow, stablecoins } from '../store.ts';
import { isCountable, postInitialSupply } from '../supply/supply-accounts.ts';
import { accountOfCoin, nameOf } from './coins.ts';
import { linkOf, unlink } from './provider-accounts.ts';

const EVENT_OF: Readonly<Record<IssuanceStatus, IssuanceEvent | undefined>> = {
  PENDING_REVIEW: undefined,
  PROVISIONING: 'review',
  PROVISIONED: 'provision',
  REJECTED: 'reject',
  FAILED: 'fail',
};

async function coinOf(
  { read }: Pick<Ctx, 'read'>,
  { coinId }: JobInput<typeof ENABLE>,
): Promise<StablecoinRow> {
  const row = await read(stablecoins, coinId);
  if (!row) throw new Error(`${coinId} was not found`);
  return row;
}

/** Applies the provider's state of a token. A pending token is unchanged. */
function applyIssuance(ctx: Ctx, coin: StablecoinRow, issuance: IssuanceStatus): StablecoinRow {
  const event = EVENT_OF[issuance];
  const issuance_status = event && issuanceStates.targetOf(coin.issuance_status, event);
  if (issuance_status === undefined) return coin;
  const updatedStablecoin = ctx.update(stablecoins, coin, { issuance_status, updated_at: ctx.now });
  if (issuance_status === 'PROVISIONED') scheduleEnablement(ctx, updatedStablecoin);
  return isIssuable(issuance_status) ? updatedStablecoin : disableService(ctx, updatedStablecoin);
}

/** A token that is never issued needs no decision and is not enabled. */
function disableService(ctx: Ctx, coin: StablecoinRow): StablecoinRow {
  if (serviceStates.targetOf(coin.service_status, 'drop') === undefined) return coin;
  const reason = `The token is ${coin.issuance_status} at its provider.`;
  recordAccountAction(ctx, coin, { actor: 'service', action: 'drop', reason });
  return decideService(ctx, coin, 'drop');
}

/** Applies the response to a poll with account `polledAccount`. */
async function applyPoll(
  ctx: Ctx,
  polledAccount: ProviderAccountRow,
  coin: StablecoinRow,
  response: TokenLookup,
) {
  if (response.state === 'unlinked') {
    const account = await accountOfCoin(ctx, coin);
    // If the account was linked again during the poll, it remains linked.
    if (account.version === polledAccount.version) unlink(ctx, account, response.reason);
    return;
  }
  // The provider had the token before and no longer has it, so its issuance has failed.
  if (response.state !== 'found') return void applyIssuance(ctx, coin, 'FAILED');
  const { issuance, supply } = response.token;
  if (issuance === 'PROVISIONED' && !isCountable(supply)) {
    if (applyIssuance(ctx, coin, 'FAILED') === coin) return;
    const reason = 'The circulating supply exceeds the maximum of the ledger.';
    return recordAccountAction(ctx, coin, { actor: 'service', action: 'fail', reason });
  }
  const updatedCoin = applyIssuance(ctx, coin, issuance);
  if (updatedCoin !== coin && issuance === 'PROVISIONED') postInitialSupply(ctx, coin, supply);
  scheduleNextPoll(ctx, updatedCoin, response.token);
}

async function pollIssuance(
  runtime: Runtime,
  deps: StablecoinDeps,
  input: JobInput<typeof POLL_ISSUANCE>,
): Promise<Result> {
  const caller = await callerOf(runtime.db, input.platformId);
  const read = runtime.db.read;
  const coin = await coinOf({ read }, input);
  const account = await accountOfCoin({ read }, coin);
  const noChange = { caller, stage: async () => {} };
  const isNext = ({ follows }: StablecoinRow) => follows === input.turn;
  if (!isNext(coin) || account.status !== 'ACTIVE') return noChange;
  const mint = mintOf({ caller }, deps);
  const age = (await runtime.clocks.nowOf(caller)) - coin.created_at;
  const response = await mint.token(linkOf(runtime, account), nameOf(coin), age);
  return {
    caller,
    stage: async (ctx) => {
      const currentCoin = await coinOf(ctx, input);
      if (isNext(currentCoin)) await applyPoll(ctx, account, currentCoin, response);
    },
  };
}

/**
 * Approves a token that the provider enables immediately, or enables an approved, provisioned
 * token.
 */
async function enable(
  ctx: Ctx,
  deps: StablecoinDeps,
  input: JobInput<typeof ENABLE>,
): Promise<void> {
  const coin = await coinOf(ctx, input);
  const { mint } = deps.connectors(ctx.caller.environment);
  const isApproved = mint?.enablesImmediately?.(nameOf(coin)) ?? false;
  if (coin.service_status === 'PENDING_APPROVAL' && isApproved) decideService(ctx, coin, 'approve');
  if (coin.service_status !== 'ENABLING' || coin.issuance_status !== 'PROVISIONED') return;
  decideService(ctx, coin, 'enable');
}

/** Applies a decision about a token. Throws if its service status does not permit the decision. */
export function decideService(ctx: Ctx, coin: StablecoinRow, event: ServiceEvent): StablecoinRow {
  const service_status = serviceStates.next(coin.service_status, event);
  if (service_status === 'ENABLING') scheduleEnablement(ctx, coin);
  return ctx.update(stablecoins, coin, { service_status, updated_at: ctx.now });
}

/** Handlers of all stablecoin jobs. */
export const stablecoinJobs = (deps: StablecoinDeps): JobHandler[] => [
  ...operationJobs(deps),
  jobHandler(POLL_ISSUANCE, {
    maxAttempts: OUTAGE_ATTEMPTS,
    run: (runtime, { input }) => pollIssuance(runtime, deps, input),
  }),
  jobHandler(ENABLE, {
    run: async (runtime, { input }) => {
      const caller = await callerOf(runtime.db, input.platformId);
      return { caller, stage: (ctx) => enable(ctx, deps, input) };
    },
  }),
];
