// An operation that a wallet signs, as two functions: `begin` judges a request without a signature and says
// what is to be signed; `perform` does it once the right one has signed. Everything between is the same for
// all of them. `perform` may want another signature: then the next leg begins.
import { Type } from '@sinclair/typebox';
import { defineJob, PlatformFields } from '../../../kernel/contract/job.ts';
import type {
  Bound,
  Contract,
  Input,
  Rejected,
  Reply,
} from '../../../kernel/contract/operation.ts';
import { Fault, isTransient } from '../../../kernel/fault.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { findWallet, type Wallet, type WalletParts } from '../accounts/wallet.ts';
import { walletRequests } from '../store.ts';
import { PROCESSING, processingReplies } from './processing.ts';
import {
  countPoll,
  decryptColumn,
  issueChallenge,
  isUnsigned,
  markAccepted,
  markDelivered,
  markSettled,
  recheckOnFailure,
  type SignableRequest,
  type SignatureRequest,
  stampOf,
  type VerifiedRetry,
  verifyRetry,
} from './requests.ts';
import type { VerifiedSigner } from './signer.ts';

/** Whoever signed, and what the leg before found out. */
export interface Authorization {
  wallet: Wallet;
  bound: unknown;
  /** Undefined where the signature was seen on an earlier try of the same request. */
  signed: VerifiedSigner | undefined;
}

export type Headers = SignableRequest['headers'];
type Outcome = Reply | { signatureRequest: SignatureRequest } | Rejected;

export interface Steps<C extends Contract> {
  /** The id in the path that the request is about; none where there is none. */
  resourceId?(input: Input<C>): string;
  /** Judges the request; throws what stands against it. Answers at once where nothing need be signed. */
  begin(ctx: Ctx, input: Input<C>, headers: Headers): Promise<Outcome>;
  /** Does it. What stood against it on the first leg may stand against it again. */
  perform(ctx: Ctx, input: Input<C>, act: Authorization): Promise<Outcome>;
  /** Whether this request goes to `begin` whatever headers it has. */
  isDirect?(input: Input<C>): boolean;
  /**
   * It may be answered that the work goes on: `alone` also ends without being request again, `delivered` only
   * when its answer is fetched.
   */
  completion?: 'background' | 'onRetry';
}

export interface SignedOperation extends Bound<Ctx> {
  /** Does the work of a stored request; what `perform` of its steps does. */
  resume(ctx: Ctx, input: Input, act: Authorization): Promise<Outcome>;
  completion: Steps<Contract>['completion'];
}

const SETTLE = defineJob(
  'wallets.settle',
  Type.Object({ requestId: Type.String(), ...PlatformFields }),
);
/** After this the work is done, whether or not somebody asks again. */
const SETTLE_MS = 5_000;

/** The answer of a good second leg that is not done at once; undefined where it is to be done now. */
async function deferredReply(
  ctx: Ctx,
  parts: WalletParts,
  completion: SignedOperation['completion'],
  { row, wallet }: VerifiedRetry,
  stamp: string,
): Promise<Reply | undefined> {
  if (!completion) return undefined;
  if (row.status === 'PENDING') {
    const polls = await processingReplies(ctx, parts);
    if (polls === 0) return undefined;
    markAccepted(ctx, row, stamp, polls - 1);
    const { platformId, environment } = ctx.caller;
    if (completion === 'background') {
      ctx.later(SETTLE, { requestId: row.id, platformId, environment }, ctx.now + SETTLE_MS);
    }
    return PROCESSING;
  }
  if (row.polls > 0) {
    countPoll(ctx, row);
    return PROCESSING;
  }
  if (row.status !== 'SETTLED') return undefined;
  markDelivered(ctx, row);
  return decryptColumn<Reply>(ctx, wallet, row, 'reply');
}

/** Binds a contract to the steps of an operation that a wallet signs. */
export function signedOperation<C extends Contract>(
  contract: C,
  parts: WalletParts,
  steps: Steps<C>,
): SignedOperation {
  const { operationId } = contract;

  async function answer(
    ctx: Ctx,
    request: SignableRequest,
    outcome: Outcome,
  ): Promise<Reply | Rejected> {
    if (!('signatureRequest' in outcome)) return outcome;
    return { status: 202, body: await issueChallenge(ctx, request, outcome.signatureRequest) };
  }

  async function run(ctx: Ctx, given: Input): Promise<Reply | Rejected> {
    const input = given as Input<C>;
    const headers = given.headers as Headers;
    const { params } = given;
    // What comes along with a request that has no body says nothing.
    const body = contract.body && given.body;
    const request = {
      operationId,
      resourceId: steps.resourceId?.(input) ?? '',
      input: { params, body },
      headers,
    };
    if (isUnsigned(headers) || steps.isDirect?.(input)) {
      return answer(ctx, request, await steps.begin(ctx, input, headers));
    }
    const retry = await verifyRetry(ctx, parts, request);
    if ('rejected' in retry) return retry;
    const later = await deferredReply(ctx, parts, steps.completion, retry, stampOf(headers) ?? '');
    if (later) return later;
    const outcome = await recheckOnFailure(ctx, request, retry.row.id, () =>
      steps.perform(ctx, input, retry),
    );
    if (!('rejected' in outcome)) markDelivered(ctx, retry.row);
    return answer(ctx, request, outcome);
  }

  return {
    contract,
    run,
    resume: (ctx, input, act) => steps.perform(ctx, input as Input<C>, act),
    completion: steps.completion,
  };
}

export const isSigned = (operation: Bound<Ctx>): operation is SignedOperation =>
  'resume' in operation;

/** Does what was accepted and that nobody request about again. */
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
  const { params, body } = decryptColumn<SignableRequest['input']>(ctx, wallet, row, 'input');
  const bound = decryptColumn<unknown>(ctx, wallet, row, 'bound');
  const input = { params, body, query: {}, headers: {} } as Input;
  const outcome = await operation.resume(ctx, input, { wallet, bound, signed: undefined });
  if ('signatureRequest' in outcome)
    throw new Error(`${row.subject} cannot ask for another signature by itself`);
  if ('status' in outcome) markSettled(ctx, wallet, row, outcome);
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
          if (!(error instanceof Fault) || isTransient(error.code)) throw error;
        }
        return { caller, stage: async () => undefined };
      },
    }),
  ];
}
