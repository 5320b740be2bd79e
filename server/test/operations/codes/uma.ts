// Codes that another UMA provider, or the way to it, answers with: the sandbox has an address for each.
import { UMA_SCRIPTS } from '../../../src/connectors/sandbox/uma/uma-addresses.ts';
import { fundedCustomer, internalAccount } from '../../kit/app/fixtures.ts';
import { type CodeFixture, type Way, way } from './kit.ts';

const HOST = 'sandbox.uma.money';

/** A way to look up a receiver that counts as its own sender. */
async function lookup({ app, call }: CodeFixture, receiver: string) {
  const { person } = await fundedCustomer(app);
  return call('GET', `/receiver/uma/${receiver}?customerId=${person.id}`);
}

async function pay(fixture: CodeFixture, receiver: string) {
  const { person, account } = await fundedCustomer(fixture.app);
  const found = await fixture.call('GET', `/receiver/uma/${receiver}?customerId=${person.id}`);
  return fixture.post('/quotes', {
    lookupId: found.body.lookupId,
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: receiver, currency: 'USD' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 50_00,
    senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
  });
}

const scripted = UMA_SCRIPTS.flatMap(({ name, refusal }): Way[] => {
  if (!refusal || name.startsWith('$error.payment.')) return [];
  const address = `${name}@${HOST}`;
  return 'lookup' in refusal
    ? [way(refusal.lookup, `Look up \`${address}\``, (fixture) => lookup(fixture, address))]
    : [
        way(refusal.payRequest, `Quote a payment to \`${address}\``, (fixture) =>
          pay(fixture, address),
        ),
      ];
});

export const UMA: readonly Way[] = [
  ...scripted,
  way('INVALID_UMA_ADDRESS', 'Look up a receiver that is no UMA address: `bob`', (fixture) =>
    lookup(fixture, 'bob'),
  ),
  way('USER_NOT_FOUND', 'Request a payee discovery for an unknown `senderUmaAddress`', ({ call }) =>
    call('GET', `/receiver/uma/$success.usd@${HOST}?senderUmaAddress=$nobody@example.com`),
  ),
  way('SELF_PAYMENT', 'Quote from an account to itself', async ({ app, post }) => {
    const { account } = await fundedCustomer(app);
    return post('/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: account.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_00,
    });
  }),
  way('LOOKUP_REQUEST_NOT_FOUND', 'Quote with a `lookupId` that is none', async (fixture) => {
    const { account } = await fundedCustomer(fixture.app);
    return fixture.post('/quotes', {
      lookupId: 'Lookup:x',
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: {
        destinationType: 'UMA_ADDRESS',
        umaAddress: `$success.usd@${HOST}`,
        currency: 'USD',
      },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 50_00,
    });
  }),
  way('AMOUNT_OUT_OF_RANGE', 'Convert less than would be one unit', async ({ app, post }) => {
    const { person, account } = await fundedCustomer(app);
    const euros = await internalAccount(app, person.id, 'EUR');
    return post('/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: euros.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1,
    });
  }),
];
