// The world `deposits`: incoming payments in each status.
import { accountOf, advance, fund, person, setStatus, usAccount } from './builders.ts';
import type { Step } from './step.ts';

/** Lists the latest incoming payment of the customer. References to it use `$NAMEList.data.0`. */
const incomingPaymentsOf = (name: string): Step => ({
  name: `${name}List`,
  operationId: 'listTransactions',
  query: { customerId: '$receiver.id', type: 'INCOMING', limit: 1 },
});

const paymentIn = (name: string): Step => ({
  name,
  operationId: 'getTransactionById',
  params: { transactionId: `$${name}List.data.0.id` },
});

const heldDepositSteps = (name: string): Step[] => [
  {
    operationId: 'sandboxFundInternalAccount',
    params: { accountId: '$receiverUsd.data.0.id' },
    body: { amount: 250_00, pendingReason: 'COMPLIANCE_REVIEW' },
  },
  incomingPaymentsOf(name),
];

/** The suffix of the account selects a debit that is PROCESSING for 30 seconds. */
const DEBIT: Step[] = [
  usAccount('payerAccount', 'receiver', '000123456005'),
  {
    operationId: 'createTransferIn',
    body: {
      source: { accountId: '$payerAccount.id' },
      destination: { accountId: '$receiverUsd.data.0.id' },
      amount: 250_00,
    },
  },
  incomingPaymentsOf('processing'),
  // The bank accepts the debit.
  advance('PT1S'),
];

export const DEPOSITS: Step[] = [
  person('receiver', 'Amara Okafor'),
  accountOf('receiverUsd', 'receiver', 'USD'),
  fund('receiverUsd', 1_000_00),
  incomingPaymentsOf('completed'),
  ...['held', 'released', 'rejected'].flatMap(heldDepositSteps),
  setStatus('$releasedList.data.0.id', 'COMPLETED'),
  setStatus('$rejectedList.data.0.id', 'FAILED'),
  ...DEBIT,
  ...['completed', 'held', 'released', 'rejected', 'processing'].map(paymentIn),
];
