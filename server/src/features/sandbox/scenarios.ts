// Scenarios: short worlds with one result each. A scenario can be built any number of times.
import {
  accountOf,
  advance,
  fund,
  germanAccount,
  individual,
  paymentOf,
  payout,
} from './world/builders.ts';
import type { Step } from './world/step.ts';

interface Scenario {
  /** Description for users who select the scenario. */
  readonly summary: string;
  readonly steps: readonly Step[];
}

const customer = (fullName = 'Amara Okafor') => individual('customer', fullName);

const FUNDED_CUSTOMER: readonly Step[] = [
  customer(),
  accountOf('account', 'customer', 'USD'),
  fund('account', 1_000_00),
];

/** The suffix of the account number selects the outcome. docs/concepts/sandbox.md lists them. */
const payoutTo = (suffix: string): readonly Step[] => [
  ...FUNDED_CUSTOMER,
  germanAccount('payee', 'customer', `532013${suffix}`),
  ...payout('payment', 'account', 'payee', 100_00),
  paymentOf('payment'),
];

const cardPayment = (amount: number): readonly Step[] => [
  ...FUNDED_CUSTOMER,
  {
    name: 'card',
    operationId: 'createCard',
    body: {
      cardholderId: '$customer.id',
      form: 'VIRTUAL',
      fundingSources: ['$account.data.0.id'],
    },
  },
  // The issuer of the sandbox activates the card after one second.
  advance('PT1S'),
  {
    operationId: 'sandboxSimulateCardAuthorization',
    params: { id: '$card.id' },
    body: {
      amount,
      currency: { code: 'USD' },
      merchant: { descriptor: 'ACME BOOKS', mcc: '5942' },
    },
  },
];

/** By name, as in `railhead trigger`. */
export const SCENARIOS = {
  'payout.completed': {
    summary: 'A payout from a balance to a bank account completes.',
    steps: payoutTo('000'),
  },
  'payout.failed': {
    summary: 'The rail rejects a payout. The funds are released.',
    steps: payoutTo('002'),
  },
  'payout.processing': {
    summary: 'A payout in progress completes after six minutes.',
    steps: payoutTo('003'),
  },
  'payout.refunded': {
    summary: 'A payout fails after two seconds and is refunded.',
    steps: payoutTo('004'),
  },
  'payout.suspended': {
    summary: 'A payout fails. Its funds are in suspense.',
    steps: payoutTo('007'),
  },
  'payout.returned': {
    summary:
      'The bank returns a completed payout two days later. Advance the clock to reach the return.',
    steps: payoutTo('008'),
  },
  'deposit.received': {
    summary: 'Funds arrive on the account of a customer.',
    steps: FUNDED_CUSTOMER,
  },
  'deposit.held': {
    summary: 'A deposit is held for a compliance review.',
    steps: [
      ...FUNDED_CUSTOMER,
      {
        operationId: 'sandboxFundInternalAccount',
        params: { accountId: '$account.data.0.id' },
        body: { amount: 250_00, pendingReason: 'COMPLIANCE_REVIEW' },
      },
    ],
  },
  'kyc.approved': {
    summary: 'The identity of a customer is verified.',
    steps: [customer()],
  },
  'kyc.pending': {
    summary: 'The identity of a customer is under review.',
    steps: [customer('Amara Okafor 001')],
  },
  'kyc.rejected': {
    summary: 'The identity of a customer is rejected.',
    steps: [customer('Amara Okafor 002')],
  },
  'card.authorized': {
    summary: 'A card payment is authorized.',
    steps: cardPayment(25_00),
  },
  'card.declined': {
    summary: 'A card payment above the balance is declined.',
    steps: cardPayment(5_000_00),
  },
} satisfies Record<string, Scenario>;
