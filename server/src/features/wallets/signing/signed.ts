// An operation that a wallet signs, as two functions: `begin` judges a request without a signature and says
// what is to be signed; `perform` does it once the right one has signed. Everything between is the same for
// all of them. `perform` may want another signature: then the next leg begins.
import { Type } from '@sinclair/typebox';
import { defineJob, PlatformFields } from '../../../kernel/contract/job.ts';
import type { Bound, Contract, Input, Refused, Reply } from '../../../kernel/contract/operation.ts';
import { Fault, mayPass } from '../../../kernel/fault.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { findWallet, type Wallet, type WalletParts } from '../accounts/wallet.ts';
import { walletRequests } from '../store.ts';
import { PROCESSING, pollsOf } from './processing.ts';
import {
  type Ask,
  type Asked,
  accept,
  challenge,
  countPoll,
  deliver,
  isUnsigned,
  openRequest,
  type Retry,
  readRetry,
  settle,
  stampOf,
  whileLive,
} from './requests.ts';
import type { Signed } from './signer.ts';

/** Whoever signed, and what the leg before found out. */
export interface Act {
  wallet: Wallet;
  bound: unknown;
  /** Undefined where the signature was seen on an earlier try of the same request. */
  signed: Signed | undefined;
}

export type Headers = Asked['headers'];
type Outcome = Reply | { ask: Ask } | Refused;

export interface Steps<C extends Contract> {
  /** The id in the path that the request is about; none where there is none. */
  of?(input: Input<C>): string;
  /** Judges the request; throws what stands against it. Answers at once where nothing need be signed. */
  begin(ctx: Ctx, input: Input<C>, headers: Headers): Promise<Outcome>;
  /** Does it. What stood against it on the first leg may stand against it again. */
  perform(ctx: Ctx, input: Input<C>, act: Act): Promise<Outcome>;
  /** Whether this request goes to `begin` whatever headers it has. */
  isDirect?(input: Input<C>): boolean;
  /**
   * It may be answered that the work goes on: `alone` also ends without being asked again, `delivered` only
   * when its answer is fetched.
   */
  settles?: 'alone' | 'delivered';
}

export interface SignedOperation extends Bound<Ctx> {
  /** Does the work of a stored request; what `perform` of its steps does. */
  resume(ctx: Ctx, input: Input, act: Act): Promise<Outcome>;
  settles: Steps<Contract>['settles'];
}

const SETTLE = defineJob(
  'wallets.settle',
  Type.Object({ requestId: Type.String(), ...PlatformFields }),
);
/** After this the work is done, whether or not somebody asks again. */
const SETTLE_MS = 5_000;

/** The answer of a good second leg that is not done at once; undefined where it is to be done now. */
async function putOff(
  ctx: Ctx,
  parts: WalletParts,
  settles: SignedOperation['settles'],
  { row, wallet }: Retry,
  stamp: string,
): Promise<Reply | undefined> {
  if (!settles) return undefined;
  if (row.status === 'PENDING') {
    const polls = await pollsOf(ctx, parts);
    if (polls === 0) return undefined;
    accept(ctx, row, stamp, polls - 1);
    const { platformId, environment } = ctx.caller;
    if (settles === 'alone') {
      ctx.later(SETTLE, { requestId: row.id, platformId, environment }, ctx.now + SETTLE_MS);
    }
    return PROCESSING;
  }
  if (row.polls > 0) {
    countPoll(ctx, row);
    return PROCESSING;
  }
  if (row.status !== 'SETTLED') return undefined;
  deliver(ctx, row);
  return openRequest<Reply>(ctx, wallet, row, 'reply');
}

/** Binds a contract to the steps of an operation that a wallet signs. */
export function signedOperation<C extends Contract>(
  contract: C,
  parts: WalletParts,
  steps: Steps<C>,
): SignedOperation {
  const { operationId } = contract;

  async function answer(ctx: Ctx, asked: Asked, outcome: Outcome): Promise<Reply | Refused> {
    if (!('ask' in outcome)) return outcome;
    return { status: 202, body: await challenge(ctx, asked, outcome.ask) };
  }

  async function run(ctx: Ctx, given: Input): Promise<Reply | Refused> {
    const input = given as Input<C>;
    const headers = given.headers as Headers;
    const { params } = given;
    // What comes along with a request that has no body says nothing.
    const body = contract.body && given.body;
    const asked = { operationId, of: steps.of?.(input) ?? '', input: { params, body }, headers };
    if (isUnsigned(headers) || steps.isDirect?.(input)) {
      return answer(ctx, asked, await steps.begin(ctx, input, headers));
    }
    const retry = await readRetry(ctx, parts, asked);
    if ('refused' in retry) return retry;
    const later = await putOff(ctx, parts, steps.settles, retry, stampOf(headers) ?? '');
    if (later) return later;
    const outcome = await whileLive(ctx, asked, retry.row.id, () =>
      steps.perform(ctx, input, retry),
    );
    if (!('refused' in outcome)) deliver(ctx, retry.row);
    return answer(ctx, asked, outcome);
  }

  return {
    contract,
    run,
    resume: (ctx, input, act) => steps.perform(ctx, input as Input<C>, act),
    settles: steps.settles,
  };
}

export const isSigned = (operation: Bound<Ctx>): operation is SignedOperation =>
  'resume' in operation;

/** Does what was accepted and that nobody asked about again. */
async function settleRequest(
  ctx: Ctx,
  operations: ReadonlyMap<string, SignedOperation>,
  id: string,
): Promise<void> {
  const row = await ctx.read(walletRequests, id);
  const wallet = row && (await findWallet(ctx, row.account_id));
  if (!wallet || row.status !== 'PROCESSING') return;
  const operation = operations.get(row.subject.split(' ')[0] as string);
  if (!operation) throw new Error(`${row.subject} is no operation that a wallet signs`);
  const { params, body } = openRequest<Asked['input']>(ctx, wallet, row, 'input');
  const bound = openRequest<unknown>(ctx, wallet, row, 'bound');
  const input = { params, body, query: {}, headers: {} } as Input;
  const outcome = await operation.resume(ctx, input, { wallet, bound, signed: undefined });
  if ('ask' in outcome)
    throw new Error(`${row.subject} cannot ask for another signature by itself`);
  if ('status' in outcome) settle(ctx, wallet, row, outcome);
}

/**
 * The job that ends what goes on by itself; `operations` are all that a wallet signs. What stands against
 * the work by now is left for the client to be told when it asks again, and nothing of the work is done: so
 * it is committed by itself, and not with the end of the job.
 */
export function settleJobs(operations: readonly SignedOperation[]): JobHandler[] {
  const byId = new Map(operations.map((each) => [each.contract.operationId, each]));
  return [
    jobHandler(SETTLE, {
      run: async (runtime, job) => {
        const { requestId, platformId, environment } = job.input;
        const caller = systemCaller(platformId, environment);
        try {
          await operate(runtime, caller, (ctx) => settleRequest(ctx, byId, requestId));
        } catch (error) {
          if (!(error instanceof Fault) || mayPass(error.code)) throw error;
        }
        return { caller, stage: async () => undefined };
      },
    }),
  ];
}
