// The requests of row 7 and their results: callers that each request a decision, wait for it, and
// request the next one for another payment. Both sides receive the same requests, in the process
// that decides; approvals are counted by card, to be compared with the ledger.
import type { CardDecision, CardRequest } from '../../../server/src/connectors/ports/cards.ts';
import { newId } from '../../../server/src/kernel/id.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { createTally, type Run, type Tally } from '../table/stats.ts';

export interface Asking {
  cards: readonly string[];
  callers: number;
  warmupMs: number;
  seconds: number;
}

/** Approvals of one card, in its currency. */
export interface Approved {
  cardId: string;
  count: number;
  amount: bigint;
}

const effects = systemEffects();
const MERCHANT = { descriptor: 'Corner shop', mcc: '5411', country: 'US' };
/** In cents: from one dollar to ten, so that sums reveal more errors than counts. */
const [LEAST, RANGE, STRIDE] = [100, 900, 37];

const requestFor = (cardId: string, at: number): CardRequest => ({
  id: newId(effects, 'CardMessage'),
  token: newId(effects, 'CardToken'),
  cardId,
  kind: 'AUTHORIZATION',
  amount: BigInt(LEAST + ((at * STRIDE) % RANGE)),
  currency: 'USD',
  merchant: MERCHANT,
});

type Authorize = (request: CardRequest) => Promise<CardDecision>;

export function createAuthorizationLoad() {
  const approved = new Map<string, Approved>();
  let asked = 0;

  function count({ cardId, amount }: CardRequest): void {
    const sum = approved.get(cardId) ?? { cardId, count: 0, amount: 0n };
    approved.set(cardId, { cardId, count: sum.count + 1, amount: sum.amount + amount });
  }

  async function caller(authorize: Authorize, cards: readonly string[], tally: Tally) {
    while (tally.goesOn()) {
      const cardId = cards[Math.floor(Math.random() * cards.length)] as string;
      const request = requestFor(cardId, asked++);
      const started = performance.now();
      try {
        const decision = await authorize(request);
        if (decision.approved) {
          tally.ok(started);
          count(request);
        } else tally.error(decision.reason);
      } catch (error) {
        tally.error(String(error));
      }
    }
  }

  return {
    approved: (): Approved[] => [...approved.values()],
    async run(authorize: Authorize, asking: Asking): Promise<Run> {
      const { cards, callers, warmupMs, seconds } = asking;
      const tally = createTally(warmupMs, seconds);
      const all = Array.from({ length: callers }, () => caller(authorize, cards, tally));
      await Promise.all(all);
      return tally.result();
    },
  };
}
