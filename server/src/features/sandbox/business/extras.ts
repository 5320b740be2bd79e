// Contents of the world `business` other than regular payments: identity checks in review with documents,
// agents with approvals, a stablecoin, webhook endpoints, and payments in progress.
import type { Time } from '../../../kernel/effects.ts';
import { fund, setStatus, usAccount } from '../world/builders.ts';
import { bill, passport } from './documents.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Action, PlanInput, PlannedStep } from './steps.ts';

export interface Extras extends PlanInput {
  /** Keys of the customers, in the order in which they join. */
  keys: readonly string[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const ADDRESS = {
  line1: '1702 Juniper Avenue',
  city: 'Austin',
  state: 'TX',
  postalCode: '78702',
  country: 'US',
};

/** Name of each applicant, and the age of the application in milliseconds. */
const APPLICANTS = [
  ['Rosalind Achterberg', 5 * HOUR_MS],
  ['Tomás Villaseñor', 9 * HOUR_MS],
  ['Imani Whitlock', 26 * HOUR_MS],
  ['Georg Castellan', 31 * HOUR_MS],
  ['Leila Farrow', 52 * HOUR_MS],
] as const;

/**
 * A person whose check is in review. The suffix of the name selects this result and is removed
 * afterwards.
 */
function applicant([fullName, ageMs]: (typeof APPLICANTS)[number], index: number, until: Time) {
  const key = `applicant-${index + 1}`;
  const birthDate = `19${81 + index}-0${index + 2}-1${index}`;
  const number = `X4${index}71${index}06`;
  const person = { customerType: 'INDIVIDUAL', fullName };
  const steps: PlannedStep[] = [
    {
      name: key,
      operationId: 'createCustomer',
      body: {
        ...person,
        fullName: `${fullName} 001`,
        platformCustomerId: key,
        birthDate,
        nationality: 'US',
        email: `${key}@example.com`,
        idType: 'SSN',
        identifier: `123-45-66${index}1`,
        address: ADDRESS,
      },
    },
    {
      operationId: 'uploadDocument',
      body: {
        documentHolder: `$${key}.id`,
        documentType: 'PASSPORT',
        country: 'US',
        documentNumber: number,
        issuingAuthority: 'Department of State',
      },
      file: passport({ fullName, birthDate, number }),
    },
    {
      operationId: 'uploadDocument',
      body: { documentHolder: `$${key}.id`, documentType: 'UTILITY_BILL', country: 'US' },
      file: bill({ fullName, address: `${ADDRESS.line1}, ${ADDRESS.city}` }),
    },
    { operationId: 'createVerification', body: { customerId: `$${key}.id` } },
    { operationId: 'updateCustomerById', params: { customerId: `$${key}.id` }, body: person },
  ];
  return { at: until - ageMs, owner: key, steps };
}

const BUSINESSES = [
  ['Silverbeck Freight LLC', 14 * HOUR_MS],
  ['Marlowe & Finch Bakery LLC', 75 * HOUR_MS],
] as const;

const EVIDENCE = [
  'UTILITY_BILL',
  'CERTIFICATE_OF_INCORPORATION',
  'SHAREHOLDER_REGISTER',
  'DIRECTOR_REGISTRY',
];

type Business = (typeof BUSINESSES)[number];

function businessApplicant([legalName, ageMs]: Business, index: number, until: Time) {
  const key = `applying-firm-${index + 1}`;
  const owner = `${key}-owner`;
  const birthDate = '1979-05-14';
  const [firstName, lastName] = index ? ['Odette', 'Marlowe'] : ['Warren', 'Silverbeck'];
  // The second business has not sent all documents.
  const evidence = EVIDENCE.slice(index);
  const steps: PlannedStep[] = [
    {
      name: key,
      operationId: 'createCustomer',
      body: {
        customerType: 'BUSINESS',
        platformCustomerId: key,
        address: ADDRESS,
        businessInfo: {
          legalName,
          country: 'US',
          taxId: `12-345${index}789`,
          incorporatedOn: '2021-02-17',
          registrationNumber: `TX-80${index}417001`,
          entityType: 'LLC',
          businessType: 'INFORMATION',
          countriesOfOperation: ['US'],
          purposeOfAccount: 'SUPPLIER_PAYMENTS',
          sourceOfFunds: 'Sales',
        },
      },
    },
    {
      name: owner,
      operationId: 'createBeneficialOwner',
      body: {
        customerId: `$${key}.id`,
        roles: ['UBO', 'CONTROL_PERSON'],
        ownershipPercentage: 60,
        personalInfo: {
          firstName,
          lastName,
          birthDate,
          nationality: 'US',
          address: ADDRESS,
          idType: 'SSN',
          identifier: `123-45-67${index}9`,
        },
      },
    },
    ...evidence.map(
      (documentType): PlannedStep => ({
        operationId: 'uploadDocument',
        body: { documentHolder: `$${key}.id`, documentType, country: 'US' },
        file: bill({ fullName: legalName, address: `${ADDRESS.line1}, ${ADDRESS.city}` }),
      }),
    ),
    {
      operationId: 'uploadDocument',
      body: {
        documentHolder: `$${owner}.id`,
        documentType: 'PASSPORT',
        country: 'US',
        documentNumber: `X51${index}20417`,
        issuingAuthority: 'Department of State',
      },
      file: passport({
        fullName: `${firstName} ${lastName}`,
        birthDate,
        number: `X51${index}20417`,
      }),
    },
    { operationId: 'createVerification', body: { customerId: `$${key}.id` } },
  ];
  return { at: until - ageMs, owner: key, steps };
}

const agentOf = (name: string, customer: string, limit: number): PlannedStep => ({
  name: `agent-${customer}`,
  operationId: 'createAgent',
  body: {
    name,
    customerId: `$${customer}.id`,
    policy: {
      permissions: ['VIEW_TRANSACTIONS', 'CREATE_QUOTES', 'EXECUTE_QUOTES', 'CREATE_TRANSFERS'],
      defaultExecutionMode: 'AUTO',
      spendingLimits: { currency: 'USD', perTransactionLimit: limit },
      approvalThresholds: { currency: 'USD', amount: limit / 4 },
    },
  },
});

/** Agents of three customers. Transfers above a quarter of the transfer limit require approval. */
function agents({ keys, from, until }: Extras, random: SeededRandom): Action[] {
  const names = ['Accounts payable', 'Travel booking', 'Subscriptions'];
  return names.flatMap((name, index) => {
    const key = keys[index] as string;
    const payee = `${key}-agent-payee`;
    const number = `4${random.digits(6)}${random.integer(200, 999)}`;
    const start = from + 2 * DAY_MS;
    const setup: PlannedStep[] = [
      fund(`${key}-USD`, 20_000_00),
      usAccount(payee, key, number),
      agentOf(name, key, 800_00),
    ];
    const transfers = Array.from({ length: 7 }, (_, position): Action => {
      // The latest transfers are above the threshold and await an approval.
      const amount = position > 4 ? random.integer(250, 700) * 100 : random.integer(20, 190) * 100;
      const ageMs = position > 4 ? random.integer(1, 20) * HOUR_MS : random.integer(2, 40) * DAY_MS;
      return {
        at: Math.max(start + HOUR_MS, until - ageMs),
        owner: key,
        steps: [
          {
            operationId: 'agentCreateTransferOut',
            agentId: `$agent-${key}.agent.id`,
            body: {
              source: { accountId: `$${key}-USD.data.0.id` },
              destination: { accountId: `$${payee}.id` },
              amount,
            },
            mayBeRejected: true,
          },
        ],
      };
    });
    return [{ at: start, owner: key, steps: setup }, ...transfers];
  });
}

/** Debits of customers' bank accounts, some of which are returned. */
function debits({ keys, from, until, payments }: Extras, random: SeededRandom): Action[] {
  return Array.from({ length: Math.ceil(payments / 40) }, (_, index): Action => {
    const key = keys[index % Math.ceil(keys.length / 4)] as string;
    const name = `debited-${index}`;
    const suffix = random.is(0.06) ? '005' : random.integer(200, 999);
    return {
      at: from + DAY_MS + Math.floor(random.next() * (until - from - DAY_MS)),
      owner: key,
      steps: [
        usAccount(name, key, `4${random.digits(6)}${suffix}`),
        {
          operationId: 'createTransferIn',
          body: {
            source: { accountId: `$${name}.id` },
            destination: { accountId: `$${key}-USD.data.0.id` },
            amount: random.integer(50, 2_000) * 100,
          },
          mayBeRejected: true,
        },
      ],
    };
  });
}

const COIN_NAME = 'coin';

/** A stablecoin of the platform, with mints and burns. */
function stablecoin({ keys, from, until }: Extras, random: SeededRandom): Action[] {
  const [key = ''] = keys;
  const setup: PlannedStep[] = [
    {
      name: 'issuer',
      operationId: 'linkStablecoinProviderAccount',
      body: { provider: 'BRALE', apiClientId: 'northlight', apiClientSecret: 'sandbox-secret-700' },
    },
    {
      name: COIN_NAME,
      operationId: 'registerStablecoin',
      body: {
        providerTokenIdentifier: 'coin-northlight-700',
        networkTokenIdentifier: 'btkn1northlight',
        network: 'SPARK',
        stablecoinProviderAccountId: '$issuer.id',
      },
    },
    {
      operationId: 'requestStablecoinServiceEnablement',
      params: { stablecoinId: `$${COIN_NAME}.id` },
    },
    setStatus(`$${COIN_NAME}.id`, 'ENABLING'),
    {
      name: 'coin-wallet',
      operationId: 'createCustomerExternalAccount',
      body: {
        customerId: `$${key}.id`,
        currency: 'USDB',
        accountInfo: {
          accountType: 'SPARK_WALLET',
          address: 'spark1pgssy7d7vel0nh9m4326qc54e6rskpczn07dktww9rv4nu5ptvt0s9uc489gg2',
        },
      },
    },
    usAccount('coin-bank', key, '4410087700'),
  ];
  const order = (at: Time, operationId: string, body: object): Action => ({
    at,
    owner: key,
    steps: [
      { operationId, params: { stablecoinId: `$${COIN_NAME}.id` }, body, mayBeRejected: true },
    ],
  });
  const start = from + 3 * DAY_MS;
  const orders = Array.from({ length: 18 }, (_, index) => {
    const at = start + DAY_MS + Math.floor(((until - start - DAY_MS) * index) / 18);
    const amount = String(random.integer(200, 5_000) * 1_000_000);
    const [fundingSource, destination] = [{ type: 'WIRE' }, { accountId: '$coin-wallet.id' }];
    if (index % 3 < 2)
      return order(at, 'createStablecoinMint', { amount, fundingSource, destination });
    const smallAmount = String(random.integer(50, 190) * 1_000_000);
    return order(at, 'createStablecoinBurn', {
      amount: smallAmount,
      source: { type: 'EXTERNAL_ACCOUNT' },
      destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: '$coin-bank.id', rail: 'WIRE' },
    });
  });
  return [{ at: start, owner: key, steps: setup }, ...orders];
}

/** Payouts that are still in progress at the end, and quotes that are not executed yet. */
function latePayouts({ keys, until }: Extras, random: SeededRandom): Action[] {
  return keys.slice(0, 8).map((key, index) => {
    const [payee, quote] = [`late-payee-${index}`, `late-quote-${index}`];
    const isExecuted = index % 4 !== 3;
    const steps: PlannedStep[] = [
      fund(`${key}-USD`, 2_000_00),
      // A payout to this suffix is PROCESSING for six minutes.
      usAccount(payee, key, `4${random.digits(6)}003`),
      {
        name: quote,
        operationId: 'createQuote',
        body: {
          source: { sourceType: 'ACCOUNT', accountId: `$${key}-USD.data.0.id` },
          destination: { destinationType: 'ACCOUNT', accountId: `$${payee}.id` },
          lockedCurrencySide: 'SENDING',
          lockedCurrencyAmount: random.integer(80, 1_900) * 100,
        },
      },
      ...(isExecuted ? [{ operationId: 'executeQuote', params: { quoteId: `$${quote}.id` } }] : []),
    ];
    return { at: until - random.integer(20, 200) * 1_000, owner: key, steps };
  });
}

/** External accounts under review. */
const accountReviews = ({ keys, until }: Extras): Action[] =>
  keys.slice(3, 6).map((key, index) => {
    const name = `reviewed-account-${index}`;
    const steps: PlannedStep[] = [
      usAccount(name, key, `4${index}17732${index}61`),
      setStatus(`$${name}.id`, 'UNDER_REVIEW'),
    ];
    return { at: until - (index + 1) * 7 * HOUR_MS, owner: key, steps };
  });

/** Incoming payments that await a decision. */
const heldDeposits = ({ keys, until }: Extras, random: SeededRandom): Action[] =>
  keys.slice(2, 7).map((key, index) => ({
    at: until - (index * 9 + 2) * HOUR_MS,
    owner: key,
    steps: [
      {
        operationId: 'sandboxFundInternalAccount',
        params: { accountId: `$${key}-USD.data.0.id` },
        body: { amount: random.integer(4_000, 18_000) * 100, pendingReason: 'COMPLIANCE_REVIEW' },
      },
    ],
  }));

/** An endpoint whose host does not exist, so its deliveries fail, and a pull endpoint. */
function webhooks({ until }: Extras): Action {
  const endpoint = (body: object): PlannedStep => ({
    operationId: 'createWebhookEndpoint',
    body,
    mayBeRejected: true,
  });
  const steps = [
    endpoint({ url: 'https://hooks.cedarpoint.example/payments', description: 'Order system' }),
    endpoint({ delivery: 'PULL', description: 'Nightly reconciliation' }),
  ];
  return { at: until - 30 * MINUTE_MS, owner: 'webhooks', steps };
}

/** All extras, in any order. */
export function extrasOf(input: Extras, random: SeededRandom): Action[] {
  const { until } = input;
  return [
    ...APPLICANTS.map((each, index) => applicant(each, index, until)),
    ...BUSINESSES.map((each, index) => businessApplicant(each, index, until)),
    ...agents(input, random),
    ...debits(input, random),
    ...stablecoin(input, random),
    ...latePayouts(input, random),
    ...accountReviews(input),
    ...heldDeposits(input, random),
    webhooks(input),
  ];
}
