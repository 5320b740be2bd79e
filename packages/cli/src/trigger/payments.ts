// Scenarios of payouts, deposits and customers.
import { randomBytes } from 'node:crypto';
import { account, advance, customer, EXECUTE_DUE, fund, payment, payout } from './parts.ts';
import type { Call, Scenario } from './step.ts';

const DECLARATION_REQUIRED = 'COUNTERPARTY_DECLARATION_REQUIRED';

const REFUNDED_PAYOUT =
  'The payout is {payment.status}: {payment.failureReason}. ' +
  'The refund is {payment.refund.status}.';

const fundWallet = (address: string): Call => ({
  name: 'deposit',
  operationId: 'sandboxFundInternalAccount',
  input: {
    accountId: '$accounts.data.0.id',
    amount: 5_000_000,
    payerAccountIdentifier: address,
    pendingReason: DECLARATION_REQUIRED,
  },
});

const declaration = (address: string): Call => ({
  name: 'declaration',
  operationId: 'createCustomerExternalAccount',
  input: {
    customerId: '$customer.id',
    currency: 'USDC',
    accountInfo: { accountType: 'ETHEREUM_WALLET', address, vaspName: 'Coinbase' },
  },
});

const randomWalletAddress = () => `0x${randomBytes(20).toString('hex')}`;

const receiveUmaPayment = (senderUmaAddress: string): Call => ({
  name: 'incoming',
  operationId: 'sandboxReceive',
  input: {
    senderUmaAddress,
    customerId: '$customer.id',
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 250_00,
  },
});

export const PAYMENT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'payout.completed',
    summary: 'A payout from a balance to a bank account completes.',
    outcome: 'The payout of {payment.sentAmount} is {payment.status}.',
    steps: () => payout('000', EXECUTE_DUE),
  },
  {
    name: 'payout.failed',
    summary: 'The rail rejects a payout. The funds are released.',
    outcome: 'The payout is {payment.status}: {payment.failureReason}.',
    steps: () => payout('002', EXECUTE_DUE),
  },
  {
    name: 'payout.refunded',
    summary: 'A payout fails after two seconds and is refunded.',
    outcome: REFUNDED_PAYOUT,
    steps: () => payout('004', advance('PT5S')),
  },
  {
    name: 'payout.returned',
    summary: 'A completed payout is returned by the bank after two days.',
    outcome: REFUNDED_PAYOUT,
    steps: () =>
      payout('008', EXECUTE_DUE).flatMap((step) =>
        'advance' in step
          ? [EXECUTE_DUE, { ...payment(), name: 'completed' }, advance('P2D')]
          : [step],
      ),
  },
  {
    name: 'payout.suspended',
    summary: 'A payout fails. Its funds are in suspense.',
    outcome: 'The payout is {payment.status}: {payment.failureReason}.',
    steps: () => payout('007', advance('PT5S')),
  },
  {
    name: 'payout.processing',
    summary: 'A payout in progress completes after six minutes.',
    outcome: 'The payout is {payment.status}. Complete it with `railhead clock advance 6m`.',
    steps: () => payout('003', EXECUTE_DUE),
  },
  {
    name: 'deposit.received',
    summary: 'Funds arrive on the account of a customer.',
    outcome: 'The balance of the account is {funding.balance}.',
    steps: () => [customer(), account(), fund()],
  },
  {
    name: 'deposit.held',
    summary: 'A deposit from an undeclared wallet is held.',
    outcome: 'The deposit is held: balance {deposit.totalBalance}, available {deposit.balance}.',
    steps: () => [customer(), account('USDC'), fundWallet(randomWalletAddress())],
  },
  {
    name: 'deposit.released',
    summary: 'A held deposit is released when its wallet is declared.',
    outcome: 'The available balance is {released.balance}.',
    steps() {
      const address = randomWalletAddress();
      return [
        ...[customer(), account('USDC'), fundWallet(address), declaration(address), EXECUTE_DUE],
        { name: 'released', operationId: 'getInternalAccountById', input: { id: '$deposit.id' } },
      ];
    },
  },
  {
    name: 'uma.received',
    summary: 'A UMA payment arrives. The webhook endpoint approves or rejects it.',
    outcome: 'The payment is {payment.status}.',
    steps: () => [
      ...[customer(), account(), receiveUmaPayment('$success.usd@sandbox.uma.money')],
      ...[advance('PT6S'), payment('$incoming.id')],
    ],
  },
  {
    name: 'kyc.approved',
    summary: 'The identity of a customer is verified.',
    outcome: 'The customer is {customer.kycStatus}.',
    steps: () => [customer()],
  },
  {
    name: 'kyc.pending',
    summary: 'The identity of a customer is under review.',
    outcome: 'The customer is {customer.kycStatus}.',
    steps: () => [customer('Amara Okafor 001')],
  },
  {
    name: 'kyc.rejected',
    summary: 'The identity of a customer is rejected.',
    outcome: 'The customer is {customer.kycStatus}.',
    steps: () => [customer('Amara Okafor 002')],
  },
];
