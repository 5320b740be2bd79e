// Holders of embedded wallets: they sign in with encrypted codes, add and remove credentials,
// refresh and end sessions, and pay with valid and invalid signatures.
import {
  CODE,
  encryptOtp,
  keyPairOf,
  openSessionKey,
  stampWith,
} from '../../../kit/wallets/client-keys.ts';
import { operator, outcome } from '../../harness/operator.ts';
import {
  type ApiResponse,
  accountRow,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type Request,
  type Sim,
  spendable,
  violation,
} from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import {
  type Action,
  expected,
  inSandbox,
  internalAccountOf,
  PAID_IN,
  payers,
  rejection,
} from '../action.ts';
import { orderOf, UNQUOTABLE, unsureOf, verdictOn } from '../payments/payments.ts';
import { activeKeys, generateClientKeys, type SignedResult, sendAgain, sign } from './signing.ts';

const wallets = (sim: Sim): InternalAccount[] =>
  payers(sim).flatMap(({ wallet }) => (wallet && isActive(sim, wallet) ? [wallet] : []));

/** Usually one with an open session. */
function someWallet(sim: Sim): InternalAccount {
  const all = wallets(sim);
  const live = all.filter((each) => activeKeys(sim, each).length > 0);
  return sim.chance.of(live.length && sim.chance.percent(75) ? live : all);
}

const credentialsOf = ({ model }: Sim, { id }: InternalAccount): RecordedRow[] =>
  [...(model.holdings.get(id)?.credentials.values() ?? [])].filter(
    ({ status }) => status === 'ACTIVE',
  );

const MAX_POLLS = 20;

/** The reply with the encryption key for the code, or the rejection. */
async function requestCode(
  sim: Sim,
  { id }: RecordedRow,
  { owner }: InternalAccount,
): Promise<ApiResponse> {
  const path = `/auth/credentials/${id}/challenge`;
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const response = await sim.call('POST', path, {}, owner.platform, { withoutKey: true });
    if (response.status >= 400 || response.body.status !== 'PROCESSING') return response;
  }
  throw violation(`${path} does not complete`);
}

interface SignedIn {
  trace: string;
  key?: string;
}

async function signIn(sim: Sim, wallet: InternalAccount): Promise<SignedIn> {
  const otp = credentialsOf(sim, wallet).filter(({ type }) => type?.endsWith('_OTP'));
  if (otp.length === 0) return { trace: 'no codes' };
  const credential = sim.chance.of(otp);
  const requested = await requestCode(sim, credential, wallet);
  const rejected = rejection(requested, ['RATE_LIMITED']);
  if (rejected) return { trace: rejected };
  const keys = generateClientKeys(sim);
  const isValid = sim.chance.percent(90);
  const bundle = expected(requested, 200).otpEncryptionTargetBundle;
  const code = isValid ? CODE : '111111';
  const leg = {
    ...{ method: 'POST', path: `/auth/credentials/${credential.id}/verify` },
    body: {
      type: credential.type,
      encryptedOtpBundle: await encryptOtp(code, bundle, keys.publicKey),
    },
    as: wallet.owner.platform,
  };
  const { response, trace } = await sign(sim, leg, keys.privateKey);
  if (!response) return { trace };
  const codes = ['RATE_LIMITED', ...(isValid && !response.isRepeated ? [] : ['UNAUTHORIZED'])];
  if (rejection(response, codes)) return { trace };
  if (!isValid) throw violation(`${wallet.id} accepts a wrong code`);
  expected(response, 200);
  return { trace, key: keys.privateKey };
}

/** A key that may sign; signs in if necessary. */
export async function keyFor(sim: Sim, wallet: InternalAccount): Promise<string | undefined> {
  const live = activeKeys(sim, wallet);
  return live.length ? sim.chance.of(live) : (await signIn(sim, wallet)).key;
}

/** Checks the result of a signed request against the predicted codes. */
function checkedTrace(
  { response, trace }: SignedResult,
  codes: readonly string[],
  status: number,
): string {
  if (!response) return trace;
  if (!rejection(response, codes)) expected(response, status);
  return trace;
}

function tokenOf(sim: Sim): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(sim.effects.now() / 1000);
  const claims = { iss: 'https://accounts.google.com', aud: 'app', sub: `user-${sim.next()}` };
  return `${part({ alg: 'RS256' })}.${part({ ...claims, iat: seconds, exp: seconds + 300 })}.x`;
}

async function addCredential(sim: Sim): Promise<string> {
  const wallet = someWallet(sim);
  const key = await keyFor(sim, wallet);
  if (!key) return 'not signed in';
  const type = sim.chance.of(['SMS_OTP', 'EMAIL_OTP', 'OAUTH']);
  const typeExists =
    type !== 'OAUTH' && credentialsOf(sim, wallet).some((each) => each.type === type);
  const tokenFields = type === 'OAUTH' ? { oidcToken: tokenOf(sim) } : {};
  const body = { type, accountId: wallet.id, ...tokenFields };
  const leg = { method: 'POST', path: '/auth/credentials', body, as: wallet.owner.platform };
  const codes = typeExists ? [`${type}_CREDENTIAL_ALREADY_EXISTS`] : ['RATE_LIMITED'];
  return `${type} ${checkedTrace(await sign(sim, leg, key), codes, 201)}`;
}

async function removeCredential(sim: Sim): Promise<string> {
  const wallet = someWallet(sim);
  const key = await keyFor(sim, wallet);
  if (!key) return 'not signed in';
  const credentials = credentialsOf(sim, wallet);
  const { id, type } = sim.chance.of(credentials);
  const path = `/auth/credentials/${id}`;
  const leg = { method: 'DELETE', path, as: wallet.owner.platform };
  // A session of the credential cannot authorize its own removal.
  const codes = credentials.length === 1 ? ['INVALID_INPUT'] : ['UNAUTHORIZED'];
  return `${type} of ${credentials.length}: ${checkedTrace(await sign(sim, leg, key), codes, 204)}`;
}

function sessionsOf({ model, keys }: Sim, wallet: InternalAccount): RecordedRow[] {
  const all = model.holdings.get(wallet.id)?.sessions.values() ?? [];
  return [...all].filter(({ public_key }) => keys.has(public_key ?? ''));
}

async function refresh(sim: Sim): Promise<string> {
  const wallet = someWallet(sim);
  const sessions = sessionsOf(sim, wallet);
  if (sessions.length === 0) return 'no sessions';
  const session = sim.chance.of(sessions.slice(-3));
  const ownKey = sim.keys.get(session.public_key ?? '') as string;
  const live = activeKeys(sim, wallet);
  const [sealed, isValid] = [sim.chance.percent(30), sim.chance.percent(85)];
  const keys = generateClientKeys(sim);
  const body = { clientPublicKey: sealed ? keys.uncompressedKey : keys.publicKey };
  const path = `/auth/sessions/${session.id}/refresh`;
  const leg = { method: 'POST', path, body, as: wallet.owner.platform };
  const key = isValid ? ownKey : sim.chance.of([...live, keys.privateKey]);
  const outcome = await sign(sim, leg, key);
  const isAllowed = live.includes(ownKey) && key === ownKey;
  const trace = checkedTrace(outcome, isAllowed ? [] : ['UNAUTHORIZED'], 201);
  const { response } = outcome;
  if (response?.status !== 201) return trace;
  if (!isAllowed) throw violation(`${session.id} was refreshed by another session`);
  const text = response.body.encryptedSessionSigningKey;
  if (sealed !== (text !== undefined))
    throw violation(`${response.body.id} has the wrong kind of key`);
  if (!sealed) return trace;
  const ownSessionKey = openSessionKey(text, keys.privateKey);
  sim.keys.set(ownSessionKey.publicKey, ownSessionKey.privateKey);
  return `${trace}, sealed`;
}

async function endSession(sim: Sim): Promise<string> {
  const wallet = someWallet(sim);
  const [key] = activeKeys(sim, wallet);
  if (!key) return 'not signed in';
  const live = sessionsOf(sim, wallet).filter((each) => {
    return activeKeys(sim, wallet).includes(sim.keys.get(each.public_key ?? '') ?? '');
  });
  const path = `/auth/sessions/${sim.chance.of(live).id}`;
  const leg = { method: 'DELETE', path, as: wallet.owner.platform };
  return checkedTrace(await sign(sim, leg, key), [], 204);
}

async function fund(sim: Sim): Promise<string> {
  const wallet = sim.chance.of(wallets(sim));
  const amount = sim.chance.between(1_000_000, 100_000_000);
  const path = `/sandbox/internal-accounts/${wallet.id}/fund`;
  expected(await sim.call('POST', path, { amount }, wallet.owner.platform), 200);
  wallet.due += BigInt(amount);
  return `${amount}`;
}

/** Destinations of a wallet payment: external accounts and any internal account. */
function destinationOf(
  sim: Sim,
  wallet: InternalAccount,
): { internalAccount: InternalAccount | null; externalAccount: ExternalAccount | null } {
  const ownExternalAccounts = sim.externalAccounts.filter(
    (each) => each.owner === wallet.owner && !each.deleted,
  );
  if (ownExternalAccounts.length && sim.chance.percent(60))
    return { internalAccount: null, externalAccount: sim.chance.of(ownExternalAccounts) };
  const otherOwners = payers(sim).filter(({ platform }) => platform === wallet.owner.platform);
  const to = sim.chance.of(otherOwners);
  const other = to.wallet && to.wallet !== wallet && sim.chance.percent(40);
  const internalAccount = other ? to.wallet : internalAccountOf(sim, to, [...PAID_IN, 'USDB']);
  return { internalAccount: internalAccount ?? null, externalAccount: null };
}

async function quote(sim: Sim): Promise<string> {
  const full = wallets(sim).filter((each) => spendable(sim, each) > 1_000_000n);
  const wallet = full.length && sim.chance.percent(80) ? sim.chance.of(full) : someWallet(sim);
  const { internalAccount: toAccount, externalAccount } = destinationOf(sim, wallet);
  if (toAccount && !isActive(sim, toAccount)) return 'shut';
  const { owner } = wallet;
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: wallet.id },
    destination: { destinationType: 'ACCOUNT', accountId: (toAccount ?? externalAccount)?.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: sim.chance.between(10_000, sim.chance.of([500_000, 60_000_000])),
    purposeOfPayment: 'GIFT',
    ...(sim.chance.percent(5) ? { immediatelyExecute: true } : {}),
  };
  const response = await sim.call('POST', '/quotes', body, owner.platform);
  const isImmediate = 'immediatelyExecute' in body;
  const code = rejection(response, isImmediate ? ['INVALID_INPUT', ...UNQUOTABLE] : UNQUOTABLE);
  if (code) return code;
  if (isImmediate) throw violation(`${response.body.id} was executed without a signature`);
  const order = orderOf(
    sim,
    { source: wallet, internalAccount: toAccount, externalAccount },
    expected(response, 201),
    owner,
  );
  const [instructions] = response.body.paymentInstructions;
  order.payload = instructions.accountOrWalletInfo.payloadToSign;
  sim.orders.push(order);
  return `${order.sent} for ${order.received}`;
}

const signable = (sim: Sim) => sim.orders.filter(({ payload }) => payload);

/** Predicted error codes of a payment apart from its signature. */
const paymentCodes = (sim: Sim, order: Order): string[] => [
  ...verdictOn(sim, order, order.started),
  ...unsureOf(order),
];

/** A wrong signature is rejected before any other check. */
async function stamped(sim: Sim, order: Order, key: string): Promise<SignedResult> {
  const isValid = sim.chance.percent(80);
  const text = isValid ? (order.payload as string) : `${order.payload} `;
  const signer = isValid || sim.chance.percent(50) ? key : keyPairOf('7'.repeat(64)).privateKey;
  const headers = { 'service-wallet-signature': await stampWith(signer, text) };
  const path = `/quotes/${order.quoteId}/execute`;
  const response = await sim.call('POST', path, undefined, order.platform, { headers });
  if (isValid) return { response, trace: `${response.status}` };
  if (!rejection(response, ['UNAUTHORIZED', ...paymentCodes(sim, order)])) {
    throw violation(`${order.id} was paid with a wrong signature`);
  }
  return { trace: `wrong: ${response.body.code}` };
}

async function pay(sim: Sim): Promise<string> {
  const pendingOrders = signable(sim).filter(({ started }) => !started);
  const order = sim.chance.of(
    pendingOrders.length && sim.chance.percent(90) ? pendingOrders : signable(sim),
  );
  const wallet = order.source as InternalAccount;
  // A closed wallet cannot be signed in to.
  const isGone = wallet.owner.deleted || accountRow(sim, wallet)?.status === 'CLOSED';
  const key = isGone ? undefined : await keyFor(sim, wallet);
  if (!key) return 'not signed in';
  const codes = verdictOn(sim, order, order.started);
  const path = `/quotes/${order.quoteId}/execute`;
  const leg = { method: 'POST', path, as: order.platform, keyed: true };
  const { response, trace } = await (sim.chance.percent(50)
    ? stamped(sim, order, key)
    : sign(sim, leg, key));
  if (!response || rejection(response, paymentCodes(sim, order))) return trace;
  expected(response, 200);
  if (codes.length) throw violation(`${order.id} was executed; expected ${codes.join(' or ')}`);
  order.started = true;
  return `${trace}: ${order.sent}`;
}

/** Replays an accepted signature long afterwards. */
async function replay(sim: Sim): Promise<string> {
  return sendAgain(sim, sim.chance.of(sim.used) as Request);
}

async function setPolls(sim: Sim): Promise<string> {
  const platform = sim.chance.of(sim.platforms.filter((each) => inSandbox({ platform: each })));
  const polls = String(sim.chance.of([0, 0, 1, 3]));
  const args = ['platform', 'set', platform.id, '--wallet-processing', polls];
  outcome(await operator(sim, ...args), true, args.join(' '));
  return `${polls} of ${sim.platforms.indexOf(platform)}`;
}

const anyWallet = (sim: Sim) => wallets(sim).length > 0;

export const HOLDERS: readonly Action[] = [
  { name: 'fund a wallet', weight: 3, ready: anyWallet, run: fund },
  {
    name: 'sign in to a wallet',
    weight: 3,
    ready: anyWallet,
    run: async (sim) => (await signIn(sim, sim.chance.of(wallets(sim)))).trace,
  },
  { name: 'quote from a wallet', weight: 8, ready: anyWallet, run: quote },
  { name: 'pay from a wallet', weight: 12, ready: (sim) => signable(sim).length > 0, run: pay },
  { name: 'add a credential', weight: 2, ready: anyWallet, run: addCredential },
  { name: 'remove a credential', weight: 1.5, ready: anyWallet, run: removeCredential },
  { name: 'refresh a session', weight: 3, ready: anyWallet, run: refresh },
  { name: 'end a session', weight: 1, ready: anyWallet, run: endSession },
  { name: 'replay a signature', weight: 2, ready: (sim) => sim.used.length > 0, run: replay },
  { name: 'set wallet processing', weight: 0.6, ready: anyWallet, run: setPolls },
];
