// Mints and burns with and without funds, by every funding method, source and destination. The
// order's parameters and the bank account suffix select the outcome. The predictions follow the
// tables of the specification.

import { checkOutcome, runVerb } from '../../harness/operator.ts';
import {
  type ExternalAccount,
  type MintClient,
  type Platform,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import { isOrderFinal } from '../../model/stablecoin-records.ts';
import { type Action, bodyOf, checkReply } from '../action.ts';
import { platformIn } from './card-messages.ts';
import {
  coinsOf,
  inactiveAccountCode,
  linkClient,
  REVOKED_SECRETS,
  replaceSecret,
  statusOf,
} from './coins.ts';

/** The chosen source or destination of an order, and the predicted error codes. */
interface Endpoint {
  id: string;
  bank?: string;
  codes: string[];
}

const UNKNOWN_ACCOUNT = 'ExternalAccount:019b0000-0000-7000-8000-000000000000';
const ACCOUNT_NOT_FOUND = ['STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND'];

function chooseEndpoint(sim: Sim, platform: Platform, kind: 'SPARK' | 'bank'): Endpoint {
  const ownExternalAccounts = sim.mints.banks.filter((bank) => bank.owner.platform === platform);
  const isOfKind = (externalAccount: ExternalAccount) =>
    (externalAccount.suffix === 'SPARK') === (kind === 'SPARK');
  const validAccounts = ownExternalAccounts.filter(
    (externalAccount) =>
      isOfKind(externalAccount) && !externalAccount.isDeleted && !externalAccount.owner.isDeleted,
  );
  const account =
    validAccounts.length && sim.chance.percent(93) ? sim.chance.pick(validAccounts) : undefined;
  const chosenAccount =
    account ??
    (ownExternalAccounts.length && sim.chance.percent(80)
      ? sim.chance.pick(ownExternalAccounts)
      : undefined);
  if (!chosenAccount) return { id: UNKNOWN_ACCOUNT, codes: ACCOUNT_NOT_FOUND };
  const { id, isDeleted, owner, suffix } = chosenAccount;
  const isActive = sim.model.externalAccounts.get(id)?.status === 'ACTIVE';
  const notSupportedCodes = ['STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED'];
  const codes =
    isDeleted || owner.isDeleted
      ? ACCOUNT_NOT_FOUND
      : isOfKind(chosenAccount) && isActive
        ? []
        : notSupportedCodes;
  return { id, codes, ...(kind === 'bank' ? { bank: suffix } : {}) };
}

const LINK_ERRORS: Readonly<Record<string, string>> = {
  '201': 'LINK_FAILED',
  '202': 'LINK_METHOD_REQUIRED',
  '203': 'NOT_LINKED',
  '204': 'PROVIDER_LINK_REQUIRED',
  '205': 'PROVIDER_LINK_FAILED',
};

const CENT = 10_000n;

function chooseAmount(
  sim: Sim,
  coin: RecordedRow,
  isBurn: boolean,
): { amount: bigint; codes: string[] } {
  const { chance, model } = sim;
  const circulatingAccount = model.accounts.get(`stablecoin:${coin.id}:circulating`);
  const availableCents = circulatingAccount
    ? (circulatingAccount.balance - circulatingAccount.held) / CENT
    : 0n;
  if (chance.percent(4)) {
    const amount = chance.pick([0n, 1n, CENT + 1n]);
    return { amount, codes: ['STABLECOIN_AMOUNT_NOT_REPRESENTABLE'] };
  }
  const isAboveSupply = chance.percent(6) || availableCents === 0n;
  const maximum = isBurn ? availableCents + (isAboveSupply ? 50n : 0n) : 100_000n;
  const cents = BigInt(chance.integerBetween(1, Number(maximum > 0n ? maximum : 1n)));
  return { amount: cents * CENT, codes: [] };
}

const SOURCES = {
  MINT: [
    { type: 'WIRE', weight: 8 },
    { type: 'ACH_DEBIT', weight: 4 },
    { type: 'SAME_DAY_ACH_DEBIT', weight: 2 },
    { type: 'SERVICE_INTERNAL_ACCOUNT', weight: 0.7 },
    { type: 'PROVIDER_INTERNAL_BALANCE', weight: 0.7 },
  ],
  BURN: [
    { type: 'EXTERNAL_ACCOUNT', weight: 8 },
    { type: 'PROVIDER_INTERNAL_BALANCE', weight: 6 },
    { type: 'SERVICE_INTERNAL_ACCOUNT', weight: 0.7 },
  ],
} as const;

const DESCRIPTION_SUFFIXES = ['000', '000', '000', '000', '001', '003', '004', '005'];

interface Draft {
  type: 'MINT' | 'BURN';
  source: string;
  amount: bigint;
  codes: string[];
  endpoints: Endpoint[];
  description: string;
  body: object;
}

function draftOrder(sim: Sim, coin: RecordedRow, platform: Platform): Draft {
  const circulatingBalance =
    sim.model.accounts.get(`stablecoin:${coin.id}:circulating`)?.balance ?? 0n;
  const type = sim.chance.percent(circulatingBalance > 0n ? 50 : 93) ? 'MINT' : 'BURN';
  const source = sim.chance.pickWeighted<{ type: string; weight: number }>(SOURCES[type]).type;
  const { amount, codes } = chooseAmount(sim, coin, type === 'BURN');
  const bank = chooseEndpoint(sim, platform, 'bank');
  const description = `order ${sim.chance.pick(DESCRIPTION_SUFFIXES)}`;
  const commonFields = { amount: String(amount), description };
  const internalAccount = { accountId: 'InternalAccount:019b0000-0000-7000-8000-000000000000' };
  const ownAccount = source === 'SERVICE_INTERNAL_ACCOUNT' ? internalAccount : {};
  if (type === 'BURN') {
    const rail = sim.chance.pick(['WIRE', 'ACH_CREDIT', 'SAME_DAY_ACH_CREDIT', 'RTP_CREDIT']);
    const destination = { type: 'EXTERNAL_ACCOUNT', externalAccountId: bank.id, rail };
    const body = { ...commonFields, source: { type: source, ...ownAccount }, destination };
    return { type, source, amount, codes, endpoints: [bank], description, body };
  }
  const wallet = chooseEndpoint(sim, platform, 'SPARK');
  const isDebit = source.endsWith('ACH_DEBIT');
  const balance = { sourceTokenIdentifier: 'usdc', cryptoNetwork: 'SPARK' };
  const sourceFields = source === 'PROVIDER_INTERNAL_BALANCE' ? balance : ownAccount;
  const fundingSource = {
    ...{ type: source, ...sourceFields },
    ...(isDebit ? { externalAccountId: bank.id } : {}),
  };
  const body = { ...commonFields, fundingSource, destination: { accountId: wallet.id } };
  const accounts = isDebit ? [bank, wallet] : [wallet];
  return { type, source, amount, codes, endpoints: accounts, description, body };
}

/** Predicted error codes of an order. */
function orderCodes(sim: Sim, coin: RecordedRow, client: MintClient, order: Draft): string[] {
  const status = statusOf(sim, client);
  if (status !== 'ACTIVE') return [inactiveAccountCode(status as string)];
  if (coin.issuance_status !== 'PROVISIONED') return ['STABLECOIN_NOT_PROVISIONED'];
  if (order.codes.length) return order.codes;
  const { type, source } = order;
  const [isMint, { secret }] = [type === 'MINT', client];
  if (source === 'SERVICE_INTERNAL_ACCOUNT') {
    if (coin.service_status !== 'ENABLED') return ['STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED'];
    return [isMint ? 'STABLECOIN_OPERATION_NOT_SUPPORTED' : 'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED'];
  }
  if (isMint && source === 'PROVIDER_INTERNAL_BALANCE') {
    const reason = secret === '006' ? 'SOURCE_NOT_LINKED' : '';
    const balanceSourceCode = reason
      ? `STABLECOIN_PROVIDER_${reason}`
      : 'STABLECOIN_OPERATION_NOT_SUPPORTED';
    return [providerCode(client) ?? balanceSourceCode];
  }
  return endpointCodes(sim, coin, client, order);
}

/** Predicted error code when the provider does not respond or has revoked access. */
const providerCode = ({ secret }: MintClient): string | undefined => {
  const unlinkedCode = REVOKED_SECRETS[secret];
  if (unlinkedCode) return inactiveAccountCode(unlinkedCode);
  return secret === '007' ? 'SERVICE_UNAVAILABLE' : undefined;
};

function endpointCodes(sim: Sim, coin: RecordedRow, client: MintClient, order: Draft): string[] {
  const { endpoints, type, source, amount } = order;
  const invalidEndpoint = endpoints.find(({ codes }) => codes.length);
  if (invalidEndpoint) return invalidEndpoint.codes;
  // A provider that revoked access reports it on the first call.
  if (client.secret === '003' || client.secret === '004') return [providerCode(client) as string];
  const problem = endpoints.flatMap(({ bank }) => LINK_ERRORS[bank ?? ''] ?? [])[0];
  if (problem) return [`STABLECOIN_EXTERNAL_ACCOUNT_${problem}`];
  const unavailableCode = providerCode(client);
  if (unavailableCode) return [unavailableCode];
  const isBalanceBurn = type === 'BURN' && source === 'PROVIDER_INTERNAL_BALANCE';
  if (isBalanceBurn && client.secret === '006') return ['STABLECOIN_PROVIDER_SOURCE_NOT_LINKED'];
  if (endpoints.some(({ bank }) => bank === '206')) return ['STABLECOIN_PROVIDER_ERROR'];
  const circulatingAccount = sim.model.accounts.get(`stablecoin:${coin.id}:circulating`);
  const freeAmount = circulatingAccount ? circulatingAccount.balance - circulatingAccount.held : 0n;
  return type === 'BURN' && amount > freeAmount ? ['STABLECOIN_PROVIDER_ERROR'] : [];
}

/** The outcome that the bank account and the parameters select. */
function outcomeOf({ type, source, endpoints, description }: Draft): string {
  const isPaymentNeeded = source === (type === 'MINT' ? 'WIRE' : 'EXTERNAL_ACCOUNT');
  if (endpoints.some(({ bank }) => bank === '003')) return 'FAILED';
  const suffix = description.slice(-3);
  if (suffix === '001' && isPaymentNeeded) return 'EXPIRED';
  return suffix === '003' || suffix === '004' ? 'FAILED' : 'COMPLETED';
}

async function createOrder(sim: Sim): Promise<string> {
  const provisionedCoins = coinsOf(sim).filter(
    ({ issuance_status: status }) => status === 'PROVISIONED',
  );
  const coin = sim.chance.pick(
    provisionedCoins.length && sim.chance.percent(95) ? provisionedCoins : coinsOf(sim),
  );
  const platform = platformIn(sim, coin.platform_id);
  const client = sim.mints.clients.find(({ id }) => id === coin.provider_account) as MintClient;
  const draft = draftOrder(sim, coin, platform);
  const { type, source, amount, body } = draft;
  const codes = orderCodes(sim, coin, client, draft);
  const path = `/stablecoins/${coin.id}/${type.toLowerCase()}s`;
  const response = await sim.call('POST', path, body, platform, { callsExternal: true });
  const description = `${type} ${amount} ${source}`;
  const code = checkReply(response, codes, `${description}, of …${client.secret}`);
  if (code) return `${description}: ${code}`;
  const { id, status } = bodyOf(response, 201);
  if (status !== 'CREATED') throw violation(`${id} is ${status} at creation, not CREATED`);
  const expectedStatus = outcomeOf(draft);
  sim.mints.orders.push({
    id,
    client,
    expectedStatus,
    accessRevoked: REVOKED_SECRETS[client.secret] !== undefined,
  });
  return `${description}: ${expectedStatus}`;
}

/**
 * The outcome of an order that an operator ends. An unfunded order expires and can complete later.
 */
function manualOutcome(
  { status, submitted_at }: RecordedRow,
  reportedStatus: string,
  expectedStatus: string,
): string {
  if (reportedStatus === 'completed') return 'COMPLETED';
  const isUnpaid = status === 'CREATED' || status === 'PENDING_FUNDING';
  if (!isUnpaid || submitted_at === null) return 'FAILED';
  return expectedStatus === 'COMPLETED' ? 'COMPLETED' : 'EXPIRED';
}

/** An operator ends an order. An expired order can only be ended as completed. */
async function endManually(sim: Sim): Promise<string> {
  const recentOrders = [...sim.model.stablecoinRecords.orders.values()].slice(-60);
  const expiredOrders = recentOrders.filter(({ status }) => status === 'EXPIRED');
  const openOrders = recentOrders.filter((row) => !isOrderFinal(row));
  const list = sim.chance.pick(
    [expiredOrders, expiredOrders, openOrders, recentOrders].filter((orders) => orders.length > 0),
  );
  const row = sim.chance.pick(list);
  const reportedStatus = sim.chance.pick(['completed', 'completed', 'failed']);
  const args = ['--as', reportedStatus, '--reason', 'simulated'];
  const result = await runVerb(sim, 'stablecoins', 'end', row.id as string, ...args);
  const isReportable =
    reportedStatus === 'completed' ? row.submitted_at !== null : row.status !== 'EXPIRED';
  const isEnded = isOrderFinal(row) && row.status !== 'EXPIRED';
  const description = `${reportedStatus}, ${row.status}`;
  const rejection = checkOutcome(result, isReportable && !isEnded, `${row.id}: ${description}`);
  if (rejection) return `${description}: ${rejection}`;
  const knownOrder = sim.mints.orders.find(({ id }) => id === row.id);
  if (knownOrder)
    Object.assign(knownOrder, {
      expectedStatus: manualOutcome(row, reportedStatus, knownOrder.expectedStatus),
    });
  return description;
}

/** Restores the provider access of platforms with open orders, so that the orders can complete. */
export async function restoreAccess(sim: Sim): Promise<void> {
  const openOrders = sim.mints.orders.filter(({ id }) => {
    const row = sim.model.stablecoinRecords.orders.get(id);
    return row && !isOrderFinal(row);
  });
  for (const client of new Set(openOrders.map((order) => order.client))) {
    if (statusOf(sim, client) !== 'ACTIVE') await linkClient(sim, client.platform, '000', client);
    else if (REVOKED_SECRETS[client.secret]) await replaceSecret(sim, client, '000');
  }
}

/** Whether the order may have been submitted after its expiry. */
const isOverdue = (
  { expires_at: expiresAt, submitted_at: submittedAt }: RecordedRow,
  wasAccessRevoked: boolean,
) =>
  typeof expiresAt === 'string' &&
  (wasAccessRevoked || Date.parse(submittedAt as string) >= Date.parse(expiresAt));

/** Returns the mints and burns with an unexpected outcome, and clears the list. */
export function settleOrders(sim: Sim): string[] {
  const problems = sim.mints.orders.flatMap(({ id, expectedStatus, accessRevoked }) => {
    const row = sim.model.stablecoinRecords.orders.get(id) ?? {};
    const { status, failure_reason: reason } = row;
    const isFailedByRevocation =
      accessRevoked && status === 'FAILED' && reason?.startsWith('PROVIDER_ACCOUNT_');
    const isExpired = status === 'EXPIRED' && isOverdue(row, accessRevoked);
    return status === expectedStatus || isFailedByRevocation || isExpired
      ? []
      : [`${id} is ${status}, ${reason}, expected ${expectedStatus}`];
  });
  sim.mints.orders = [];
  return problems;
}

export const MINT_ACTIONS: readonly Action[] = [
  {
    name: 'mint or burn',
    weight: 12,
    isPossible: (sim) => sim.model.stablecoinRecords.coins.size > 0,
    run: createOrder,
  },
  {
    name: 'end a mint or burn',
    weight: 0.7,
    isPossible: (sim) => sim.model.stablecoinRecords.orders.size > 0,
    run: endManually,
  },
];
