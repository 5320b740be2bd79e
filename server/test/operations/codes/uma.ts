// Error codes of UMA receivers and of quotes. The sandbox has an address for each error of another
// UMA provider or of the connection to it.
import { UMA_SCRIPTS } from '../../../src/connectors/sandbox/uma/uma-addresses.ts';
import { createFundedCustomer, findInternalAccount } from '../../kit/app/fixtures.ts';
import { type CodeFixture, type Provocation, provocation } from './kit.ts';

const HOST = 'sandbox.uma.money';

/** Requests a payee discovery for a new customer. */
async function discover({ app, call }: CodeFixture, receiver: string) {
  const { person } = await createFundedCustomer(app);
  return call('GET', `/receiver/uma/${receiver}?customerId=${person.id}`);
}

async function pay(fixture: CodeFixture, receiver: string) {
  const { person, account } = await createFundedCustomer(fixture.app);
  const discovery = await fixture.call('GET', `/receiver/uma/${receiver}?customerId=${person.id}`);
  return fixture.post('/quotes', {
    lookupId: discovery.body.lookupId,
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: receiver, currency: 'USD' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 50_00,
    senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
  });
}

const scriptedCodes = UMA_SCRIPTS.flatMap(({ name, rejectedAt: rejection }): Provocation[] => {
  if (!rejection || name.startsWith('$error.payment.')) return [];
  const address = `${name}@${HOST}`;
  return 'discovery' in rejection
    ? [
        provocation(
          rejection.discovery,
          `Request a payee discovery for \`${address}\``,
          (fixture) => discover(fixture, address),
        ),
      ]
    : [
        provocation(rejection.payRequest, `Quote a payment to \`${address}\``, (fixture) =>
          pay(fixture, address),
        ),
      ];
});

/** Codes that do not depend on the reply of another UMA provider. */
const requestCodes: readonly Provocation[] = [
  provocation(
    'INVALID_UMA_ADDRESS',
    'Request a payee discovery for a receiver that is not a UMA address: `bob`',
    (fixture) => discover(fixture, 'bob'),
  ),
  provocation(
    'USER_NOT_FOUND',
    'Request a payee discovery for an unknown `senderUmaAddress`',
    ({ call }) =>
      call('GET', `/receiver/uma/$success.usd@${HOST}?senderUmaAddress=$unknown@example.com`),
  ),
  provocation('SELF_PAYMENT', 'Quote from an account to itself', async ({ app, post }) => {
    const { account } = await createFundedCustomer(app);
    return post('/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: account.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_00,
    });
  }),
  provocation('LOOKUP_REQUEST_NOT_FOUND', 'Quote with an unknown `lookupId`', async (fixture) => {
    const { account } = await createFundedCustomer(fixture.app);
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
  provocation(
    'AMOUNT_OUT_OF_RANGE',
    'Convert an amount that results in less than one unit',
    async ({ app, post }) => {
      const { person, account } = await createFundedCustomer(app);
      const eurAccount = await findInternalAccount(app, person.id, 'EUR');
      return post('/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: account.id },
        destination: { destinationType: 'ACCOUNT', accountId: eurAccount.id },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: 1,
      });
    },
  ),
];

export const UMA: readonly Provocation[] = [...scriptedCodes, ...requestCodes];
