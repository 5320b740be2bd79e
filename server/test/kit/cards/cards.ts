// A fixture for tests of cards: cardholders with funds, issued cards, and their events.
// The ending of a card's name decides what the sandbox does with it, so cards are named here.

import type { SeenEvent } from '../app/effects.ts';
import { customer, fund, internalAccount, ok } from '../app/fixtures.ts';
import type { Answer, CallOptions, TestApp } from '../app/harness.ts';

type Json = Record<string, unknown>;

/** Who holds a card and what pays for it; a customer of the wallets' fixture with a wallet is one too. */
export interface Cardholder {
  customer: { id: string };
  accountId: string;
}

export type CardFixture = ReturnType<typeof cardFixture>;

let counter = 0;

/** A name for a card that no card of another test has; the sandbox issues it at once unless `suffix` says. */
export const cardName = (suffix = '000') => `card-${++counter}-${suffix}`;

/** `as` is the platform that the cards belong to; the main one unless said. */
export function cardFixture(app: TestApp, { as }: Pick<CallOptions, 'as'> = {}) {
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => app.call(method, path, body, { as, headers });

  /** An approved customer with a balance of a currency in `funds`, smallest units of it. */
  async function holder({ currency = 'USD', funds = 0, ...more }: Json & HolderChoice = {}) {
    const person = await customer(app, { as }, more);
    const account = await internalAccount(app, person.id, currency, { as });
    if (funds) await fund(app, account.id, funds, { as });
    return { customer: person, accountId: account.id as string, currency };
  }

  /** What asks for a card. */
  const cardBody = ({ customer: { id }, accountId }: Cardholder, more: Json = {}) => ({
    cardholderId: id,
    platformCardId: cardName(),
    form: 'VIRTUAL',
    fundingSources: [accountId],
    ...more,
  });

  /** The answer to a request for a card, before it is issued. */
  const requestCard = (of: Cardholder, more: Json = {}): Promise<Answer> =>
    call('POST', '/cards', cardBody(of, more));

  const cardNow = async (id: string): Promise<Answer['body']> =>
    ok(await call('GET', `/cards/${id}`), 200);

  /** A card as it stands once its issuer was asked: ACTIVE, unless its name says otherwise. */
  async function card(of: Cardholder, more: Json = {}): Promise<Answer['body']> {
    const { id } = ok(await requestCard(of, more), 201);
    await app.settle();
    return cardNow(id);
  }

  const patchCard = (id: string, body: Json, headers?: Record<string, string>): Promise<Answer> =>
    call('PATCH', `/cards/${id}`, body, headers);

  /** Events of one type, or of all that begin with it where it ends with a dot; of one subject if given. */
  async function eventsOf(type: string, subject?: string): Promise<SeenEvent[]> {
    const all = await app.events();
    const isType = (each: SeenEvent) =>
      type.endsWith('.') ? each.type.startsWith(type) : each.type === type;
    return all.filter((each) => isType(each) && (!subject || each.subject === subject));
  }

  return {
    get as() {
      return as ?? app.platform;
    },
    call,
    holder,
    cardBody,
    askCard: requestCard,
    card,
    cardNow,
    patchCard,
    eventsOf,
  };
}

interface HolderChoice {
  currency?: string;
  funds?: number;
}
