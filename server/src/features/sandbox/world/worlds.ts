// Built-in worlds as lists of steps that a client could send.
import { SCENARIOS } from '../scenarios.ts';
import { ACCOUNTS } from './account-world.ts';
import { AGENTS } from './agent-world.ts';
import {
  accountOf,
  advance,
  card,
  fund,
  germanAccount,
  paymentOf,
  payout,
  person,
  quote,
  setStatus,
  usAccount,
} from './builders.ts';
import { CARD_PAYMENTS } from './card-world.ts';
import { DEPOSITS } from './deposit-world.ts';
import { STABLECOINS } from './stablecoin-world.ts';
import type { Step } from './step.ts';

const STARTER: Step[] = [
  person('amara', 'Amara Okafor'),
  accountOf('amaraUsd', 'amara', 'USD'),
  accountOf('amaraEur', 'amara', 'EUR'),
  fund('amaraUsd', 5_000_00),
  usAccount('grace', 'amara', '000123456789'),
  germanAccount('lukas', 'amara', '532013000'),
  ...payout('payoutToLukas', 'amaraUsd', 'lukas', 100_00),
  paymentOf('payoutToLukas'),
  card('amaraCard', 'amara', 'amaraUsd', '000'),
  {
    name: 'bookkeeping',
    operationId: 'createAgent',
    body: {
      name: 'Bookkeeping',
      customerId: '$amara.id',
      policy: {
        permissions: ['VIEW_TRANSACTIONS', 'CREATE_QUOTES', 'EXECUTE_QUOTES'],
        defaultExecutionMode: 'AUTO',
        spendingLimits: { currency: 'USD', perTransactionLimit: 500_00 },
        approvalThresholds: { currency: 'USD', amount: 100_00 },
      },
    },
  },
];

const CUSTOMERS: Step[] = [
  person('approved', 'Amara Okafor'),
  person('pending', 'Amara Okafor 001'),
  person('rejected', 'Amara Okafor 002'),
  person('unverified', 'Amara Okafor 003'),
  person('holdNew', 'Amara Okafor 001'),
  setStatus('$holdNew.id', 'HOLD'),
  { name: 'hold', operationId: 'getCustomerById', params: { customerId: '$holdNew.id' } },
];

/** A customer whose payments need strong authentication. */
const EUROPEAN: Step[] = [
  {
    name: 'european',
    operationId: 'createCustomer',
    body: {
      customerType: 'INDIVIDUAL',
      platformCustomerId: 'european',
      fullName: 'Emmy Noether',
      region: 'DE',
      email: 'emmy@example.com',
      phoneNumber: '+4915112345678',
    },
  },
  { operationId: 'sendCustomerPhoneVerification', params: { customerId: '$european.id' } },
  {
    operationId: 'confirmCustomerPhoneVerification',
    params: { customerId: '$european.id' },
    body: { code: '123456' },
  },
  {
    name: 'europeanLogin',
    operationId: 'startScaLogin',
    query: { customerId: '$european.id' },
    body: { factor: 'SMS_OTP' },
  },
  {
    operationId: 'completeScaLogin',
    query: { customerId: '$european.id' },
    body: {
      factor: 'SMS_OTP',
      challengeId: '$europeanLogin.challengeId',
      code: '123456',
      endUserIpAddress: '203.0.113.7',
    },
  },
  accountOf('europeanEur', 'european', 'EUR'),
  fund('europeanEur', 1_000_00),
  germanAccount('pendingAuthorizationAccount', 'european', '532013000'),
];

/** The suffix of the account number selects the outcome. docs/concepts/sandbox.md lists them. */
const PAYOUTS = [
  ['completed', '000'],
  ['failed', '002'],
  ['processing', '003'],
  ['refunded', '004'],
  ['returned', '005'],
  ['cancelled', '006'],
  ['suspended', '007'],
] as const;

const PAYMENTS: Step[] = [
  person('payer', 'Amara Okafor'),
  accountOf('payerUsd', 'payer', 'USD'),
  fund('payerUsd', 10_000_00),
  ...EUROPEAN,
  ...PAYOUTS.map(([name, suffix]) => germanAccount(`${name}Account`, 'payer', `532013${suffix}`)),
  quote('expired', 'payerUsd', 'completedAccount', 100_00),
  // Longer than the validity of a quote.
  advance('PT6M'),
  ...PAYOUTS.flatMap(([name]) => [...payout(name, 'payerUsd', `${name}Account`, 100_00)]),
  // Longer than the delay of every outcome except `processing`.
  advance('PT1M'),
  ...payout('pendingAuthorization', 'europeanEur', 'pendingAuthorizationAccount', 100_00),
  quote('pending', 'payerUsd', 'completedAccount', 100_00),
  ...[...PAYOUTS.map(([name]) => name), 'expired', 'pendingAuthorization', 'pending'].map(
    paymentOf,
  ),
];

/** The suffix of `platformCardId` selects the outcome. */
const NEW_CARDS = [
  ['active', '000'],
  ['frozen', '000'],
  ['processing', '001'],
  ['closed', '002'],
] as const;

const CARDS: Step[] = [
  person('cardholder', 'Amara Okafor'),
  accountOf('cardholderUsd', 'cardholder', 'USD'),
  fund('cardholderUsd', 5_000_00),
  ...NEW_CARDS.map(([name, suffix]) => card(`${name}New`, 'cardholder', 'cardholderUsd', suffix)),
  // The issuer responds.
  advance('PT1S'),
  {
    operationId: 'updateCardById',
    params: { id: '$frozenNew.id' },
    body: { state: 'FROZEN' },
  },
  ...NEW_CARDS.map(([name]) => ({
    name,
    operationId: 'getCardById',
    params: { id: `$${name}New.id` },
  })),
  ...CARD_PAYMENTS,
];

/** Steps by the name of their world. */
export const WORLDS = {
  starter: STARTER,
  customers: CUSTOMERS,
  payments: PAYMENTS,
  cards: CARDS,
  accounts: ACCOUNTS,
  deposits: DEPOSITS,
  agents: AGENTS,
  stablecoins: STABLECOINS,
} satisfies Record<string, Step[]>;

/** The only world without a list of steps (`../business`). */
export const BUSINESS = 'business';
export const DEFAULT_PAYMENTS = 5_000;
export const MAX_PAYMENTS = 20_000;

const SUMMARIES: Record<keyof typeof WORLDS | typeof BUSINESS, string> = {
  starter: 'A customer with a balance, two external accounts, a payout, a card and an agent.',
  customers: 'Individuals that are approved, pending, rejected, unverified and on hold.',
  payments: 'Outgoing payments in each status, including refunded, returned and canceled payouts.',
  cards: 'Cards that are active, frozen, processing and closed, and payments in each status.',
  accounts:
    'Accounts that are active, frozen, closed, under review, inactive and pending proof of ' +
    'ownership.',
  deposits: 'Incoming payments that are completed, held, released, returned and in progress.',
  agents: 'A paused agent, and actions that are approved, pending, rejected and failed.',
  stablecoins: 'Provider accounts and tokens in each status.',
  business: '150 customers with 5,000 payments of the last 60 days, built in the background.',
};

const namesIn = <T extends object>(record: T) => Object.keys(record) as (keyof T & string)[];

export const WORLD_NAMES = [...namesIn(WORLDS), BUSINESS, ...namesIn(SCENARIOS)] as const;
type WorldName = (typeof WORLD_NAMES)[number];

const isScenario = (name: string): name is keyof typeof SCENARIOS => name in SCENARIOS;

/** The calls of a world. None for a world that is built in the background. */
export function stepsOf(name: WorldName): readonly Step[] {
  if (isScenario(name)) return SCENARIOS[name].steps;
  return name === BUSINESS ? [] : WORLDS[name];
}

/** Descriptions for users who select a world. A scenario has one result, a world has many. */
export const WORLD_LIST = WORLD_NAMES.map((name) => ({
  name,
  kind: isScenario(name) ? ('SCENARIO' as const) : ('WORLD' as const),
  summary: isScenario(name) ? SCENARIOS[name].summary : SUMMARIES[name],
  steps: stepsOf(name).length,
}));
