// External wallets with proof of ownership: challenges requested and signed correctly, wrongly,
// late and twice.
import { evmWallet } from '../../../kit/wallets/chain-wallets.ts';
import { type ExternalAccount, type Sim, violation, type Wallet } from '../../harness/sim.ts';
import { type Action, activePeople, expected, inSandbox, rejection } from '../action.ts';

const pathOf = ({ id, owner }: ExternalAccount, suffix = '') =>
  `/${owner.id ? 'customers' : 'platform'}/external-accounts${id && `/${id}`}${suffix}`;

async function add(sim: Sim): Promise<string> {
  const owner = sim.chance.of(activePeople(sim).filter(inSandbox));
  const { address, sign } = evmWallet(BigInt(1_000 + sim.next()));
  const body = {
    currency: 'USDC',
    ownershipType: 'FIRST_PARTY',
    accountInfo: { accountType: 'BASE_WALLET', address },
    ...(owner.id ? { customerId: owner.id } : {}),
  };
  const wallet: Wallet = { sign: (message) => sign(message) };
  const account = {
    id: '',
    currency: 'USDC',
    owner,
    suffix: address.slice(-3),
    deleted: false,
    wallet,
  };
  const { id } = expected(await sim.call('POST', pathOf(account), body, owner.platform), 201);
  sim.externalAccounts.push({ ...account, id });
  return `of ${sim.people.indexOf(owner)}`;
}

const wallets = (sim: Sim) =>
  sim.externalAccounts.filter(({ wallet, deleted }) => wallet && !deleted);
const walletsWithRequest = (sim: Sim) => wallets(sim).filter(({ wallet }) => wallet?.requested);

const DELETION_CODES = ['ACCOUNT_NOT_FOUND', 'CUSTOMER_DELETED', 'CONFLICT'];

async function challenge(sim: Sim): Promise<string> {
  const account = sim.chance.of(wallets(sim));
  const wallet = account.wallet as Wallet;
  const method = sim.chance.percent(80) ? 'WALLET_SIGNATURE' : 'LIVENESS';
  const path = pathOf(account, '/challenge');
  const response = await sim.call('POST', path, { method }, account.owner.platform);
  const code = rejection(response, DELETION_CODES);
  if (code) return code;
  const { messageToSign, expiresAt } = expected(response, 201);
  wallet.requested =
    method === 'LIVENESS' ? undefined : { text: messageToSign, until: Date.parse(expiresAt) };
  return method;
}

async function prove(sim: Sim): Promise<string> {
  const account = sim.chance.of(
    sim.chance.percent(80) && walletsWithRequest(sim).length
      ? walletsWithRequest(sim)
      : wallets(sim),
  );
  const wallet = account.wallet as Wallet;
  const { text, until } = wallet.requested ?? { text: 'no challenge', until: 0 };
  const well = sim.chance.percent(75);
  const signature = wallet.sign(well ? text : `${text}.`);
  const path = pathOf(account, '/verify');
  const response = await sim.call('POST', path, { signature }, account.owner.platform);
  const previousRequest = wallet.requested;
  wallet.requested = undefined;
  if (!previousRequest)
    return (
      rejection(response, DELETION_CODES) ?? violation(`${account.id} has no challenge`).message
    );
  if (!well || sim.effects.now() >= until) return `${rejection(response, ['INVALID_INPUT'])}`;
  if (expected(response, 200).status !== 'ACTIVE')
    throw violation(`${account.id} was verified but is not active`);
  return 'proven';
}

const anyWallet = (sim: Sim) => wallets(sim).length > 0;

export const WALLETS: readonly Action[] = [
  { name: 'add a wallet', weight: 1.5, ready: (sim) => wallets(sim).length < 20, run: add },
  { name: 'request an ownership challenge', weight: 2, ready: anyWallet, run: challenge },
  { name: 'verify a wallet', weight: 2.5, ready: anyWallet, run: prove },
];
