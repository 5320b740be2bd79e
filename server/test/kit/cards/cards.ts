// A fixture for tests of cards: cardholders with funds, issued cards, and their events. The suffix
// of platformCardId selects the outcome in the sandbox. This file generates platformCardId.

import type { EmittedEvent } from '../app/effects.ts';
import { createCustomer, findInternalAccount, fundAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';

type Json = Record<string, unknown>;

/** Cardholder with a funding account. Also the result of the wallet fixture. */
export interface Cardholder {
  customer: { id: string };
  accountId: string;
}

export type CardFixture = ReturnType<typeof cardFixture>;

let counter = 0;

/**
 * A unique platformCardId. The card is issued immediately unless `suffix` selects another outcome.
 */
export const newCardName = (suffix = '000') => `card-${++counter}-${suffix}`;

/** `platform` is the platform of the cards. Defaults to the main platform. */
export function cardFixture(app: TestApp, { platform }: Pick<CallOptions, 'platform'> = {}) {
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse> => app.call(method, path, body, { platform, headers });

  /** An approved customer with the balance `funds`, in minor units. */
  async function createCardholder({
    currency = 'USD',
    funds = 0,
    ...customerFields
  }: Json & CardholderOptions = {}) {
    const person = await createCustomer(app, { platform }, customerFields);
    const account = await findInternalAccount(app, person.id, currency, { platform });
    if (funds) await fundAccount(app, account.id, funds, { platform });
    return { customer: person, accountId: account.id as string, currency };
  }

  /** Body of the request for a card. */
  const cardBody = ({ customer: { id }, accountId }: Cardholder, overrides: Json = {}) => ({
    cardholderId: id,
    platformCardId: newCardName(),
    form: 'VIRTUAL',
    fundingSources: [accountId],
    ...overrides,
  });

  /** The reply to a request for a card, before it is issued. */
  const requestCard = (cardholder: Cardholder, overrides: Json = {}): Promise<ApiResponse> =>
    call('POST', '/cards', cardBody(cardholder, overrides));

  const readCard = async (id: string): Promise<ApiResponse['body']> =>
    ok(await call('GET', `/cards/${id}`), 200);

  /** A card after the response of the issuer: ACTIVE unless its suffix selects another outcome. */
  async function createCard(
    cardholder: Cardholder,
    overrides: Json = {},
  ): Promise<ApiResponse['body']> {
    const { id } = ok(await requestCard(cardholder, overrides), 201);
    await app.settle();
    return readCard(id);
  }

  const patchCard = (
    id: string,
    body: Json,
    headers?: Record<string, string>,
  ): Promise<ApiResponse> => call('PATCH', `/cards/${id}`, body, headers);

  /** Events of a type, or of a prefix that ends with a period. Optionally of one subject. */
  async function eventsOf(type: string, subject?: string): Promise<EmittedEvent[]> {
    const allEvents = await app.events();
    const isType = (event: EmittedEvent) =>
      type.endsWith('.') ? event.type.startsWith(type) : event.type === type;
    return allEvents.filter((event) => isType(event) && (!subject || event.subject === subject));
  }

  return {
    get platform() {
      return platform ?? app.platform;
    },
    call,
    createCardholder,
    cardBody,
    requestCard,
    createCard,
    readCard,
    patchCard,
    eventsOf,
  };
}

interface CardholderOptions {
  currency?: string;
  funds?: number;
}
