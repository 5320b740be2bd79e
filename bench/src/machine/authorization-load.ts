// Requests and results of row 7: each caller sends a request, waits for the decision and sends the
// next request with another payment. Handler and peer receive requests of the same form in the
// process that decides. Approvals are counted by card, for comparison with the ledger.
import type { CardDecision, CardRequest } from '../../../server/src/connectors/ports/cards.ts';
import { newId } from '../../../server/src/kernel/id.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { createTally, type Run, type Tally } from '../table/stats.ts';

export interface AuthorizationLoad {
  cards: readonly string[];
  callers: number;
  warmupMs: number;
  seconds: number;
  /** Whether each request is a signed message of a provider. */
  isSigned: boolean;
}

/** Approvals of one card, in its currency. */
export interface CardApprovals {
  cardId: string;
  count: number;
  amount: bigint;
}

const effects = systemEffects();
const MERCHANT = { descriptor: 'Corner shop', mcc: '5411', country: 'US' };
/** In cents, from 1.00 to 9.99 dollars. Different amounts reveal errors that counts do not. */
const [LEAST, RANGE, STRIDE] = [100, 900, 37];

export const requestFor = (cardId: string, index: number): CardRequest => ({
  id: newId(effects, 'CardMessage'),
  token: newId(effects, 'CardToken'),
  cardId,
  kind: 'AUTHORIZATION',
  amount: BigInt(LEAST + ((index * STRIDE) % RANGE)),
  currency: 'USD',
  merchant: MERCHANT,
});

/** Prepares a request outside the measured time, and returns the measured call. */
type Prepare = (request: CardRequest) => Call | Promise<Call>;
type Call = () => Promise<CardDecision>;

export function createAuthorizationLoad() {
  const approvalsByCard = new Map<string, CardApprovals>();
  let requestCount = 0;

  function count({ cardId, amount }: CardRequest): void {
    const sum = approvalsByCard.get(cardId) ?? { cardId, count: 0, amount: 0n };
    approvalsByCard.set(cardId, { cardId, count: sum.count + 1, amount: sum.amount + amount });
  }

  async function runCaller(prepare: Prepare, cards: readonly string[], tally: Tally) {
    while (tally.isRunning()) {
      const cardId = cards[Math.floor(Math.random() * cards.length)] as string;
      const request = requestFor(cardId, requestCount++);
      const authorize = await prepare(request);
      const startMs = performance.now();
      try {
        const decision = await authorize();
        if (decision.approved) {
          tally.ok(startMs);
          count(request);
        } else tally.error(decision.reason);
      } catch (error) {
        tally.error(String(error));
      }
    }
  }

  return {
    approved: (): CardApprovals[] => [...approvalsByCard.values()],
    async run(prepare: Prepare, options: AuthorizationLoad): Promise<Run> {
      const { cards, callers, warmupMs, seconds } = options;
      const tally = createTally(warmupMs, seconds);
      const runs = Array.from({ length: callers }, () => runCaller(prepare, cards, tally));
      await Promise.all(runs);
      return tally.result();
    },
  };
}
