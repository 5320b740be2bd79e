// Fixture for the card network of an issuer. Messages go to the handler that a connector receives.
// Their results are read from the decision log and over the API.
import type {
  CardDecision,
  CardNotice,
  CardRequest,
  CardRequestKind,
} from '../../../src/connectors/ports/cards.ts';
import { cardNetworkHandler } from '../../../src/features/cards/index.ts';
import { type CardMessageRow, cardMessages } from '../../../src/features/cards/store.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';

let counter = 0;

type NoticeContent = CardNotice extends infer N
  ? N extends CardNotice
    ? Omit<N, 'id' | 'token'>
    : never
  : never;

/**
 * `runtime` belongs to another process or has an injected failure. Defaults to the runtime of the
 * app.
 */
export function cardNetwork(app: TestApp, runtime: Runtime = app.runtime) {
  const origin = () => 'http://localhost';
  const handler = cardNetworkHandler(runtime, { connectors: app.connectorsOf, origin }, 'sandbox');

  /** A unique message. `overrides` replaces fields. */
  const message = (
    cardId: string,
    amount: number,
    overrides: Partial<CardRequest> = {},
  ): CardRequest => ({
    id: `message-${++counter}`,
    token: `token-${counter}`,
    cardId,
    kind: 'AUTHORIZATION',
    amount: BigInt(amount),
    currency: 'USD',
    merchant: { descriptor: 'Corner shop', mcc: '5411', country: 'US' },
    ...overrides,
  });

  const send = (networkRequest: CardRequest, deadline = Infinity): Promise<CardDecision> =>
    handler.authorize(networkRequest, deadline);

  /** Requests an amount. */
  const request = (cardId: string, amount: number, kind: CardRequestKind = 'AUTHORIZATION') =>
    send(message(cardId, amount, { kind }));

  const notify = (
    token: string,
    notice: NoticeContent,
    id = `notice-${++counter}`,
  ): Promise<void> => handler.applyNotice({ id, token, ...notice } as CardNotice);

  /** The decision log of a card, oldest first. */
  async function logOf(cardId: string): Promise<CardMessageRow[]> {
    const rows = await app.runtime.db.find(cardMessages, { card_id: cardId });
    // Messages of the same time are ordered by their numbers. Simulated messages have no number.
    const numberOf = ({ id }: CardMessageRow) =>
      Number(/ (?:message|notice)-(\d+)$/.exec(id)?.[1] ?? 0);
    return rows.sort((a, b) => a.created_at - b.created_at || numberOf(a) - numberOf(b));
  }

  /** Payments with cards of a customer, oldest first. */
  async function paymentsOf(
    customerId: string,
    options: CallOptions = {},
  ): Promise<ApiResponse['body'][]> {
    const query = `customerId=${customerId}&type=CARD&sortOrder=asc&limit=100`;
    return ok(await app.call('GET', `/transactions?${query}`, undefined, options), 200).data;
  }

  return { message, send, request, notify, logOf, paymentsOf };
}
