// Platforms that issue stablecoins: they link provider accounts with valid and invalid secrets,
// register tokens that exist, are missing or are slow, and mint and burn in every permitted and
// some forbidden ways. The provider sometimes revokes access and restores it. Written from the
// tables of the specification.
import { linkOf } from '../../../../src/features/stablecoins/coins/provider-accounts.ts';
import { providerAccounts } from '../../../../src/features/stablecoins/store.ts';
import { sparkWallet } from '../../../kit/wallets/chain-wallets.ts';
import { onBehalfOf, operator, outcome } from '../../harness/operator.ts';
import { type MintClient, type Platform, type Sim, violation } from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import { type Action, activePeople, checkReply, expected, inSandbox } from '../action.ts';
import { digits } from '../payments/parties.ts';
import { platformIn } from './card-messages.ts';

export const DELETION_CODES: Readonly<Record<string, string>> = {
  '003': 'INVALID',
  '004': 'REVOKED',
  '009': 'INVALID',
  '010': 'REVOKED',
};
export const inactiveAccountCode = (as: string) => `STABLECOIN_PROVIDER_ACCOUNT_${as}`;

const sandboxes = (sim: Sim) => sim.platforms.filter((each) => inSandbox({ platform: each }));
export const statusOf = ({ model }: Sim, { id }: MintClient) =>
  model.coinBook.providers.get(id)?.status;
const clientsOf = (sim: Sim, platform: Platform) =>
  sim.mints.clients.filter((each) => each.platform === platform);

const SECRETS = [
  { end: '000', weight: 10 },
  ...['002', '003', '004', '006', '007', '008', '009', '010'].map((end) => ({ end, weight: 0.7 })),
  { end: '005', weight: 1.5 },
];

/** Predicted error codes of linking. */
function linkCodes(
  sim: Sim,
  secret: string,
  namesAccount: boolean,
  knownMintClient?: MintClient,
): string[] {
  if (secret === '008') return ['SERVICE_UNAVAILABLE'];
  if (secret === '002') return ['STABLECOIN_VERIFICATION_FAILED'];
  if (secret === '005' && !namesAccount) return ['INVALID_INPUT'];
  return knownMintClient && statusOf(sim, knownMintClient) === 'ACTIVE' ? ['CONFLICT'] : [];
}

export async function linkAs(
  sim: Sim,
  platform: Platform,
  secret: string,
  knownMintClient?: MintClient,
): Promise<string> {
  const clientId = knownMintClient?.clientId ?? `client-${sim.next()}`;
  const body = {
    ...{ provider: 'BRALE', apiClientId: clientId, apiClientSecret: `secret-${secret}` },
    ...(knownMintClient && secret === '005' ? { providerAccountId: knownMintClient.account } : {}),
  };
  const path = '/stablecoin-provider-accounts';
  const response = await sim.call('POST', path, body, platform, { callsExternal: true });
  const codes = linkCodes(sim, secret, knownMintClient !== undefined, knownMintClient);
  const code = checkReply(response, codes, `${path}, a secret …${secret}`);
  if (code) return code;
  const { id, providerAccountId: account, status } = expected(response, 201);
  if (status !== 'ACTIVE') throw violation(`${id} is linked with status ${status}`);
  if (knownMintClient) {
    if (knownMintClient.id !== id || knownMintClient.account !== account)
      throw violation(`${id} is a different account`);
    knownMintClient.secret = secret;
  } else sim.mints.clients.push({ id, platform, clientId, account, secret });
  return knownMintClient ? 'again' : 'linked';
}

async function link(sim: Sim): Promise<string> {
  const platform = sim.chance.of(sandboxes(sim));
  const previous = clientsOf(sim, platform);
  const unlinked = previous.filter((each) => statusOf(sim, each) !== 'ACTIVE');
  const relinks = sim.chance.percent(previous.length > 2 ? 100 : 60);
  const knownMintClient =
    relinks && previous.length ? sim.chance.of(unlinked.length ? unlinked : previous) : undefined;
  const { end } = sim.chance.weighed(SECRETS);
  return `…${end}: ${await linkAs(sim, platform, end, knownMintClient)}`;
}

/** The provider revokes a platform's access in one of several ways, without notification. */
async function revokeAccess(sim: Sim): Promise<string> {
  const active = sim.mints.clients.filter((each) => statusOf(sim, each) === 'ACTIVE');
  if (active.length === 0) return 'none';
  const client = sim.chance.of(active);
  const secret = sim.chance.of(['003', '004', '009', '010']);
  await replaceSecret(sim, client, secret);
  return secret;
}

export async function replaceSecret(sim: Sim, client: MintClient, secret: string): Promise<void> {
  await onBehalfOf(sim, client.platform, async (ctx) => {
    const row = await ctx.read(providerAccounts, client.id);
    if (!row) throw violation(`${client.id} is gone`);
    const { credentials } = linkOf(ctx, row);
    const text = JSON.stringify({ ...credentials, clientSecret: `secret-${secret}` });
    const sealed = ctx.vault.sealOwn(text, `stablecoin_provider_accounts ${row.id} credentials`);
    ctx.update(providerAccounts, row, { credentials: sealed });
  });
  client.secret = secret;
  if (!DELETION_CODES[secret]) return;
  for (const order of sim.mints.orders) if (order.client === client) order.stranded = true;
}

const TOKENS = [
  { end: '000', weight: 8 },
  ...['001', '002', '003', '004', '007'].map((end) => ({ end, weight: 0.6 })),
  { end: '005', weight: 3 },
  { end: '006', weight: 2 },
];

const letters = (n: number) => [...String(n)].map((each) => 'ABCDEFGHIJ'.charAt(+each)).join('');

/** The symbol of a token and its identifier on the network. */
interface Names {
  symbol: string;
  network: string;
}

/** Names of a token that the platform registered before, or new names. */
function someNames(sim: Sim, platform: Platform): Names {
  const n = sim.next();
  const unexpected = sim.chance.percent(4) ? '002' : '000';
  const added = { symbol: `Q${letters(n)}`, network: `btkn1sim${n}${unexpected}` };
  const all = coinsOf(sim).filter((each) => each.platform_id === platform.id);
  const dead = all.filter((each) => !isIssuable(each));
  if (all.length === 0 || !sim.chance.percent(15)) return added;
  const token = sim.chance.of(dead.length && sim.chance.percent(60) ? dead : all);
  const symbol = token.symbol as string;
  const network = token.network_token_identifier as string;
  return sim.chance.of([
    { symbol, network },
    { ...added, symbol },
    { ...added, network },
  ]);
}

/** A token that was never issued reserves no name. */
const isIssuable = ({ issuance_status: status }: RecordedRow) =>
  status !== 'REJECTED' && status !== 'FAILED';

const isTaken = (sim: Sim, platform: Platform, field: string, name: string) =>
  coinsOf(sim).some(
    (each) => each.platform_id === platform.id && isIssuable(each) && each[field] === name,
  );

/** Predicted error codes of registering a token from this account. */
function tokenCodes(sim: Sim, client: MintClient, token: string, names: Names): string[] {
  const { symbol, network } = names;
  const status = statusOf(sim, client);
  if (status !== 'ACTIVE') return [inactiveAccountCode(status as string)];
  if (isTaken(sim, client.platform, 'network_token_identifier', network)) {
    return ['STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS'];
  }
  if (client.secret === '003' || client.secret === '004') {
    return [inactiveAccountCode(DELETION_CODES[client.secret] as string)];
  }
  if (token === '007') return ['SERVICE_UNAVAILABLE'];
  const isRejected = token === '004' || network.endsWith('002');
  if (isRejected) return ['STABLECOIN_VERIFICATION_FAILED'];
  const isUsed = isTaken(sim, client.platform, 'symbol', symbol);
  return isUsed ? ['STABLECOIN_SYMBOL_ALREADY_EXISTS'] : [];
}

async function register(sim: Sim): Promise<string> {
  const platform = sim.chance.of(sandboxes(sim));
  const previous = clientsOf(sim, platform);
  const active = previous.filter((each) => statusOf(sim, each) === 'ACTIVE');
  const names = someNames(sim, platform);
  const { end } = sim.chance.weighed(TOKENS);
  const namesAccount = previous.length > 0 && sim.chance.percent(70);
  const client = namesAccount ? sim.chance.of(active.length ? active : previous) : active[0];
  const body = {
    providerTokenIdentifier: `${names.symbol}-${end}`,
    ...{ networkTokenIdentifier: names.network, network: 'SPARK' },
    ...(namesAccount ? { stablecoinProviderAccountId: client?.id } : {}),
  };
  const response = await sim.call('POST', '/stablecoins', body, platform, { callsExternal: true });
  const unnamed =
    active.length > 1
      ? ['STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED']
      : ['STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND'];
  const accountErrors = !namesAccount && active.length !== 1 ? unnamed : undefined;
  const codes = accountErrors ?? tokenCodes(sim, client as MintClient, end, names);
  const code = checkReply(response, codes, `a token …${end}`);
  if (code) return code;
  const { symbol, issuanceStatus } = expected(response, 201);
  if (symbol !== names.symbol) throw violation(`…${end} has the symbol ${symbol}`);
  return `…${end}: ${issuanceStatus}`;
}

export const coinsOf = ({ model }: Sim): RecordedRow[] => [...model.coinBook.coins.values()];

async function request(sim: Sim): Promise<string> {
  const coin = sim.chance.of(coinsOf(sim));
  const previousStatus = coin.service_status as string;
  const isAllowed =
    isIssuable(coin) && (previousStatus === 'NOT_ENABLED' || previousStatus === 'PENDING_APPROVAL');
  const path = `/stablecoins/${coin.id}/request-service-enablement`;
  const response = await sim.call('POST', path, undefined, platformIn(sim, coin.platform_id));
  const codes = isAllowed ? [] : ['STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE'];
  const code = checkReply(response, codes, `${path}, status ${previousStatus}`);
  if (code) return code;
  const { serviceOperationsStatus: currentStatus } = expected(response, 200);
  if (currentStatus !== 'PENDING_APPROVAL') throw violation(`${path}: ${currentStatus}`);
  return previousStatus;
}

const DECISIONS: Readonly<Record<string, readonly string[]>> = {
  approve: ['NOT_ENABLED', 'PENDING_APPROVAL', 'DISABLED'],
  reject: ['PENDING_APPROVAL'],
  disable: ['ENABLING', 'ENABLED'],
};

async function decide(sim: Sim): Promise<string> {
  const requested = coinsOf(sim).filter(
    ({ service_status: status }) => status === 'PENDING_APPROVAL',
  );
  const coin = sim.chance.of(requested.length && sim.chance.percent(80) ? requested : coinsOf(sim));
  const verb = sim.chance.of(['approve', 'approve', 'reject', 'disable']);
  const previousStatus = coin.service_status as string;
  // A token that will never be issued is not approved.
  const dead = !isIssuable(coin);
  const may = DECISIONS[verb]?.includes(previousStatus) ?? false;
  const isAllowed = may && !(verb === 'approve' && dead);
  const result = await operator(sim, 'stablecoins', verb, coin.id as string);
  return (
    outcome(result, isAllowed, `${verb} ${coin.id}, ${previousStatus}`) ??
    `${verb} ${previousStatus}`
  );
}

const BANKS = [
  ...['000', '000', '000', '000', '003', '206'],
  ...['201', '202', '203', '204', '205'],
];

/** A wallet, or a bank account whose suffix selects the outcome; of a customer or the platform. */
async function addAccount(sim: Sim): Promise<string> {
  const owner = sim.chance.of(activePeople(sim).filter(inSandbox));
  const n = sim.next();
  const suffix = sim.chance.percent(35) ? 'SPARK' : sim.chance.of(BANKS);
  const spark = suffix === 'SPARK';
  const info = spark
    ? { accountType: 'SPARK_WALLET', address: sparkWallet(BigInt(9_000_000 + n)).address }
    : {
        accountType: 'USD_ACCOUNT',
        accountNumber: `${digits(8, n)}${suffix}`,
        routingNumber: '021000021',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
      };
  const currency = spark ? 'USDB' : 'USD';
  const body = { currency, accountInfo: info, ...(owner.id ? { customerId: owner.id } : {}) };
  const path = `/${owner.id ? 'customers' : 'platform'}/external-accounts`;
  const { id } = expected(await sim.call('POST', path, body, owner.platform), 201);
  sim.mints.banks.push({ id, currency, owner, suffix, deleted: false });
  return `${suffix} of ${sim.people.indexOf(owner)}`;
}

async function removeAccount(sim: Sim): Promise<string> {
  const remainingExternalAccounts = sim.mints.banks.filter(
    (each) => !each.deleted && !each.owner.deleted,
  );
  if (remainingExternalAccounts.length < 6) return 'none';
  const account = sim.chance.of(remainingExternalAccounts);
  const path = `/${account.owner.id ? 'customers' : 'platform'}/external-accounts/${account.id}`;
  const response = await sim.call('DELETE', path, undefined, account.owner.platform);
  const code = checkReply(
    response,
    response.isRepeated && response.status >= 400 ? ['ACCOUNT_NOT_FOUND'] : [],
    path,
  );
  account.deleted = true;
  return code ?? 'gone';
}

const anyCoin = (sim: Sim) => sim.model.coinBook.coins.size > 0;
const anySandbox = (sim: Sim) => sandboxes(sim).length > 0;

export const COINS: readonly Action[] = [
  { name: 'link a provider', weight: 2, ready: anySandbox, run: link },
  { name: 'revoke provider access', weight: 0.3, ready: anyCoin, run: revokeAccess },
  { name: 'register a stablecoin', weight: 2, ready: anySandbox, run: register },
  { name: 'request a stablecoin service', weight: 1, ready: anyCoin, run: request },
  { name: 'decide on a stablecoin service', weight: 1, ready: anyCoin, run: decide },
  { name: 'add a mint or burn account', weight: 3, ready: anySandbox, run: addAccount },
  { name: 'remove a mint or burn account', weight: 0.3, ready: anySandbox, run: removeAccount },
];
