// A production platform whose cards an adapter issues over the protocol for providers.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { readBalances } from '../app/fixtures.ts';
import { operatorService } from '../operator/production.ts';
import { type Adapter, startAdapter } from './adapter.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
type Json = any;

export const ISSUER = 'acme-cards';
/** Maximum amount that the provider may approve without a response of the server. */
export const STAND_IN_MAX = 50_00;

/** Opens the server, the adapter and the platform for the tests of a file. */
export function cardIssuer() {
  const operator = operatorService();
  const { service, write } = operator;
  const openResources: { adapter?: Adapter } = {};
  const adapter = (): Adapter => {
    if (!openResources.adapter)
      throw new Error('The adapter was used before the first hook. Use it in a test.');
    return openResources.adapter;
  };

  beforeAll(async () => {
    const startedAdapter = await startAdapter(service.app);
    openResources.adapter = startedAdapter;
    startedAdapter.replies['/capabilities'] = () => ({ body: { protocol: '1', cards: true } });
    const provider = await write('POST', '/providers', {
      ...{ providerId: ISSUER, environment: 'production', url: startedAdapter.url },
      ...{ publicKeyPem: startedAdapter.publicKeyPem, privateAddressAllowed: true },
    });
    startedAdapter.accept(provider.ownKeys);
    await write('POST', `/providers/${ISSUER}/check`);
    await write('POST', '/provider-routes', {
      ...{ providerId: ISSUER, environment: 'production', priority: 10 },
      ...{ kind: 'card', currency: 'USD', maxAmount: STAND_IN_MAX },
    });
  });
  afterAll(() => openResources.adapter?.close());

  const order = async (usd: string, fields: object = {}) => {
    const { person, account } = await service.createPayer(usd);
    const body = { cardholderId: person.id, form: 'VIRTUAL', fundingSources: [account], ...fields };
    const { status, body: card } = await service.app.call(
      'POST',
      '/cards',
      body,
      service.callOptions,
    );
    expect({ status, card }).toMatchObject({ status: 201 });
    await service.app.settle();
    return { person, account, cardId: card.id as string };
  };

  /** Sends a message about a card payment, with default fields. */
  const send = (cardId: string, type: string, fields: Json = {}) =>
    adapter().send(ISSUER, {
      ...{ type, cardId, currency: 'USD' },
      ...(type === 'card.authorization' ? { merchant: { descriptor: 'Corner shop' } } : {}),
      ...(type === 'card.authorization' ? {} : { entryId: randomUUID() }),
      ...fields,
    });

  return {
    ...operator,
    adapter,
    order,
    send,
    /** Requests an amount, and returns the decision. */
    async authorize(cardId: string, amount: number, fields: Json = {}) {
      const authorizationId = randomUUID();
      const message = { authorizationId, amount, ...fields };
      const { status, body } = await send(cardId, 'card.authorization', message);
      expect({ status, body }).toMatchObject({ status: 200 });
      return { ...message, ...body.authorization, result: body.result };
    },
    /** Spendable and total balance of an account, after all due work. */
    async balances(account: string) {
      await service.app.settle();
      const { balance, total } = await readBalances(service.app, account, service.callOptions);
      return [balance, total];
    },
    async payment(transactionId: string) {
      const path = `/transactions/${transactionId}`;
      return (await service.app.call('GET', path, undefined, service.callOptions)).body as Json;
    },
    async cardOf(cardId: string) {
      return (await service.app.call('GET', `/cards/${cardId}`, undefined, service.callOptions))
        .body as Json;
    },
    async change(cardId: string, fields: object) {
      const reply = await service.app.call(
        'PATCH',
        `/cards/${cardId}`,
        fields,
        service.callOptions,
      );
      expect(reply).toMatchObject({ status: 200 });
      await service.app.settle();
    },
  };
}
