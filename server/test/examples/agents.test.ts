// Examples of agents: operations of a platform on them, and their own operations.
import { describe } from 'vitest';
import { balanceOf, createPerson, createUsAccount } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

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

/** An agent that is not connected to a program. */
async function recordUnconnectedAgent(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const { agent } = await recorder.record('createAgent', 'read-only', {
    summary: 'A read-only agent',
    body: {
      name: 'Bookkeeping',
      customerId: customer.id,
      policy: { ...POLICY, permissions: ['VIEW_TRANSACTIONS'] },
    },
  });
  await recorder.record('regenerateAgentDeviceCode', 'new-code', {
    summary: 'Replace a device code that has expired',
    params: { agentId: agent.id },
  });
}

/** A customer with 1,000.00 USD and a bank account, and a connected agent. */
async function connectAgent(recorder: ExampleRecorder) {
  const { app } = recorder;
  const customer = await createPerson(recorder);
  const account = await balanceOf(recorder, customer.id, 'USD');
  await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: 1_000_00 });
  const bank = await createUsAccount(recorder, customer.id);
  const { agent, deviceCode } = await recorder.record('createAgent', 'with-approval', {
    summary:
      'An agent that pays up to 100.00 USD without approval and up to 500.00 USD with approval',
    body: { name: 'Invoice assistant', customerId: customer.id, policy: POLICY },
  });
  const params = { code: deviceCode.code };
  await recorder.record('getAgentDeviceCodeStatus', 'waiting', {
    summary: 'A device code that was not redeemed yet',
    params,
  });
  const { accessToken } = await recorder.record('redeemAgentDeviceCode', 'redeemed', {
    summary: 'The agent exchanges its device code for an access token',
    params,
    platform: null,
  });
  const headers = { authorization: `Bearer ${accessToken}` };
  return {
    agentId: agent.id as string,
    customerId: customer.id as string,
    account,
    bank,
    agentCall: { platform: null, headers },
  };
}

type ConnectedAgent = Awaited<ReturnType<typeof connectAgent>>;

async function recordReads(recorder: ExampleRecorder, { agentCall, bank }: ConnectedAgent) {
  const { record } = recorder;
  await record('getAgentMe', 'self', { summary: 'An agent with its policy', ...agentCall });
  await record('agentListInternalAccounts', 'all', {
    summary: 'Balances that the agent may use',
    ...agentCall,
  });
  await record('agentListExternalAccounts', 'all', {
    summary: 'Accounts that the agent may pay',
    ...agentCall,
  });
  await record('agentGetExternalAccount', 'one', {
    summary: 'An account that the agent may pay',
    params: { externalAccountId: bank.id },
    ...agentCall,
  });
  await record('agentListTransactions', 'newest', {
    summary: 'Transactions of the customer of the agent',
    query: { limit: '1' },
    ...agentCall,
  });
}

async function recordAgentPayments(
  recorder: ExampleRecorder,
  { agentCall, account, bank, agentId }: ConnectedAgent,
) {
  const { record } = recorder;
  const body = { source: { accountId: account.id }, destination: { accountId: bank.id } };
  const executedTransfer = await record('agentCreateTransferOut', 'within-policy', {
    summary: 'A transfer within the policy',
    body: { ...body, amount: 50_00 },
    ...agentCall,
  });
  await record('agentGetTransaction', 'transfer', {
    summary: 'A transaction of the customer of the agent',
    params: { transactionId: executedTransfer.transaction.id },
    ...agentCall,
  });
  await record('agentCreateTransferIn', 'pull', {
    summary: 'Debit the bank account by 25.00 USD',
    body: { source: { accountId: bank.id }, destination: { accountId: account.id }, amount: 25_00 },
    ...agentCall,
  });
  const pendingActions = [];
  for (const amount of [150_00, 200_00])
    pendingActions.push(
      await record('agentCreateTransferOut', 'needs-approval', {
        summary: 'A transfer that needs an approval',
        body: { ...body, amount },
        ...agentCall,
      }),
    );
  await record('agentGetAction', 'waiting', {
    summary: 'An action that needs an approval',
    params: { actionId: pendingActions[0].id },
    ...agentCall,
  });
  await record('agentListActions', 'waiting', {
    summary: 'Actions of the agent',
    query: { limit: '1' },
    ...agentCall,
  });
  await record('listAgentApprovals', 'waiting', { summary: 'Actions that need an approval' });
  await record('approveAgentAction', 'approved', {
    summary: 'Approve an action',
    params: { agentId, actionId: pendingActions[0].id },
  });
  await record('rejectAgentAction', 'rejected', {
    summary: 'Reject an action',
    params: { agentId, actionId: pendingActions[1].id },
    body: { reason: 'Not budgeted' },
  });
}

async function recordQuotes(
  recorder: ExampleRecorder,
  { agentCall, customerId, account, bank }: ConnectedAgent,
) {
  const quote = await recorder.record('agentCreateQuote', 'to-bank', {
    summary: 'A quote to a bank account',
    body: {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 20_00,
    },
    ...agentCall,
  });
  const params = { quoteId: quote.id };
  await recorder.record('agentGetQuote', 'pending', {
    summary: 'A quote of the agent',
    params,
    ...agentCall,
  });
  await recorder.record('agentExecuteQuote', 'executed', {
    summary: 'Execute a quote',
    params,
    ...agentCall,
  });
  const umaAddress = '$success.eur@sandbox.uma.money';
  const { lookupId } = await recorder.record('lookupUma', 'before-a-quote-of-an-agent', {
    summary: 'Discover a payee by UMA address before a quote of an agent',
    params: { receiverUmaAddress: umaAddress },
    query: { customerId },
  });
  await recorder.record('agentCreateQuote', 'to-uma', {
    summary: 'A quote to a UMA address',
    body: {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      lookupId,
      destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' },
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 20_00,
    },
    ...agentCall,
  });
}

async function recordPayees(recorder: ExampleRecorder, { agentCall }: ConnectedAgent) {
  const { id } = await recorder.record('agentCreateExternalAccount', 'bank', {
    summary: 'Register a bank account for the customer of the agent',
    body: {
      currency: 'USD',
      accountInfo: {
        accountType: 'USD_ACCOUNT',
        accountNumber: '000987654321',
        routingNumber: '021000021',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Jonas Petersen' },
      },
    },
    ...agentCall,
  });
  await recorder.record('agentDeleteExternalAccount', 'deleted', {
    summary: 'Delete an account that the agent registered',
    params: { externalAccountId: id },
    ...agentCall,
  });
}

async function recordLifecycle(recorder: ExampleRecorder) {
  const agent = await connectAgent(recorder);
  await recordReads(recorder, agent);
  await recordAgentPayments(recorder, agent);
  await recordQuotes(recorder, agent);
  await recordPayees(recorder, agent);
  const params = { agentId: agent.agentId };
  const { record } = recorder;
  await record('getAgentById', 'connected', { summary: 'A connected agent', params });
  await record('listAgents', 'all', { summary: 'All agents', query: { limit: '1' } });
  await record('updateAgentPolicy', 'ask-always', {
    summary: 'Require an approval for each payment',
    params,
    body: { defaultExecutionMode: 'APPROVAL_REQUIRED' },
  });
  await record('updateAgent', 'pause', {
    summary: 'Pause an agent',
    params,
    body: { isPaused: true },
  });
  await record('deleteAgent', 'deleted', { summary: 'Delete an agent', params });
}

describe('examples of agents', () => {
  examples('agents', { recordUnconnectedAgent, recordLifecycle });
});
