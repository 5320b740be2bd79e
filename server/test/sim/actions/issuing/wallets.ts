// External wallets with proof of ownership. Their challenges are signed correctly, wrongly, late
// and twice.
import { evmWallet } from '../../../kit/wallets/chain-wallets.ts';
import { type ExternalAccount, type Sim, violation, type Wallet } from '../../harness/sim.ts';
import { type Action, activePeople, bodyOf, isInSandbox, rejectionCode } from '../action.ts';

const pathOf = ({ id, owner }: ExternalAccount, suffix = '') =>
  `/${owner.id ? 'customers' : 'platform'}/external-accounts${id && `/${id}`}${suffix}`;

async function addWallet(sim: Sim): Promise<string> {
  const owner = sim.chance.pick(activePeople(sim).filter(isInSandbox));
  const { address, sign } = evmWallet(BigInt(1_000 + sim.nextNumber()));
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
    isDeleted: false,
    wallet,
  };
  const { id } = bodyOf(await sim.call('POST', pathOf(account), body, owner.platform), 201);
  sim.externalAccounts.push({ ...account, id });
  return `of ${sim.people.indexOf(owner)}`;
}

const activeWallets = (sim: Sim) =>
  sim.externalAccounts.filter(({ wallet, isDeleted }) => wallet && !isDeleted);
const walletsWithChallenge = (sim: Sim) =>
  activeWallets(sim).filter(({ wallet }) => wallet?.challenge);

const DELETION_CODES = ['ACCOUNT_NOT_FOUND', 'CUSTOMER_DELETED', 'CONFLICT'];

async function requestChallenge(sim: Sim): Promise<string> {
  const account = sim.chance.pick(activeWallets(sim));
  const wallet = account.wallet as Wallet;
  const method = sim.chance.percent(80) ? 'WALLET_SIGNATURE' : 'LIVENESS';
  const path = pathOf(account, '/challenge');
  const response = await sim.call('POST', path, { method }, account.owner.platform);
  const code = rejectionCode(response, DELETION_CODES);
  if (code) return code;
  const { messageToSign, expiresAt } = bodyOf(response, 201);
  wallet.challenge =
    method === 'LIVENESS' ? undefined : { text: messageToSign, expiresAt: Date.parse(expiresAt) };
  return method;
}

async function verifyOwnership(sim: Sim): Promise<string> {
  const account = sim.chance.pick(
    sim.chance.percent(80) && walletsWithChallenge(sim).length
      ? walletsWithChallenge(sim)
      : activeWallets(sim),
  );
  const wallet = account.wallet as Wallet;
  const { text, expiresAt } = wallet.challenge ?? { text: 'no challenge', expiresAt: 0 };
  const isValid = sim.chance.percent(75);
  const signature = wallet.sign(isValid ? text : `${text}.`);
  const path = pathOf(account, '/verify');
  const response = await sim.call('POST', path, { signature }, account.owner.platform);
  const previousChallenge = wallet.challenge;
  wallet.challenge = undefined;
  if (!previousChallenge) {
    const code = rejectionCode(response, DELETION_CODES);
    if (code === undefined) throw violation(`${account.id} was verified without a challenge`);
    return code;
  }
  if (!isValid || sim.effects.now() >= expiresAt)
    return `${rejectionCode(response, ['INVALID_INPUT'])}`;
  if (bodyOf(response, 200).status !== 'ACTIVE')
    throw violation(`${account.id} was verified but is not active`);
  return 'verified';
}

const hasWallets = (sim: Sim) => activeWallets(sim).length > 0;

export const WALLET_ACTIONS: readonly Action[] = [
  {
    name: 'add a wallet',
    weight: 1.5,
    isPossible: (sim) => activeWallets(sim).length < 20,
    run: addWallet,
  },
  {
    name: 'request an ownership challenge',
    weight: 2,
    isPossible: hasWallets,
    run: requestChallenge,
  },
  { name: 'verify a wallet', weight: 2.5, isPossible: hasWallets, run: verifyOwnership },
];
