// Examples of agents: operations of a platform on them, and their own operations.
import { describe } from 'vitest';
import { balanceOf, bankInTheUs, createPerson } from '../kit/http/example-people.ts';
import { examples, type Stage } from '../kit/http/examples.ts';

const POLICY = {
  permissions: [
    'VIEW_TRANSACTIONS',
    'CREATE_TRANSFERS',
    'CREATE_QUOTES',
    'EXECUTE_QUOTES',
    'MANAGE_EXTERNAL_ACCOUNTS',
  ],
  defaultExecutionMode: 'AUTO',
  spendingLimits: { currency: 'USD', perTransactionLimit: 500_00 },
  approvalThresholds: { currency: 'USD', amount: 100_00 },
};

/** An agent that no program has connected to yet. */
async function unconnected(stage: Stage) {
  const customer = await createPerson(stage);
  const { agent } = await stage.show('createAgent', 'read-only', {
    summary: 'A read-only agent',
    body: {
      name: 'Bookkeeping',
      customerId: customer.id,
      policy: { ...POLICY, permissions: ['VIEW_TRANSACTIONS'] },
    },
  });
  await stage.show('regenerateAgentDeviceCode', 'new-code', {
    summary: 'Replace a device code that has expired',
    params: { agentId: agent.id },
  });
}

/** A customer with 1,000.00 USD and a bank account, and a connected agent. */
async function connected(stage: Stage) {
  const { app } = stage;
  const customer = await createPerson(stage);
  const account = await balanceOf(stage, customer.id, 'USD');
  await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: 1_000_00 });
  const bank = await bankInTheUs(stage, customer.id);
  const { agent, deviceCode } = await stage.show('createAgent', 'with-approval', {
    summary: 'An agent that pays up to 100.00 USD alone and up to 500.00 USD with approval',
    body: { name: 'Invoice assistant', customerId: customer.id, policy: POLICY },
  });
  const params = { code: deviceCode.code };
  await stage.show('getAgentDeviceCodeStatus', 'waiting', {
    summary: 'A device code that was not redeemed yet',
    params,
  });
  const { accessToken } = await stage.show('redeemAgentDeviceCode', 'redeemed', {
    summary: 'The agent exchanges its device code for an access token',
    params,
    as: null,
  });
  const headers = { authorization: `Bearer ${accessToken}` };
  return { agentId: agent.id as string, account, bank, own: { as: null, headers } };
}

type Connected = Awaited<ReturnType<typeof connected>>;

async function reads(stage: Stage, { own, bank }: Connected) {
  const { show } = stage;
  await show('getAgentMe', 'self', { summary: 'The agent itself, with its policy', ...own });
  await show('agentListInternalAccounts', 'all', { summary: 'Balances it may use', ...own });
  await show('agentListExternalAccounts', 'all', { summary: 'Accounts it may pay', ...own });
  await show('agentGetExternalAccount', 'one', {
    summary: 'An account it may pay',
    params: { externalAccountId: bank.id },
    ...own,
  });
  await show('agentListTransactions', 'newest', {
    summary: 'Transactions of its customer',
    query: { limit: '1' },
    ...own,
  });
}

async function payAsAgent(stage: Stage, { own, account, bank, agentId }: Connected) {
  const { show } = stage;
  const body = { source: { accountId: account.id }, destination: { accountId: bank.id } };
  const executed = await show('agentCreateTransferOut', 'within-policy', {
    summary: 'A transfer within the policy',
    body: { ...body, amount: 50_00 },
    ...own,
  });
  await show('agentGetTransaction', 'transfer', {
    summary: 'A transaction of its customer',
    params: { transactionId: executed.transaction.id },
    ...own,
  });
  await show('agentCreateTransferIn', 'pull', {
    summary: 'Pull 25.00 USD from the bank account',
    body: { source: { accountId: bank.id }, destination: { accountId: account.id }, amount: 25_00 },
    ...own,
  });
  const pendingActions = [];
  for (const amount of [150_00, 200_00])
    pendingActions.push(
      await show('agentCreateTransferOut', 'needs-approval', {
        summary: 'A transfer that waits for an approval',
        body: { ...body, amount },
        ...own,
      }),
    );
  await show('agentGetAction', 'waiting', {
    summary: 'An action that waits for an approval',
    params: { actionId: pendingActions[0].id },
    ...own,
  });
  await show('agentListActions', 'waiting', {
    summary: 'Its actions',
    query: { limit: '1' },
    ...own,
  });
  await show('listAgentApprovals', 'waiting', { summary: 'Actions that wait for an approval' });
  await show('approveAgentAction', 'approved', {
    summary: 'Approve an action',
    params: { agentId, actionId: pendingActions[0].id },
  });
  await show('rejectAgentAction', 'rejected', {
    summary: 'Reject an action',
    params: { agentId, actionId: pendingActions[1].id },
    body: { reason: 'Not budgeted' },
  });
}

async function quotes(stage: Stage, { own, account, bank }: Connected) {
  const quote = await stage.show('agentCreateQuote', 'to-bank', {
    summary: 'A quote to a bank account',
    body: {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 20_00,
    },
    ...own,
  });
  const params = { quoteId: quote.id };
  await stage.show('agentGetQuote', 'pending', { summary: 'A quote of its own', params, ...own });
  await stage.show('agentExecuteQuote', 'executed', { summary: 'Execute a quote', params, ...own });
}

async function payees(stage: Stage, { own }: Connected) {
  const { id } = await stage.show('agentCreateExternalAccount', 'bank', {
    summary: 'Register a bank account for its customer',
    body: {
      currency: 'USD',
      accountInfo: {
        accountType: 'USD_ACCOUNT',
        accountNumber: '000987654321',
        routingNumber: '021000021',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Jonas Petersen' },
      },
    },
    ...own,
  });
  await stage.show('agentDeleteExternalAccount', 'deleted', {
    summary: 'Delete an account that it registered',
    params: { externalAccountId: id },
    ...own,
  });
}

async function lifecycle(stage: Stage) {
  const agent = await connected(stage);
  await reads(stage, agent);
  await payAsAgent(stage, agent);
  await quotes(stage, agent);
  await payees(stage, agent);
  const params = { agentId: agent.agentId };
  const { show } = stage;
  await show('getAgentById', 'connected', { summary: 'A connected agent', params });
  await show('listAgents', 'all', { summary: 'All agents', query: { limit: '1' } });
  await show('updateAgentPolicy', 'ask-always', {
    summary: 'Require an approval for each payment',
    params,
    body: { defaultExecutionMode: 'APPROVAL_REQUIRED' },
  });
  await show('updateAgent', 'pause', { summary: 'Pause it', params, body: { isPaused: true } });
  await show('deleteAgent', 'deleted', { summary: 'Delete an agent', params });
}

describe('examples of agents', () => {
  examples('agents', { unconnected, lifecycle });
});
