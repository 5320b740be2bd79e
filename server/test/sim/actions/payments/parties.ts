// Creation of platforms, their settings, and creation and removal of customers and external
// accounts.
import { createPlatformWithToken, FIRST_CURRENCIES } from '../../../../src/bootstrap.ts';
import { connectorRegistry } from '../../../../src/connectors/registry.ts';
import { runVerb } from '../../harness/operator.ts';
import { SUFFIXES } from '../../harness/outcomes.ts';
import {
  type ExternalAccount,
  internalAccountsOf,
  type Person,
  type Platform,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import {
  type Action,
  activePeople,
  bodyOf,
  checkReply,
  isInSandbox,
  isTrusted,
  payers,
  rejectionCode,
} from '../action.ts';

const MAX_PLATFORMS = 5;
const MAX_PEOPLE = 40;
const MAX_EXTERNAL_ACCOUNTS = 150;

/** Records the internal accounts that the server has opened for the owner. */
export async function openInternalAccounts(sim: Sim, owner: Person): Promise<void> {
  const path = owner.id
    ? `/customers/internal-accounts?limit=100&customerId=${owner.id}`
    : '/platform/internal-accounts?limit=100';
  const { data } = bodyOf(await sim.call('GET', path, undefined, owner.platform), 200);
  const allAccounts = data as {
    id: string;
    type: string;
    balance: { currency: { code: string } };
  }[];
  for (const { id, type, balance } of allAccounts) {
    const internalAccount = { id, currency: balance.currency.code, owner, expectedBalance: 0n };
    if (type !== 'EMBEDDED_WALLET')
      owner.internalAccounts.set(internalAccount.currency, internalAccount);
    // Wallets of production platforms have no one-time codes.
    else if (isInSandbox(owner)) owner.wallet = internalAccount;
  }
}

async function addPlatform(
  sim: Sim,
  environment: Platform['environment'],
  regulated = true,
): Promise<string> {
  const registry = connectorRegistry(sim.effects);
  const node = sim.pickNode();
  node.setTrap(undefined);
  const createdPlatform = await createPlatformWithToken(node.app.runtime, {
    name: `Platform ${sim.platforms.length + 1}`,
    environment,
    regulated,
    documentsOptional: false,
    currencies: FIRST_CURRENCIES,
    fundingOf: (mode) => registry(mode).funding,
  });
  const basicCredentials = Buffer.from(
    `${createdPlatform.clientId}:${createdPlatform.clientSecret}`,
  ).toString('base64');
  const platform: Platform = {
    id: createdPlatform.platformId,
    environment,
    regulated,
    hadDailyLimit: false,
    auth: `Basic ${basicCredentials}`,
    receiver: sim.effects.addReceiver(),
    hasEndpoint: false,
  };
  const platformOwner: Person = {
    id: null,
    platform,
    mayPay: true,
    isDeleted: false,
    internalAccounts: new Map(),
  };
  await openInternalAccounts(sim, platformOwner);
  sim.platforms.push(platform);
  sim.people.push(platformOwner);
  return `${platformOwner.internalAccounts.size} accounts`;
}

/** Sets the webhook endpoint, which a new platform does not have. */
async function setEndpoint(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  if (platform.hasEndpoint) platform.receiver = sim.effects.addReceiver();
  const body = { webhookEndpoint: platform.receiver.url };
  bodyOf(await sim.call('PATCH', '/config', body, platform), 200);
  platform.hasEndpoint = true;
  return `of ${sim.platforms.indexOf(platform)}`;
}

async function setFees(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  const [bps, fixedFee] = [sim.chance.pick([0, 10, 25, 300]), sim.chance.pick([0, 1, 50])];
  const fee = {
    feeType: 'CROSS_CURRENCY_TRANSACTION',
    sourceCurrency: 'USD',
    variableFeeBps: bps,
    fixedFee: { amount: fixedFee, currency: 'USD' },
  };
  bodyOf(await sim.call('PATCH', '/config', { feeConfigs: [fee] }, platform), 200);
  return `${bps} bps and ${fixedFee} of ${sim.platforms.indexOf(platform)}`;
}

/** Initial statuses of individuals, by the suffix of the name. */
const NAME_SUFFIXES: readonly { suffix: string; weight: number; isReady: boolean }[] = [
  { suffix: '', weight: 20, isReady: true },
  { suffix: ' 001', weight: 1, isReady: false },
  { suffix: ' 002', weight: 1, isReady: false },
  { suffix: ' 003', weight: 1, isReady: false },
];

async function addCustomer(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  const { suffix, isReady } = sim.chance.pickWeighted(NAME_SUFFIXES);
  const n = sim.nextNumber();
  const body = {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `person-${n}`,
    email: `person-${n}@example.com`,
    phoneNumber: `+1415${digits(7, 2_000_000 + n)}`,
    fullName: `Ada Lovelace${suffix}`,
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  };
  const { id } = bodyOf(await sim.call('POST', '/customers', body, platform), 201);
  const isProduction = platform.environment === 'production';
  const isPreapproved = isProduction && platform.regulated;
  if (isProduction && isReady && !isPreapproved) {
    const { rejection } = await runVerb(sim, 'verifications', 'approve', id);
    if (rejection) throw violation(`${id} was not approved: ${rejection}`);
  }
  const mayPay = isPreapproved || (isReady && (platform.regulated || isProduction));
  const person: Person = {
    id,
    platform,
    mayPay,
    isDeleted: false,
    internalAccounts: new Map(),
  };
  await openInternalAccounts(sim, person);
  sim.people.push(person);
  return `${suffix || 'ready'} of ${sim.platforms.indexOf(platform)}`;
}

const BENEFICIARY = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
export const digits = (count: number, value: number) =>
  String(value % 10 ** count).padStart(count, '0');

/** A German IBAN with valid check digits. */
function ibanOf(bban: string): string {
  const check = 98n - (BigInt(`${bban}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${bban}`;
}

/**
 * Account details by currency. The details are unique by `n`. The account number ends with the
 * suffix.
 */
const DETAILS: Readonly<Record<string, (n: number, suffix: string) => object>> = {
  USD: (n, suffix) => ({
    accountType: 'USD_ACCOUNT',
    accountNumber: `${digits(8, n)}${suffix}`,
    routingNumber: '021000021',
    beneficiary: BENEFICIARY,
  }),
  EUR: (n, suffix) => ({
    accountType: 'EUR_ACCOUNT',
    iban: ibanOf(`370400440${digits(6, n)}${suffix}`),
    beneficiary: { ...BENEFICIARY, countryOfResidence: 'DE' },
  }),
  MXN: (n, suffix) => ({
    accountType: 'MXN_ACCOUNT',
    clabeNumber: `032180000${digits(6, n)}${suffix}`,
    beneficiary: BENEFICIARY,
  }),
  GBP: (n, suffix) => ({
    accountType: 'GBP_ACCOUNT',
    sortCode: '200000',
    accountNumber: `${digits(5, n)}${suffix}`,
    beneficiary: BENEFICIARY,
  }),
  USDC: (n, suffix) => ({
    accountType: 'BASE_WALLET',
    address: `0x5aAeb6053F3E94C9b9A09f33${digits(13, n)}${suffix}`,
  }),
};

async function addExternalAccount(sim: Sim): Promise<string> {
  const productionPeople = activePeople(sim).filter((person) => !isInSandbox(person));
  const candidates =
    sim.chance.percent(40) && productionPeople.length ? productionPeople : activePeople(sim);
  const owner = sim.chance.pick(candidates);
  // Production validates check digits.
  const isProduction = owner.platform.environment === 'production';
  const currency = sim.chance.pick(isProduction ? ['USD', 'EUR'] : Object.keys(DETAILS));
  const suffix = sim.chance.pick(SUFFIXES);
  const accountInfo = DETAILS[currency]?.(sim.nextNumber(), suffix);
  const path = owner.id ? '/customers/external-accounts' : '/platform/external-accounts';
  const defaultUmaDepositAccount = owner.id !== null && sim.chance.percent(15);
  const body = {
    currency,
    accountInfo,
    ...(owner.id ? { customerId: owner.id } : {}),
    ...(defaultUmaDepositAccount ? { defaultUmaDepositAccount } : {}),
  };
  const { id } = bodyOf(await sim.call('POST', path, body, owner.platform), 201);
  sim.externalAccounts.push({ id, currency, owner, suffix, isDeleted: false });
  return `${currency} …${suffix} of ${sim.people.indexOf(owner)}`;
}

/** Limits the length of a list by dropping its oldest deleted entry. */
function dropDeleted<T extends { isDeleted: boolean }>(list: T[], maximum: number): void {
  if (list.length <= maximum) return;
  const deletedIndex = list.findIndex((entry) => entry.isDeleted);
  if (deletedIndex >= 0) list.splice(deletedIndex, 1);
}

async function removeExternalAccount(sim: Sim): Promise<string> {
  const account = sim.chance.pick(sim.externalAccounts);
  const { owner, isDeleted } = account;
  const path = `/${owner.id ? 'customers' : 'platform'}/external-accounts/${account.id}`;
  const response = await sim.call('DELETE', path, undefined, owner.platform);
  // A trusted account cannot be removed.
  const isTrustedAccount = !isDeleted && !owner.isDeleted && isTrusted(sim, account);
  if (isTrustedAccount) return checkReply(response, ['BENEFICIARY_TRUSTED'], path) ?? '';
  const code = rejectionCode(response, ['ACCOUNT_NOT_FOUND']);
  if (!isDeleted && !owner.isDeleted && code && !response.isRepeated)
    throw violation(`${account.id} exists and was not found`);
  account.isDeleted = true;
  dropDeleted<ExternalAccount>(sim.externalAccounts, MAX_EXTERNAL_ACCOUNTS);
  return code ?? 'deleted';
}

async function removeCustomer(sim: Sim): Promise<string> {
  const person = sim.chance.pick(activePeople(sim).filter((person) => person.id !== null));
  const response = await sim.call('DELETE', `/customers/${person.id}`, undefined, person.platform);
  const code = rejectionCode(response, ['CONFLICT', 'CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED']);
  if (code === 'CONFLICT') return code;
  person.isDeleted = true;
  for (const internalAccount of internalAccountsOf(person)) {
    const { balance, held } = sim.model.accounts.get(internalAccount.id) ?? {
      balance: 0n,
      held: 0n,
    };
    if (balance || held)
      throw violation(`${person.id} was deleted with a balance of ${balance}, ${held} held`);
  }
  for (const externalAccount of sim.externalAccounts)
    if (externalAccount.owner === person) externalAccount.isDeleted = true;
  dropDeleted<Person>(sim.people, MAX_PEOPLE);
  return 'deleted';
}

export const PARTY_ACTIONS: readonly Action[] = [
  {
    name: 'add a platform',
    weight: 2,
    isPossible: (sim) => sim.platforms.length < MAX_PLATFORMS,
    run: (sim) => addPlatform(sim, 'sandbox'),
  },
  {
    name: 'add a production platform',
    weight: 2,
    isPossible: (sim) => !sim.platforms.some((platform) => platform.environment === 'production'),
    run: (sim) => addPlatform(sim, 'production', sim.chance.pick([true, false])),
  },
  {
    name: 'add an unregulated platform',
    weight: 1,
    isPossible: (sim) =>
      sim.platforms.every(
        (platform) => platform.regulated || platform.environment === 'production',
      ),
    run: (sim) => addPlatform(sim, 'sandbox', false),
  },
  { name: 'set a webhook endpoint', weight: 1, run: setEndpoint },
  { name: 'set fees', weight: 1, run: setFees },
  {
    name: 'add a customer',
    weight: 4,
    isPossible: (sim) => activePeople(sim).length < MAX_PEOPLE,
    run: addCustomer,
  },
  {
    name: 'remove a customer',
    weight: 1,
    isPossible: (sim) => payers(sim).some((payer) => payer.id !== null),
    run: removeCustomer,
  },
  {
    name: 'add an external account',
    weight: 6,
    isPossible: (sim) => sim.externalAccounts.length < MAX_EXTERNAL_ACCOUNTS,
    run: addExternalAccount,
  },
  {
    name: 'remove an external account',
    weight: 1,
    isPossible: (sim) => sim.externalAccounts.length > 5,
    run: removeExternalAccount,
  },
];
