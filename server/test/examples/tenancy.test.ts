// Examples of the platform itself: its configuration, API tokens and test webhooks.
import { describe } from 'vitest';
import { examples, type Stage } from '../kit/http/examples.ts';

async function configuration(stage: Stage) {
  await stage.show('getPlatformConfig', 'current', {
    summary: 'The configuration of the platform',
  });
  await stage.show('updatePlatformConfig', 'fees', {
    summary: 'Charge 0.50 USD plus 1 % on each conversion from USD',
    body: {
      feeConfigs: [
        {
          feeType: 'CROSS_CURRENCY_TRANSACTION',
          sourceCurrency: 'USD',
          variableFeeBps: 100,
          fixedFee: { amount: 50, currency: 'USD' },
        },
      ],
    },
  });
}

async function testWebhooks(stage: Stage) {
  await stage.show('sendTestWebhook', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
  await stage.show('sendTestEvent', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
}

async function tokens(stage: Stage) {
  const { id: tokenId } = await stage.show('createToken', 'read-only', {
    summary: 'A token that can read and change nothing',
    body: { name: 'Reporting', permissions: ['VIEW'] },
  });
  await stage.show('listTokens', 'all', {
    summary: 'All tokens of the platform',
    query: { limit: '2' },
  });
  await stage.show('getTokenById', 'one', { summary: 'One token', params: { tokenId } });
  await stage.show('deleteTokenById', 'revoked', {
    summary: 'Revoke a token; it stops working at once',
    params: { tokenId },
  });
}

async function fixtures(stage: Stage) {
  await stage.show('createSandboxFixtures', 'steps', {
    summary: 'A customer with 500.00 USD',
    body: {
      seed: 'checkout tests',
      steps: [
        {
          name: 'ada',
          operationId: 'createCustomer',
          body: { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
        },
        {
          name: 'usd',
          operationId: 'listCustomerInternalAccounts',
          query: { customerId: '$ada.id', currency: 'USD' },
        },
        {
          operationId: 'sandboxFundInternalAccount',
          params: { accountId: '$usd.data.0.id' },
          body: { amount: 500_00 },
        },
      ],
    },
  });
  await stage.show('createSandboxFixtures', 'cards', {
    summary: 'A built-in world: cards in each state',
    body: { world: 'cards' },
  });
  await stage.show('resetSandbox', 'data', { summary: 'Remove all data' });
  await stage.show('resetSandbox', 'everything', {
    summary: 'Reset the configuration and the tokens as well',
    body: { including: ['CONFIGURATION', 'TOKENS'] },
  });
}

describe('examples of the platform', () => {
  examples('tenancy', { configuration, testWebhooks, tokens, fixtures });
});
