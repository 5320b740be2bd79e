// Receives the messages of a card issuer. Each message is one operation under the issuer's ID, so a
// repeated message has one effect and one response. A network treats a missing or late response as
// a decline, so no approval may remain in the books without reaching the network.
// `cardNetworkHandler` describes how each failure is handled.

import { setTimeout as pause } from 'node:timers/promises';
import type {
  CardDecision,
  CardMerchant,
  CardNetworkHandler,
  CardRequest,
} from '../../../connectors/ports/cards.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault, isTransient } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { isConnectionError } from '../../../runtime/db/lane.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../../runtime/operation/operate.ts';
import type { CardNetwork, StageMessage } from '../../payments/provider-messages/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { cardPaymentOf } from '../clearing/payment.ts';
import { type CardDeps, cardOf } from '../deps.ts';
import { undoPayment } from '../issuing/open.ts';
import { cards } from '../store.ts';
import { decide, declineLate } from './decide.ts';
import { networkEventPoster } from './facts.ts';
import {
  applyNotice,
  findEarlierDecision,
  findPaymentOfToken,
  writeLateApproval,
} from './messages.ts';

/**
 * Maximum number of attempts. The delay between attempts starts at twice `BASE_DELAY_MS` and
 * doubles.
 */
const MAX_ATTEMPTS = 5;
const BASE_DELAY_MS = 50;

/** Limits of the contract and of JSON in the database. */
const truncateText = (text: string, max: number) =>
  Buffer.from(text.replaceAll('\0', '').slice(0, max)).toString();

/** A merchant in storable form. */
const merchantOf = ({ descriptor, mcc, country }: CardMerchant): CardMerchant => ({
  descriptor: truncateText(descriptor, 255) || '-',
  ...(mcc === undefined ? {} : { mcc: truncateText(mcc, 10) }),
  ...(country === undefined ? {} : { country: truncateText(country, 10) }),
});

/** A request with the amount 0 checks whether the card is valid. */
const kindOf = ({ kind, amount }: CardRequest): CardRequest['kind'] =>
  kind === 'AUTHORIZATION' && amount === 0n ? 'BALANCE_INQUIRY' : kind;

const TOO_LATE = { approved: false, reason: 'TOO_LATE' } as const;

/** Whether repeating the work would cause the same error. */
const isFinal = (error: unknown): boolean =>
  isKeyTaken(error) || (error instanceof Fault && !isTransient(error.code));

/**
 * Repeats `work` until it succeeds or fails permanently, up to `MAX_ATTEMPTS` times. Work with an
 * unknown result is repeated as well.
 */
async function retryUntilFinal<R>(work: () => Promise<R>): Promise<R> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || attempts === MAX_ATTEMPTS) throw error;
      await pause(BASE_DELAY_MS * 2 ** attempts);
    }
  }
}

interface PendingRequest {
  runtime: Runtime;
  deps: CardDeps;
  caller: Caller;
  request: CardRequest;
  isLate(): boolean;
  /** Stages further rows together with the decision. */
  stage?: StageMessage | undefined;
}

/**
 * A decision. `isNew`: this call made it. `isStaged`: rows of the caller were committed with it.
 */
type RecordedDecision = { decision: CardDecision; isNew: boolean; isStaged: boolean };

/** Stages the rows of the caller with the decision. Returns the value of `isStaged`. */
function stageWith(ctx: Ctx, { stage }: PendingRequest, decision: CardDecision): boolean {
  const transactionId = (decision.approved && decision.transactionId) || null;
  stage?.(ctx, { platformId: ctx.caller.platformId, transactionId });
  return true;
}

async function decideBeforeDeadline(
  ctx: Ctx,
  pendingRequest: PendingRequest,
): Promise<RecordedDecision> {
  const { deps, request, isLate } = pendingRequest;
  const earlierDecision = await findEarlierDecision(ctx, request);
  if (earlierDecision) return { decision: earlierDecision, isNew: false, isStaged: false };
  const card = await cardOf(ctx, request.cardId);
  const decisionOrFault = await ctx.attempt(async () => {
    const decision = await decide(ctx, deps, card, request);
    // A custodian may respond after the deadline. The approval is then discarded.
    if (isLate()) throw new Fault('SERVICE_UNAVAILABLE', 'The deadline of the request has passed.');
    return decision;
  });
  if (decisionOrFault instanceof Fault && !isLate()) throw decisionOrFault;
  const decision =
    decisionOrFault instanceof Fault ? await declineLate(ctx, card, request) : decisionOrFault;
  return { decision, isNew: true, isStaged: stageWith(ctx, pendingRequest, decision) };
}

/** The recorded decision of the message. Records a decline if no decision is recorded. */
async function decideLateRequest(pendingRequest: PendingRequest): Promise<RecordedDecision> {
  const { runtime, caller, request } = pendingRequest;
  const findRecordedDecision = (ctx: Ctx) => findEarlierDecision(ctx, request);
  try {
    return await retryUntilFinal(() =>
      operate(runtime, caller, async (ctx) => {
        const earlierDecision = await findRecordedDecision(ctx);
        if (earlierDecision)
          return { decision: earlierDecision, isNew: earlierDecision.approved, isStaged: false };
        const card = await cardOf(ctx, request.cardId);
        const decision = await declineLate(ctx, card, request);
        return { decision, isNew: false, isStaged: stageWith(ctx, pendingRequest, decision) };
      }),
    );
  } catch (error) {
    if (!isKeyTaken(error)) throw error;
    const decision = await operate(runtime, caller, findRecordedDecision);
    const isNew = decision?.approved === true;
    return { decision: decision ?? TOO_LATE, isNew, isStaged: false };
  }
}

/** Undoes a committed approval whose deadline has passed. A cleared payment remains approved. */
const undoLateApproval = (
  { runtime, caller, request }: PendingRequest,
  id: string,
): Promise<CardDecision> =>
  retryUntilFinal(() =>
    operate(runtime, caller, async (ctx) => {
      const recordedDecision = await findEarlierDecision(ctx, request);
      if (recordedDecision && !recordedDecision.approved) return recordedDecision;
      const row = await cardPaymentOf(ctx, id);
      const isUndone = await undoPayment(ctx, row, request);
      // The network treats a cleared payment as approved, regardless of the decision it received.
      if (!isUndone) return { approved: true, transactionId: id };
      writeLateApproval(ctx, row, request);
      return TOO_LATE;
    }),
  );

/**
 * Returns the earlier decision, if any. Otherwise declines a request whose transaction token
 * belongs to an undone approval that was not cleared. Returns undefined for any other token.
 */
const declineAfterUndo = ({
  runtime,
  caller,
  request,
}: PendingRequest): Promise<CardDecision | undefined> =>
  operate(runtime, caller, async (ctx) => {
    const earlierDecision = await findEarlierDecision(ctx, request);
    if (earlierDecision) return earlierDecision;
    const payment = await findPaymentOfToken(ctx.db, caller.environment, request.token);
    if (payment?.platformId !== caller.platformId) return undefined;
    const previousPayment = await cardPaymentOf(ctx, payment.transactionId);
    const { card_undone_clearings: undoneClearings, card_clearings: clearings } = previousPayment;
    if (undoneClearings === null || clearings.length > 0) return undefined;
    return declineLate(ctx, await cardOf(ctx, request.cardId), request);
  });

const isConflict = (error: unknown) => error instanceof Fault && error.code === 'CONFLICT';

async function authorize(
  pendingRequest: PendingRequest,
): Promise<Pick<RecordedDecision, 'decision' | 'isStaged'>> {
  let recordedDecision: RecordedDecision;
  try {
    recordedDecision = await operate(pendingRequest.runtime, pendingRequest.caller, (ctx) =>
      decideBeforeDeadline(ctx, pendingRequest),
    );
  } catch (error) {
    const secondDecision = isConflict(error) ? await declineAfterUndo(pendingRequest) : undefined;
    if (secondDecision) return { decision: secondDecision, isStaged: false };
    const isRepeated = isKeyTaken(error);
    // After any other error no row was written.
    if (!isRepeated && !isConnectionError(error)) throw error;
    const lateDecision = await decideLateRequest(pendingRequest);
    recordedDecision = { ...lateDecision, isNew: lateDecision.isNew && !isRepeated };
  }
  const { decision, isNew, isStaged } = recordedDecision;
  // Only the call that made an approval undoes it, because an earlier approval was already
  // returned.
  const isUndone = isNew && decision.approved && pendingRequest.isLate();
  if (!isUndone || !decision.transactionId) return { decision, isStaged };
  return { decision: await undoLateApproval(pendingRequest, decision.transactionId), isStaged };
}

/** Runs work of one ID sequentially. */
function createSerializer() {
  const inFlight = new Map<string, Promise<unknown>>();
  return async <R>(id: string, work: () => Promise<R>): Promise<R> => {
    for (let earlierWork = inFlight.get(id); earlierWork; earlierWork = inFlight.get(id)) {
      await earlierWork.catch(() => undefined);
    }
    const pendingWork = work();
    inFlight.set(id, pendingWork);
    try {
      return await pendingWork;
    } finally {
      inFlight.delete(id);
    }
  };
}

/**
 * The handler for the issuers of an environment. Cards of the other environment are not found.
 *
 * - A request that conflicts too often or finds a full queue fails without a change. The issuer may
 *   repeat the request.
 * - A commit after the deadline is undone by a second commit before TOO_LATE is returned.
 * - If the connection is lost before the result of the commit, a decline is written under the same
 *   ID. If the decline is committed, the approval under the same ID can no longer be committed.
 *   Otherwise the approval exists and is returned.
 * - If the decline cannot be written either, or the process ends between commit and response, the
 *   issuer has no decision. A repeated request then returns the recorded decision. Without a
 *   repetition the network (AUTHORIZATION_EXPIRY) or the sweep (`sweep.ts`) ends the payment.
 *
 * A second request with the same ID waits for the first in this process. It therefore never returns
 * an approval that is about to be undone. In another process, a second request with a later
 * deadline may read the approval between the two commits. The network has then received both
 * decisions. A later clearing of the payment is a late clearing.
 */
export function cardNetworkHandler(
  runtime: Runtime,
  deps: CardDeps,
  environment: Mode,
): CardNetworkHandler & CardNetwork {
  const { db, effects } = runtime;
  const serialize = createSerializer();
  const callerOfPlatform = (platformId: string) => systemCaller(platformId, environment);

  async function holderOf(cardId: string): Promise<Caller> {
    const card = await db.read(cards, cardId);
    const platform = card && (await readPlatform(db, card.platform_id));
    if (platform?.environment !== environment) throw new Fault('NOT_FOUND', 'Card not found.');
    return callerOfPlatform(platform.id);
  }

  const storableRequestOf = (message: CardRequest): CardRequest => ({
    ...message,
    kind: kindOf(message),
    merchant: merchantOf(message.merchant),
  });

  async function decideRequest(message: CardRequest, deadline: Time, stage?: StageMessage) {
    const request = storableRequestOf(message);
    const caller = await holderOf(request.cardId);
    const isLate = () => effects.now() > deadline;
    const pendingRequest = { runtime, deps, caller, request, isLate, stage };
    const outcome = await serialize(request.id, () => authorize(pendingRequest));
    return { ...outcome, platformId: caller.platformId };
  }

  const networkEvents = networkEventPoster({ runtime, deps, holderOf });

  return {
    authorize: async (message, deadline) => (await decideRequest(message, deadline)).decision,

    async decide(message, deadline, stage) {
      const { decision, isStaged, platformId } = await decideRequest(message, deadline, stage);
      const transactionId = (decision.approved && decision.transactionId) || null;
      return { decision, isNew: isStaged, platformId, transactionId };
    },

    postApproved: (message, decidedId, stage) =>
      serialize(message.token, () =>
        networkEvents.postApproved(storableRequestOf(message), decidedId, stage),
      ),

    postEntry: (entry, stage) =>
      serialize(entry.token, () =>
        networkEvents.postEntry(
          { ...entry, merchant: entry.merchant && merchantOf(entry.merchant) },
          stage,
        ),
      ),

    async applyNotice(notice) {
      const payment = await findPaymentOfToken(db, environment, notice.token);
      if (!payment) throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction token not found.');
      const { platformId, transactionId } = payment;
      const apply = () =>
        operate(runtime, callerOfPlatform(platformId), async (ctx) => {
          await applyNotice(ctx, deps, await cardPaymentOf(ctx, transactionId), notice);
        });
      try {
        await apply();
      } catch (error) {
        if (!isKeyTaken(error)) throw error;
        // A message was committed under this ID. The same message has been applied completely, and
        // any other message is a conflict.
        await apply();
      }
    },
  };
}
