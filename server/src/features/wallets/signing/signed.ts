// Operations with a signed retry, as two functions. `begin` validates a request without a signature and
// returns the payload to sign. `perform` executes the request after a valid signature, and can require
// another signature. All other steps are common to every operation.
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
import { findWallet, type Wallet, type WalletDeps } from '../accounts/wallet.ts';
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

/** The verified signer, and the data of the first request. */
export interface Authorization {
  wallet: Wallet;
  boundData: unknown;
  /** Undefined if the signature was verified in an earlier retry. */
  verifiedSigner: VerifiedSigner | undefined;
}

export type Headers = SignableRequest['headers'];
type Outcome = Reply | { signatureRequest: SignatureRequest } | Rejected;

export interface Steps<C extends Contract> {
  /** Returns the ID in the path. Absent if the path has no ID. */
  resourceId?(input: Input<C>): string;
  /** Validates the request. Replies immediately if no signature is needed. */
  begin(ctx: Ctx, input: Input<C>, headers: Headers): Promise<Outcome>;
  /** Executes the request. Repeats the validation of `begin`. */
  perform(ctx: Ctx, input: Input<C>, authorization: Authorization): Promise<Outcome>;
  /** Whether `begin` handles this request regardless of its headers. */
  isDirect?(input: Input<C>): boolean;
  /**
   * Allows PROCESSING replies. `background` completes without a further retry, `onRetry` only when the result
   * is fetched.
   */
  completion?: 'background' | 'onRetry';
}

export interface SignedOperation extends Bound<Ctx> {
  /** Executes a stored request with `perform`. */
  resume(ctx: Ctx, input: Input, authorization: Authorization): Promise<Outcome>;
  completion: Steps<Contract>['completion'];
}

const SETTLE = defineJob(
  'wallets.settle',
  Type.Object({ requestId: Type.String(), ...PlatformFields }),
);
/** Delay after which background work completes without a retry. */
const SETTLE_MS = 5_000;

/** The reply to a valid retry that is executed later, or undefined if it is executed now. */
async function deferredReply(
  ctx: Ctx,
  deps: WalletDeps,
  completion: SignedOperation['completion'],
  { row, wallet }: VerifiedRetry,
  stamp: string,
): Promise<Reply | undefined> {
  if (!completion) return undefined;
  if (row.status === 'PENDING') {
    const polls = await processingReplies(ctx, deps);
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
  deps: WalletDeps,
  steps: Steps<C>,
): SignedOperation {
  const { operationId } = contract;

  async function replyTo(
    ctx: Ctx,
    request: SignableRequest,
    outcome: Outcome,
  ): Promise<Reply | Rejected> {
    if (!('signatureRequest' in outcome)) return outcome;
    return { status: 202, body: await issueChallenge(ctx, request, outcome.signatureRequest) };
  }

  async function run(ctx: Ctx, receivedInput: Input): Promise<Reply | Rejected> {
    const input = receivedInput as Input<C>;
    const headers = receivedInput.headers as Headers;
    const { params } = receivedInput;
    // A body that the contract does not define is ignored.
    const body = contract.body && receivedInput.body;
    const request = {
      operationId,
      resourceId: steps.resourceId?.(input) ?? '',
      input: { params, body },
      headers,
    };
    if (isUnsigned(headers) || steps.isDirect?.(input)) {
      return replyTo(ctx, request, await steps.begin(ctx, input, headers));
    }
    const retry = await verifyRetry(ctx, deps, request);
    if ('rejected' in retry) return retry;
    const deferredResult = await deferredReply(
      ctx,
      deps,
      steps.completion,
      retry,
      stampOf(headers) ?? '',
    );
    if (deferredResult) return deferredResult;
    const outcome = await recheckOnFailure(ctx, request, retry.row.id, () =>
      steps.perform(ctx, input, retry),
    );
    if (!('rejected' in outcome)) markDelivered(ctx, retry.row);
    return replyTo(ctx, request, outcome);
  }

  return {
    contract,
    run,
    resume: (ctx, input, authorization) => steps.perform(ctx, input as Input<C>, authorization),
    completion: steps.completion,
  };
}

export const isSigned = (operation: Bound<Ctx>): operation is SignedOperation =>
  'resume' in operation;

/** Completes an accepted request without a further retry. */
async function settleRequest(
  ctx: Ctx,
  operations: ReadonlyMap<string, SignedOperation>,
  id: string,
): Promise<void> {
  const row = await ctx.read(walletRequests, id);
  const wallet = row && (await findWallet(ctx, row.account_id));
  if (!wallet || row.status !== 'PROCESSING') return;
  const operation = operations.get(row.subject.split(' ')[0] as string);
  if (!operation) throw new Error(`${row.subject} is not a signed operation`);
  const { params, body } = decryptColumn<SignableRequest['input']>(ctx, wallet, row, 'input');
  const boundData = decryptColumn<unknown>(ctx, wallet, row, 'bound');
  const input = { params, body, query: {}, headers: {} } as Input;
  const outcome = await operation.resume(ctx, input, {
    wallet,
    boundData,
    verifiedSigner: undefined,
  });
  if ('signatureRequest' in outcome)
    throw new Error(`${row.subject} cannot request another signature in the background`);
  if ('status' in outcome) markSettled(ctx, wallet, row, outcome);
}

/**
 * The job that completes background work. `operations` are all signed operations. The work is
 * committed separately from the job, because a rejection stages no rows. The rejection is returned
 * to the client by its retry after the last PROCESSING reply.
 */
export function settleJobs(operations: readonly SignedOperation[]): JobHandler[] {
  const operationsById = new Map(operations.map((each) => [each.contract.operationId, each]));
  return [
    jobHandler(SETTLE, {
      run: async (runtime, job) => {
        const { requestId, platformId, environment } = job.input;
        const caller = systemCaller(platformId, environment);
        try {
          await operate(runtime, caller, (ctx) => settleRequest(ctx, operationsById, requestId));
        } catch (error) {
          if (!(error instanceof Fault) || isTransient(error.code)) throw error;
        }
        return { caller, stage: async () => undefined };
      },
    }),
  ];
}
