// Where an issuer turns to with what its network says. Every message is one operation like a request's, under
// the issuer's own id, so a message that comes twice has one effect and one answer.
//
// A network waits for an answer only so long, and takes silence for a no. So no approval may stay in the
// books that nobody hears of:
// - What runs into too many races, or finds too much waiting before it, has written nothing. That is thrown:
//   there is no decision, and whoever asked may ask again.
// - A commit that comes too late is undone by a second one, before TOO_LATE is answered.
// - Where the connection broke before the commit's answer, a decline is written under the same id. Either
//   it is in, and then the approval never will be, for both have one key; or the approval is there and is
//   answered.
// - If that cannot be written either, or this process ends between commit and answer, the issuer has no
//   answer: it asks again and hears what is in the books, or its network lets go of the payment
//   (AUTHORIZATION_EXPIRY), or we do after a while (`sweep.ts`).
// A twin of what is under way in this process waits for its end, so none answers an approval that is about to
// be undone. Between two processes that remains: a twin with more time may read an approval after its commit
// and before the one that undoes it. Then the network has heard both yes and no; what it clears is a late
// clearing.

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
import { isLost } from '../../../runtime/db/lane.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { cardPaymentOf } from '../clearing/payment.ts';
import { undoPayment } from '../issuing/open.ts';
import { type CardParts, cardOf } from '../parts.ts';
import { cards } from '../store.ts';
import { decide, declineLate } from './decide.ts';
import { applyNotice, earlierDecision, paymentNamed, writeTooLate } from './messages.ts';

/** How often, and at first after how long, is tried again what must be known before anything is answered. */
const TRIES = 5;
const PAUSE_MS = 50;

/** What the contract promises to show, and what JSON in the database can hold. */
const fitting = (text: string, most: number) =>
  Buffer.from(text.replaceAll('\0', '').slice(0, most)).toString();

/** A merchant as it may be written down, whatever a terminal has sent. */
const merchantOf = ({ descriptor, mcc, country }: CardMerchant): CardMerchant => ({
  descriptor: fitting(descriptor, 255) || '-',
  ...(mcc === undefined ? {} : { mcc: fitting(mcc, 10) }),
  ...(country === undefined ? {} : { country: fitting(country, 10) }),
});

/** What asks for nothing wants to know whether the card is good. */
const kindOf = ({ kind, amount }: CardRequest): CardRequest['kind'] =>
  kind === 'AUTHORIZATION' && amount === 0n ? 'BALANCE_INQUIRY' : kind;

const TOO_LATE = { approved: false, reason: 'TOO_LATE' } as const;

/** Whether asking again would end as this did. */
const isFinal = (error: unknown): boolean =>
  isKeyTaken(error) || (error instanceof Fault && !isTransient(error.code));

/** Runs until it went well or was refused for good; what may have gone well is run again. */
async function insist<R>(work: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || tries === TRIES) throw error;
      await pause(PAUSE_MS * 2 ** tries);
    }
  }
}

interface Asking {
  runtime: Runtime;
  parts: CardParts;
  caller: Caller;
  request: CardRequest;
  isLate(): boolean;
}

/** A decision, and whether it was made just now. */
type Decided = { decision: CardDecision; fresh: boolean };

async function decideInTime(ctx: Ctx, { parts, request, isLate }: Asking): Promise<Decided> {
  const earlier = await earlierDecision(ctx, request);
  if (earlier) return { decision: earlier, fresh: false };
  const card = await cardOf(ctx, request.cardId);
  const decided = await ctx.attempt(async () => {
    const decision = await decide(ctx, parts, card, request);
    // Custodians may take their time; then nothing of it is staged.
    if (isLate()) throw new Fault('SERVICE_UNAVAILABLE', 'Nobody waits for the decision any more.');
    return decision;
  });
  if (!(decided instanceof Fault)) return { decision: decided, fresh: true };
  if (!isLate()) throw decided;
  return { decision: await declineLate(ctx, card, request), fresh: true };
}

/** What was decided about the message by whoever decided first; a decline where nobody has. */
async function truthOf(asking: Asking): Promise<Decided> {
  const { runtime, caller, request } = asking;
  const known = (ctx: Ctx) => earlierDecision(ctx, request);
  try {
    return await insist(() =>
      operate(runtime, caller, async (ctx) => {
        const earlier = await known(ctx);
        if (earlier) return { decision: earlier, fresh: earlier.approved };
        const card = await cardOf(ctx, request.cardId);
        return { decision: await declineLate(ctx, card, request), fresh: false };
      }),
    );
  } catch (error) {
    if (!isKeyTaken(error)) throw error;
    const decision = await operate(runtime, caller, known);
    return { decision: decision ?? TOO_LATE, fresh: decision?.approved === true };
  }
}

/** Takes an approval back that is in the books and that nobody waits for. */
const undoLate = ({ runtime, caller, request }: Asking, id: string): Promise<CardDecision> =>
  insist(() =>
    operate(runtime, caller, async (ctx) => {
      const known = await earlierDecision(ctx, request);
      if (known && !known.approved) return known;
      const row = await cardPaymentOf(ctx, id);
      const undone = await undoPayment(ctx, row, request);
      // What the network clears it has taken for approved, whatever it has heard.
      if (!undone) return { approved: true, transactionId: id };
      writeTooLate(ctx, row, request);
      return TOO_LATE;
    }),
  );

/**
 * A decline where the issuer's name for the payment is that of one which was undone, and of which its network
 * has had nothing: whoever asks under it again comes too late as well. Undefined where it is another's.
 */
const declineUndone = ({ runtime, caller, request }: Asking): Promise<CardDecision | undefined> =>
  operate(runtime, caller, async (ctx) => {
    const earlier = await earlierDecision(ctx, request);
    if (earlier) return earlier;
    const named = await paymentNamed(ctx.db, caller.environment, request.token);
    if (named?.platformId !== caller.platformId) return undefined;
    const was = await cardPaymentOf(ctx, named.transactionId);
    const { card_undone_clearings: undone, card_clearings: clearings } = was;
    if (undone === null || clearings.length > 0) return undefined;
    return declineLate(ctx, await cardOf(ctx, request.cardId), request);
  });

const isConflict = (error: unknown) => error instanceof Fault && error.code === 'CONFLICT';

async function authorize(asking: Asking): Promise<CardDecision> {
  let decided: Decided;
  try {
    decided = await operate(asking.runtime, asking.caller, (ctx) => decideInTime(ctx, asking));
  } catch (error) {
    const again = isConflict(error) ? await declineUndone(asking) : undefined;
    if (again) return again;
    const hasTwin = isKeyTaken(error);
    // Everything else has written nothing.
    if (!hasTwin && !isLost(error)) throw error;
    const { decision, fresh } = await truthOf(asking);
    decided = { decision, fresh: fresh && !hasTwin };
  }
  const { decision, fresh } = decided;
  // Only whoever has made it takes it back: one that was answered before was heard.
  if (!fresh || !decision.approved || !decision.transactionId || !asking.isLate()) return decision;
  return undoLate(asking, decision.transactionId);
}

/** Does one thing at a time for each id: what comes while it is done waits for its end. */
function oneByOne() {
  const underWay = new Map<string, Promise<unknown>>();
  return async <R>(id: string, work: () => Promise<R>): Promise<R> => {
    for (let twin = underWay.get(id); twin; twin = underWay.get(id)) {
      await twin.catch(() => undefined);
    }
    const running = work();
    underWay.set(id, running);
    try {
      return await running;
    } finally {
      underWay.delete(id);
    }
  };
}

/** The handler for issuers of an environment; no message reaches cards of another. */
export function cardNetworkHandler(
  runtime: Runtime,
  parts: CardParts,
  environment: Mode,
): CardNetworkHandler {
  const { db, effects } = runtime;
  const turn = oneByOne();
  const at = (platformId: string) => systemCaller(platformId, environment);

  async function holderOf(cardId: string): Promise<Caller> {
    const card = await db.read(cards, cardId);
    const platform = card && (await readPlatform(db, card.platform_id));
    if (platform?.environment !== environment) throw new Fault('NOT_FOUND', 'Card not found.');
    return at(platform.id);
  }

  return {
    async authorize(asked, answerBy: Time) {
      const request = { ...asked, kind: kindOf(asked), merchant: merchantOf(asked.merchant) };
      const caller = await holderOf(request.cardId);
      const isLate = () => effects.now() > answerBy;
      return turn(request.id, () => authorize({ runtime, parts, caller, request, isLate }));
    },

    async applyNotice(notice) {
      const found = await paymentNamed(db, environment, notice.token);
      if (!found) throw new Fault('TRANSACTION_NOT_FOUND', 'No payment has this name.');
      const { platformId, transactionId } = found;
      const heed = () =>
        operate(runtime, at(platformId), async (ctx) => {
          await applyNotice(ctx, parts, await cardPaymentOf(ctx, transactionId), notice);
        });
      try {
        await heed();
      } catch (error) {
        if (!isKeyTaken(error)) throw error;
        // Another came first under its id: its twin has done all there is to do, and any other is a conflict.
        await heed();
      }
    },
  };
}
