// Cards on a production platform with an issuer that is connected in the composition. The issuer
// receives the network handler when the server is composed. Messages of the issuer create the card
// payments.
import { expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  ok,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import type { CardNetworkHandler, IssuerPort } from '../../connectors/ports/cards.ts';

/** An issuer: the states that it received, and its network handler. */
function createTestIssuer() {
  const receivedStates: string[] = [];
  const connection: { handler?: CardNetworkHandler } = {};
  const port: IssuerPort = {
    connect: (networkHandler) => {
      connection.handler = networkHandler;
    },
    issue: async () => ({ state: 'pending', checkAfterMs: 1_000 }),
    check: async ({ id }) => ({
      state: 'issued',
      card: {
        brand: 'MASTERCARD',
        last4: '4444',
        expMonth: 12,
        expYear: 2030,
        issuerRef: `acme-${id}`,
        processorRef: 'acme',
        secret: 'vault-7',
      },
    }),
    change: async ({ issuerRef, state }) => void receivedStates.push(`${issuerRef} ${state}`),
    details: async () => ({ number: '5555', code: '000', expMonth: 12, expYear: 2030 }),
    debitFunding: async () => ({ state: 'pending', checkAfterMs: 2_000 }),
    checkFundingDebit: async () => ({ state: 'confirmed' }),
  };
  return { port, receivedStates, connection };
}

const issuer = createTestIssuer();
const app = testApp({ connectors: { production: { issuer: issuer.port } } });

it('a production card is issued, used and closed with a connected issuer', async () => {
  const platformOptions = { platform: app.production };
  const runCommand = commandRunner(app);
  const person = await createCustomer(app, platformOptions);
  expect((await runCommand(['verifications', 'approve', person.id])).err).toBe('');
  const account = await findInternalAccount(app, person.id, 'USD', platformOptions);
  const depositArguments = ['deposits', 'record', '--account', account.id, '--currency', 'USD'];
  const depositResult = await runCommand([
    ...depositArguments,
    '--amount',
    '100.00',
    '--reference',
    'BANK-1',
  ]);
  expect(depositResult.err).toBe('');

  const body = { cardholderId: person.id, form: 'VIRTUAL', fundingSources: [account.id] };
  const card = ok(await app.call('POST', '/cards', body, platformOptions), 201);
  await app.settle();
  expect(
    ok(await app.call('GET', `/cards/${card.id}`, undefined, platformOptions), 200).state,
  ).toBe('PROCESSING');
  await app.advance(1_000);
  const issuedCard = ok(
    await app.call('GET', `/cards/${card.id}`, undefined, platformOptions),
    200,
  );
  expect(issuedCard).toMatchObject({ state: 'ACTIVE', brand: 'MASTERCARD', last4: '4444' });

  const { handler } = issuer.connection;
  if (!handler) throw new Error('The issuer is not connected.');
  const networkRequest = {
    id: 'network-1',
    token: 'network-token-1',
    cardId: card.id,
    kind: 'AUTHORIZATION',
    amount: 40_00n,
    currency: 'USD',
    merchant: { descriptor: 'Corner shop' },
  } as const;
  const decision = await handler.authorize(networkRequest, app.effects.now() + 1_000);
  expect(decision).toMatchObject({ approved: true });
  expect(await readBalances(app, account.id, platformOptions)).toEqual({
    balance: 60_00,
    total: 100_00,
  });
  await app.advance(2_000);
  expect(await readBalances(app, account.id, platformOptions)).toEqual({
    balance: 60_00,
    total: 60_00,
  });
  await handler.applyNotice({
    id: 'network-2',
    token: networkRequest.token,
    kind: 'CLEARING',
    amount: 40_00n,
  });
  const list = ok(
    await app.call('GET', '/transactions?type=CARD', undefined, platformOptions),
    200,
  );
  expect(list.data).toMatchObject([{ status: 'SETTLED', settledAmount: { amount: 40_00 } }]);

  ok(await app.call('PATCH', `/cards/${card.id}`, { state: 'CLOSED' }, platformOptions), 200);
  await app.settle();
  expect(issuer.receivedStates).toEqual([`acme-${card.id} CLOSED`]);
  const laterRequest = { ...networkRequest, id: 'network-3', token: 'network-token-3' };
  expect(await handler.authorize(laterRequest, app.effects.now() + 1_000)).toEqual({
    approved: false,
    reason: 'CARD_NOT_ACTIVE',
  });
});
