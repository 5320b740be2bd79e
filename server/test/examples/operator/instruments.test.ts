// Examples of the operator API: external accounts, cards, agents and embedded wallets.
import { describe } from 'vitest';
import { agentFixture } from '../../kit/agents/agents.ts';
import { createCustomer, createExternalAccount, ok, quoteBody } from '../../kit/app/fixtures.ts';
import { cardNetwork } from '../../kit/cards/card-network.ts';
import { cardPayments } from '../../kit/cards/card-payments.ts';
import { cardFixture } from '../../kit/cards/cards.ts';
import { AMARA } from '../../kit/http/example-people.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { walletFixture } from '../../kit/wallets/embedded-wallets.ts';

async function recordExternalAccounts({ service: { app }, client, record }: OperatorRecorder) {
  const person = await createCustomer(app, {}, AMARA);
  const { id: accountId } = await createExternalAccount(app, person.id, 'USD');
  const params = { accountId };
  await record('listExternalAccounts', 'active', {
    summary: 'Active external accounts of a platform',
    query: { platformId: app.platform.id, status: 'ACTIVE' },
  });
  for (const [operationId, name, summary, reason] of [
    ['checkExternalAccount', 'again', 'Check an account again', 'The bank has changed its name'],
    ['reviewExternalAccount', 'fraud', 'Block payments during a review', 'Reported as fraud'],
    ['rejectExternalAccount', 'fraud', 'Reject an account after a review', 'Fraud confirmed'],
    ['reactivateExternalAccount', 'error', 'Activate an account again', 'The report was wrong'],
    ['clearExternalAccount', 'verified', 'Permit payments after a review', 'Account verified'],
    ['disableExternalAccount', 'closed', 'Deactivate an account', 'Closed at the bank'],
  ] as const) {
    if (operationId === 'clearExternalAccount')
      ok(await client.call('POST', `/external-accounts/${accountId}/review`, { body: {} }), 200);
    await record(operationId, name, { summary, params, body: { reason } });
    await app.advance(60_000);
  }
  await record('listExternalAccountActions', 'first', {
    summary: 'The first actions on an account',
    params,
    query: { limit: '3' },
  });
}

async function recordCards({ service: { app }, record }: OperatorRecorder) {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder({ funds: 50_00, ...AMARA });
  const card = await fixture.createCard(holder, { platformCardId: 'card-3001-000' });
  const params = { cardId: card.id as string };
  const network = cardNetwork(app);
  await network.request(card.id, 12_34);
  await app.advance(60_000);
  await network.request(card.id, 100_00);
  ok(await app.call('POST', `/cards/${card.id}/reveal`), 200);
  const query = { cardId: card.id as string };
  await record('searchCards', 'of-customer', {
    summary: 'Cards of a customer',
    query: { customerId: holder.customer.id },
  });
  await record('getCardDetails', 'active', { summary: 'An active virtual card', params });
  await record('listCardDecisions', 'of-card', {
    summary: 'A declined and an approved authorization',
    query,
  });
  await record('listCardReveals', 'of-card', { summary: 'Reveals of a card number', query });
  await record('closeCard', 'stolen', {
    summary: 'Close a stolen card',
    params,
    body: { reason: 'Reported as stolen' },
  });
}

async function recordCardPayments({ service: { app }, record }: OperatorRecorder) {
  const payments = cardPayments(app);
  /** A payment of 120.00, of which 20.00 could not be debited from the account. */
  const createException = async () => {
    const payment = await payments.startPayment({ amount: 100_00, funds: 100_00 });
    await payment.notify({ kind: 'CLEARING', amount: 120_00n });
    await app.advance(60_000);
    return { transactionId: payment.id };
  };
  const [collected, writtenOff] = [await createException(), await createException()];
  await record('listCardExceptions', 'of-platform', {
    summary: 'Card payments that need a decision',
    query: { platformId: app.platform.id },
  });
  await record('resolveCardException', 'collect', {
    summary: 'Debit the missing amount, which the account then owes',
    params: collected,
    body: { outcome: 'collect', reason: 'Agreed with the platform' },
  });
  await record('resolveCardException', 'write-off', {
    summary: 'Write off the missing amount',
    params: writtenOff,
    body: { outcome: 'write-off', reason: 'The customer has died' },
  });
  // The suffix of the descriptor selects debits that remain in progress.
  const pending = { descriptor: 'Corner Shop 005', amount: 25_00, funds: 100_00 };
  const [completed, failed] = [
    await payments.startPayment(pending),
    await payments.startPayment(pending),
  ];
  await record('listFundingDebits', 'of-platform', {
    summary: 'Funding debits in progress',
    query: { platformId: app.platform.id },
  });
  await record('resolveFundingDebit', 'completed', {
    summary: 'The issuer has debited the funds',
    params: { transactionId: completed.id },
    body: { outcome: 'completed', reason: 'Confirmed by the issuer' },
  });
  await record('resolveFundingDebit', 'failed', {
    summary: 'The issuer has not debited the funds',
    params: { transactionId: failed.id },
    body: { outcome: 'failed', number: 1, reason: 'Rejected by the issuer' },
  });
  await app.settle();
}

async function recordAgents({ service: { app }, record }: OperatorRecorder) {
  const agent = await agentFixture(app).createAgent();
  const payee = await createExternalAccount(app, agent.customer.id, 'USD');
  ok(await agent.call('POST', '/agents/me/quotes', quoteBody(agent.usd, payee.id, 30_00)), 201);
  const params = { agentId: agent.id };
  ok(await app.call('PATCH', `/agents/${agent.id}`, { name: 'Travel assistant' }), 200);
  await record('searchAgents', 'of-platform', {
    summary: 'Agents of a platform',
    query: { platformId: app.platform.id },
  });
  await record('getAgentDetails', 'active', { summary: 'An active agent', params });
  await record('pauseAgent', 'unusual', {
    summary: 'Pause an agent with unusual payments',
    params,
    body: { reason: 'Unusual payments' },
  });
  await app.advance(60_000);
  await record('resumeAgent', 'confirmed', {
    summary: 'Permit the payments of the agent again',
    params,
    body: { reason: 'Confirmed by the customer' },
  });
  await record('listAgentAuditEntries', 'of-agent', {
    summary: 'The latest entries of an agent',
    query: { agentId: agent.id, limit: '3' },
  });
}

async function recordWallets({ service: { app }, record }: OperatorRecorder) {
  const fixture = walletFixture(app);
  const { accountId, customer } = await fixture.createEmailAndSmsWallet();
  await record('listWalletKeys', 'both-environments', {
    summary: 'Public keys of both environments',
  });
  await record('searchWallets', 'of-customer', {
    summary: 'Wallets of a customer',
    query: { customerId: customer.id },
  });
  const { data } = await record('listWalletAuthorizations', 'latest', {
    summary: 'The latest signed requests of a wallet',
    params: { accountId },
    query: { limit: '2' },
  });
  await record('getWalletAuthorization', 'session', {
    summary: 'A signed request with its payload',
    params: { authorizationId: data[0].authorizationId },
  });
}

async function recordRecoveries({ service: { app }, record }: OperatorRecorder) {
  const owner = { ...AMARA, phoneNumber: '+15035550142' };
  const { accountId } = await walletFixture(app).createWalletCustomer(owner);
  const params = { accountId };
  const recovery = await record('startWalletRecovery', 'sms', {
    summary: 'The owner has lost access to the mailbox',
    params,
    body: { type: 'SMS_OTP', reason: 'Lost the mailbox. Identified in a video call' },
  });
  await record('getWalletDetails', 'recovering', { summary: 'A wallet with a recovery', params });
  await record('listWalletRecoveries', 'waiting', {
    summary: 'Recoveries in their waiting period',
    query: { platformId: app.platform.id, status: 'WAITING' },
  });
  await record('cancelWalletRecovery', 'objection', {
    summary: 'Cancel a recovery',
    params: { recoveryId: recovery.recoveryId },
    body: { reason: 'The owner has found the password' },
  });
}

const WALLET_RECOVERY_MS = 48 * 3_600_000;

describe('examples of the operator API: instruments', () => {
  operatorExamples(
    'instruments',
    {
      recordExternalAccounts,
      recordCards,
      recordCardPayments,
      recordAgents,
      recordWallets,
      recordRecoveries,
    },
    {
      options: { walletRecoveryMs: WALLET_RECOVERY_MS },
      // The keys are derived from the master key of the tests.
      replacements: [[/"04[0-9a-f]{128}"/g, `"04${'0123456789abcdef'.repeat(8)}"`]],
    },
  );
});
