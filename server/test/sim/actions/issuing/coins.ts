// Platforms that issue stablecoins. They link provider accounts with valid and invalid secrets, and
// register tokens that exist, are missing or are slow. The provider sometimes revokes and restores
// their access. The predictions follow the tables of the specification.
import { linkOf } from '../../../../src/features/stablecoins/coins/provider-accounts.ts';
import { providerAccounts } from '../../../../src/features/stablecoins/store.ts';
import { sparkWallet } from '../../../kit/wallets/chain-wallets.ts';
import { checkOutcome, onBehalfOf, runVerb } from '../../harness/operator.ts';
import { type MintClient, type Platform, type Sim, violation } from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import { type Action, activePeople, bodyOf, checkReply, isInSandbox } from '../action.ts';
import { digits } from '../payments/parties.ts';
import { platformIn } from './card-messages.ts';

export const REVOKED_SECRETS: Readonly<Record<string, string>> = {
  '003': 'INVALID',
  '004': 'REVOKED',
  '009': 'INVALID',
  '010': 'REVOKED',
};
export const inactiveAccountCode = (status: string) => `STABLECOIN_PROVIDER_ACCOUNT_${status}`;

const sandboxPlatforms = (sim: Sim) =>
  sim.platforms.filter((platform) => isInSandbox({ platform }));
export const statusOf = ({ model }: Sim, { id }: MintClient) =>
  model.stablecoinRecords.providers.get(id)?.status;
const clientsOf = (sim: Sim, platform: Platform) =>
  sim.mints.clients.filter((client) => client.platform === platform);

const SECRETS = [
  { suffix: '000', weight: 10 },
  ...['002', '003', '004', '006', '007', '008', '009', '010'].map((suffix) => ({
    suffix,
    weight: 0.7,
  })),
  { suffix: '005', weight: 1.5 },
];

/** Predicted error codes of linking. */
function linkCodes(
  sim: Sim,
  secret: string,
  isAccountNamed: boolean,
  knownMintClient?: MintClient,
): string[] {
  if (secret === '008') return ['SERVICE_UNAVAILABLE'];
  if (secret === '002') return ['STABLECOIN_VERIFICATION_FAILED'];
  if (secret === '005' && !isAccountNamed) return ['INVALID_INPUT'];
  return knownMintClient && statusOf(sim, knownMintClient) === 'ACTIVE' ? ['CONFLICT'] : [];
}

export async function linkClient(
  sim: Sim,
  platform: Platform,
  secret: string,
  knownMintClient?: MintClient,
): Promise<string> {
  const clientId = knownMintClient?.clientId ?? `client-${sim.nextNumber()}`;
  const body = {
    ...{ provider: 'BRALE', apiClientId: clientId, apiClientSecret: `secret-${secret}` },
    ...(knownMintClient && secret === '005' ? { providerAccountId: knownMintClient.account } : {}),
  };
  const path = '/stablecoin-provider-accounts';
  const response = await sim.call('POST', path, body, platform, { callsExternal: true });
  const codes = linkCodes(sim, secret, knownMintClient !== undefined, knownMintClient);
  const code = checkReply(response, codes, `${path}, a secret …${secret}`);
  if (code) return code;
  const { id, providerAccountId: account, status } = bodyOf(response, 201);
  if (status !== 'ACTIVE') throw violation(`${id} is linked with status ${status}, not ACTIVE`);
  if (knownMintClient) {
    if (knownMintClient.id !== id || knownMintClient.account !== account)
      throw violation(`${id} (${account}) was linked again as a different account`);
    knownMintClient.secret = secret;
  } else sim.mints.clients.push({ id, platform, clientId, account, secret });
  return knownMintClient ? 'linked again' : 'linked';
}

async function linkProvider(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sandboxPlatforms(sim));
  const previousClients = clientsOf(sim, platform);
  const unlinkedClients = previousClients.filter((client) => statusOf(sim, client) !== 'ACTIVE');
  const isRelink = sim.chance.percent(previousClients.length > 2 ? 100 : 60);
  const knownMintClient =
    isRelink && previousClients.length
      ? sim.chance.pick(unlinkedClients.length ? unlinkedClients : previousClients)
      : undefined;
  const { suffix } = sim.chance.pickWeighted(SECRETS);
  return `…${suffix}: ${await linkClient(sim, platform, suffix, knownMintClient)}`;
}

/** The provider revokes a platform's access without notification. */
async function revokeAccess(sim: Sim): Promise<string> {
  const activeClients = sim.mints.clients.filter((client) => statusOf(sim, client) === 'ACTIVE');
  if (activeClients.length === 0) return 'none';
  const client = sim.chance.pick(activeClients);
  const secret = sim.chance.pick(['003', '004', '009', '010']);
  await replaceSecret(sim, client, secret);
  return secret;
}

export async function replaceSecret(sim: Sim, client: MintClient, secret: string): Promise<void> {
  await onBehalfOf(sim, client.platform, async (ctx) => {
    const row = await ctx.read(providerAccounts, client.id);
    if (!row) throw violation(`${client.id} does not exist`);
    const { credentials } = linkOf(ctx, row);
    const text = JSON.stringify({ ...credentials, clientSecret: `secret-${secret}` });
    const sealedText = ctx.vault.sealOwn(
      text,
      `stablecoin_provider_accounts ${row.id} credentials`,
    );
    ctx.update(providerAccounts, row, { credentials: sealedText });
  });
  client.secret = secret;
  if (!REVOKED_SECRETS[secret]) return;
  for (const order of sim.mints.orders) if (order.client === client) order.accessRevoked = true;
}

const TOKENS = [
  { suffix: '000', weight: 8 },
  ...['001', '002', '003', '004', '007'].map((suffix) => ({ suffix, weight: 0.6 })),
  { suffix: '005', weight: 3 },
  { suffix: '006', weight: 2 },
];

const lettersOf = (n: number) =>
  [...String(n)].map((digit) => 'ABCDEFGHIJ'.charAt(+digit)).join('');

/** The symbol of a token and its identifier on the network. */
interface Names {
  symbol: string;
  network: string;
}

/** Names of an earlier token of the platform, or new names. */
function chooseNames(sim: Sim, platform: Platform): Names {
  const number = sim.nextNumber();
  const suffix = sim.chance.percent(4) ? '002' : '000';
  const newNames = { symbol: `Q${lettersOf(number)}`, network: `btkn1sim${number}${suffix}` };
  const platformCoins = coinsOf(sim).filter((coin) => coin.platform_id === platform.id);
  const unissuedCoins = platformCoins.filter((coin) => !isIssuable(coin));
  if (platformCoins.length === 0 || !sim.chance.percent(15)) return newNames;
  const token = sim.chance.pick(
    unissuedCoins.length && sim.chance.percent(60) ? unissuedCoins : platformCoins,
  );
  const symbol = token.symbol as string;
  const network = token.network_token_identifier as string;
  return sim.chance.pick([
    { symbol, network },
    { ...newNames, symbol },
    { ...newNames, network },
  ]);
}

/** Whether the token reserves its names. A token that cannot be issued reserves no name. */
const isIssuable = ({ issuance_status: status }: RecordedRow) =>
  status !== 'REJECTED' && status !== 'FAILED';

const isTaken = (sim: Sim, platform: Platform, field: string, name: string) =>
  coinsOf(sim).some(
    (coin) => coin.platform_id === platform.id && isIssuable(coin) && coin[field] === name,
  );

/** Predicted error codes of registering a token from this account. */
function tokenCodes(sim: Sim, client: MintClient, suffix: string, names: Names): string[] {
  const { symbol, network } = names;
  const status = statusOf(sim, client);
  if (status !== 'ACTIVE') return [inactiveAccountCode(status as string)];
  if (isTaken(sim, client.platform, 'network_token_identifier', network)) {
    return ['STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS'];
  }
  if (client.secret === '003' || client.secret === '004') {
    return [inactiveAccountCode(REVOKED_SECRETS[client.secret] as string)];
  }
  if (suffix === '007') return ['SERVICE_UNAVAILABLE'];
  const isRejected = suffix === '004' || network.endsWith('002');
  if (isRejected) return ['STABLECOIN_VERIFICATION_FAILED'];
  const isUsed = isTaken(sim, client.platform, 'symbol', symbol);
  return isUsed ? ['STABLECOIN_SYMBOL_ALREADY_EXISTS'] : [];
}

async function registerCoin(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sandboxPlatforms(sim));
  const previousClients = clientsOf(sim, platform);
  const activeClients = previousClients.filter((client) => statusOf(sim, client) === 'ACTIVE');
  const names = chooseNames(sim, platform);
  const { suffix } = sim.chance.pickWeighted(TOKENS);
  const isAccountNamed = previousClients.length > 0 && sim.chance.percent(70);
  const client = isAccountNamed
    ? sim.chance.pick(activeClients.length ? activeClients : previousClients)
    : activeClients[0];
  const body = {
    providerTokenIdentifier: `${names.symbol}-${suffix}`,
    ...{ networkTokenIdentifier: names.network, network: 'SPARK' },
    ...(isAccountNamed ? { stablecoinProviderAccountId: client?.id } : {}),
  };
  const response = await sim.call('POST', '/stablecoins', body, platform, { callsExternal: true });
  const selectionErrors =
    activeClients.length > 1
      ? ['STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED']
      : ['STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND'];
  const accountErrors = !isAccountNamed && activeClients.length !== 1 ? selectionErrors : undefined;
  const codes = accountErrors ?? tokenCodes(sim, client as MintClient, suffix, names);
  const code = checkReply(response, codes, `a token …${suffix}`);
  if (code) return code;
  const { symbol, issuanceStatus } = bodyOf(response, 201);
  if (symbol !== names.symbol)
    throw violation(`…${suffix} has the symbol ${symbol}, not ${names.symbol}`);
  return `…${suffix}: ${issuanceStatus}`;
}

export const coinsOf = ({ model }: Sim): RecordedRow[] => [
  ...model.stablecoinRecords.coins.values(),
];

async function requestService(sim: Sim): Promise<string> {
  const coin = sim.chance.pick(coinsOf(sim));
  const previousStatus = coin.service_status as string;
  const isAllowed =
    isIssuable(coin) && (previousStatus === 'NOT_ENABLED' || previousStatus === 'PENDING_APPROVAL');
  const path = `/stablecoins/${coin.id}/request-service-enablement`;
  const response = await sim.call('POST', path, undefined, platformIn(sim, coin.platform_id));
  const codes = isAllowed ? [] : ['STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE'];
  const code = checkReply(response, codes, `${path}, status ${previousStatus}`);
  if (code) return code;
  const { serviceOperationsStatus: currentStatus } = bodyOf(response, 200);
  if (currentStatus !== 'PENDING_APPROVAL')
    throw violation(`${path} returned the status ${currentStatus}, not PENDING_APPROVAL`);
  return previousStatus;
}

const DECISIONS: Readonly<Record<string, readonly string[]>> = {
  approve: ['NOT_ENABLED', 'PENDING_APPROVAL', 'DISABLED'],
  reject: ['PENDING_APPROVAL'],
  disable: ['ENABLING', 'ENABLED'],
};

async function decideService(sim: Sim): Promise<string> {
  const requestedCoins = coinsOf(sim).filter(
    ({ service_status: status }) => status === 'PENDING_APPROVAL',
  );
  const coin = sim.chance.pick(
    requestedCoins.length && sim.chance.percent(80) ? requestedCoins : coinsOf(sim),
  );
  const verb = sim.chance.pick(['approve', 'approve', 'reject', 'disable']);
  const previousStatus = coin.service_status as string;
  // A token that is never issued is not approved.
  const isUnissued = !isIssuable(coin);
  const isPermitted = DECISIONS[verb]?.includes(previousStatus) ?? false;
  const isAllowed = isPermitted && !(verb === 'approve' && isUnissued);
  const result = await runVerb(sim, 'stablecoins', verb, coin.id as string);
  return (
    checkOutcome(result, isAllowed, `${verb} ${coin.id}, ${previousStatus}`) ??
    `${verb} ${previousStatus}`
  );
}

const BANK_SUFFIXES = [
  ...['000', '000', '000', '000', '003', '206'],
  ...['201', '202', '203', '204', '205'],
];

/** A wallet, or a bank account whose suffix selects the outcome, of a customer or the platform. */
async function addAccount(sim: Sim): Promise<string> {
  const owner = sim.chance.pick(activePeople(sim).filter(isInSandbox));
  const n = sim.nextNumber();
  const suffix = sim.chance.percent(35) ? 'SPARK' : sim.chance.pick(BANK_SUFFIXES);
  const isSparkWallet = suffix === 'SPARK';
  const info = isSparkWallet
    ? { accountType: 'SPARK_WALLET', address: sparkWallet(BigInt(9_000_000 + n)).address }
    : {
        accountType: 'USD_ACCOUNT',
        accountNumber: `${digits(8, n)}${suffix}`,
        routingNumber: '021000021',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
      };
  const currency = isSparkWallet ? 'USDB' : 'USD';
  const body = { currency, accountInfo: info, ...(owner.id ? { customerId: owner.id } : {}) };
  const path = `/${owner.id ? 'customers' : 'platform'}/external-accounts`;
  const { id } = bodyOf(await sim.call('POST', path, body, owner.platform), 201);
  sim.mints.banks.push({ id, currency, owner, suffix, isDeleted: false });
  return `${suffix} of ${sim.people.indexOf(owner)}`;
}

async function removeAccount(sim: Sim): Promise<string> {
  const remainingExternalAccounts = sim.mints.banks.filter(
    (bank) => !bank.isDeleted && !bank.owner.isDeleted,
  );
  if (remainingExternalAccounts.length < 6) return 'none';
  const account = sim.chance.pick(remainingExternalAccounts);
  const path = `/${account.owner.id ? 'customers' : 'platform'}/external-accounts/${account.id}`;
  const response = await sim.call('DELETE', path, undefined, account.owner.platform);
  const code = checkReply(
    response,
    response.isRepeated && response.status >= 400 ? ['ACCOUNT_NOT_FOUND'] : [],
    path,
  );
  account.isDeleted = true;
  return code ?? 'deleted';
}

const hasCoins = (sim: Sim) => sim.model.stablecoinRecords.coins.size > 0;
const hasSandboxes = (sim: Sim) => sandboxPlatforms(sim).length > 0;

export const COIN_ACTIONS: readonly Action[] = [
  { name: 'link a provider', weight: 2, isPossible: hasSandboxes, run: linkProvider },
  { name: 'revoke provider access', weight: 0.3, isPossible: hasCoins, run: revokeAccess },
  { name: 'register a stablecoin', weight: 2, isPossible: hasSandboxes, run: registerCoin },
  { name: 'request a stablecoin service', weight: 1, isPossible: hasCoins, run: requestService },
  { name: 'decide on a stablecoin service', weight: 1, isPossible: hasCoins, run: decideService },
  { name: 'add a mint or burn account', weight: 3, isPossible: hasSandboxes, run: addAccount },
  {
    name: 'remove a mint or burn account',
    weight: 0.3,
    isPossible: hasSandboxes,
    run: removeAccount,
  },
];
