// Holders of embedded wallets. They sign in with encrypted codes, add and remove credentials,
// refresh and end sessions, and pay with valid and invalid signatures.
import {
  CODE,
  encryptOtp,
  keyPairOf,
  openSessionKey,
  stampWith,
} from '../../../kit/wallets/client-keys.ts';
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import {
  type ApiResponse,
  accountRow,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type Request,
  type Sim,
  spendableAmount,
  violation,
} from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import {
  type Action,
  bodyOf,
  isInSandbox,
  PAYMENT_CURRENCIES,
  payers,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';
import { executionErrors, orderOf, possibleErrors, QUOTE_ERRORS } from '../payments/payments.ts';
import {
  activeKeys,
  generateClientKeys,
  repeatRequest,
  type SignedResult,
  signRequest,
} from './signing.ts';

const activeWallets = (sim: Sim): InternalAccount[] =>
  payers(sim).flatMap(({ wallet }) => (wallet && isActive(sim, wallet) ? [wallet] : []));

/** Usually a wallet with an active session. */
function chooseWallet(sim: Sim): InternalAccount {
  const allWallets = activeWallets(sim);
  const signedInWallets = allWallets.filter(
    (internalAccount) => activeKeys(sim, internalAccount).length > 0,
  );
  return sim.chance.pick(
    signedInWallets.length && sim.chance.percent(75) ? signedInWallets : allWallets,
  );
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
  throw violation(`${path} did not complete after ${MAX_POLLS} requests`);
}

interface SignInResult {
  trace: string;
  key?: string;
}

async function signIn(sim: Sim, wallet: InternalAccount): Promise<SignInResult> {
  const otpCredentials = credentialsOf(sim, wallet).filter(({ type }) => type?.endsWith('_OTP'));
  if (otpCredentials.length === 0) return { trace: 'no codes' };
  const credential = sim.chance.pick(otpCredentials);
  const codeReply = await requestCode(sim, credential, wallet);
  const rejection = rejectionCode(codeReply, ['RATE_LIMITED']);
  if (rejection) return { trace: rejection };
  const keys = generateClientKeys(sim);
  const isValid = sim.chance.percent(90);
  const bundle = bodyOf(codeReply, 200).otpEncryptionTargetBundle;
  const code = isValid ? CODE : '111111';
  const request = {
    ...{ method: 'POST', path: `/auth/credentials/${credential.id}/verify` },
    body: {
      type: credential.type,
      encryptedOtpBundle: await encryptOtp(code, bundle, keys.publicKey),
    },
    platform: wallet.owner.platform,
  };
  const { response, trace } = await signRequest(sim, request, keys.privateKey);
  if (!response) return { trace };
  const codes = ['RATE_LIMITED', ...(isValid && !response.isRepeated ? [] : ['UNAUTHORIZED'])];
  if (rejectionCode(response, codes)) return { trace };
  if (!isValid) throw violation(`${wallet.id} accepts a wrong code`);
  bodyOf(response, 200);
  return { trace, key: keys.privateKey };
}

/** A key that may sign, or undefined if the sign-in fails. Signs in if necessary. */
export async function findOrCreateKey(
  sim: Sim,
  wallet: InternalAccount,
): Promise<string | undefined> {
  const activeKeyPairs = activeKeys(sim, wallet);
  return activeKeyPairs.length ? sim.chance.pick(activeKeyPairs) : (await signIn(sim, wallet)).key;
}

/** Checks a signed request against the predicted codes. Returns its trace. */
function checkSignedResult(
  { response, trace }: SignedResult,
  codes: readonly string[],
  status: number,
): string {
  if (!response) return trace;
  if (!rejectionCode(response, codes)) bodyOf(response, status);
  return trace;
}

function createOidcToken(sim: Sim): string {
  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(sim.effects.now() / 1000);
  const claims = {
    iss: 'https://accounts.google.com',
    aud: 'app',
    sub: `user-${sim.nextNumber()}`,
  };
  return `${segment({ alg: 'RS256' })}.${segment({ ...claims, iat: seconds, exp: seconds + 300 })}.x`;
}

async function addCredential(sim: Sim): Promise<string> {
  const wallet = chooseWallet(sim);
  const key = await findOrCreateKey(sim, wallet);
  if (!key) return 'not signed in';
  const type = sim.chance.pick(['SMS_OTP', 'EMAIL_OTP', 'OAUTH']);
  const isTypeInUse =
    type !== 'OAUTH' && credentialsOf(sim, wallet).some((credential) => credential.type === type);
  const tokenFields = type === 'OAUTH' ? { oidcToken: createOidcToken(sim) } : {};
  const body = { type, accountId: wallet.id, ...tokenFields };
  const request = {
    method: 'POST',
    path: '/auth/credentials',
    body,
    platform: wallet.owner.platform,
  };
  const codes = isTypeInUse ? [`${type}_CREDENTIAL_ALREADY_EXISTS`] : ['RATE_LIMITED'];
  return `${type} ${checkSignedResult(await signRequest(sim, request, key), codes, 201)}`;
}

async function removeCredential(sim: Sim): Promise<string> {
  const wallet = chooseWallet(sim);
  const key = await findOrCreateKey(sim, wallet);
  if (!key) return 'not signed in';
  const credentials = credentialsOf(sim, wallet);
  const { id, type } = sim.chance.pick(credentials);
  const path = `/auth/credentials/${id}`;
  const request = { method: 'DELETE', path, platform: wallet.owner.platform };
  // A session of the credential cannot authorize the removal of the credential.
  const codes = credentials.length === 1 ? ['INVALID_INPUT'] : ['UNAUTHORIZED'];
  const trace = checkSignedResult(await signRequest(sim, request, key), codes, 204);
  return `${type} of ${credentials.length}: ${trace}`;
}

function sessionsOf({ model, clientKeys }: Sim, wallet: InternalAccount): RecordedRow[] {
  const allSessions = model.holdings.get(wallet.id)?.sessions.values() ?? [];
  return [...allSessions].filter(({ public_key }) => clientKeys.has(public_key ?? ''));
}

async function refreshSession(sim: Sim): Promise<string> {
  const wallet = chooseWallet(sim);
  const sessions = sessionsOf(sim, wallet);
  if (sessions.length === 0) return 'no sessions';
  const session = sim.chance.pick(sessions.slice(-3));
  const ownKey = sim.clientKeys.get(session.public_key ?? '') as string;
  const activeKeyPairs = activeKeys(sim, wallet);
  const [isSealed, isValid] = [sim.chance.percent(30), sim.chance.percent(85)];
  const keys = generateClientKeys(sim);
  const body = { clientPublicKey: isSealed ? keys.uncompressedKey : keys.publicKey };
  const path = `/auth/sessions/${session.id}/refresh`;
  const request = { method: 'POST', path, body, platform: wallet.owner.platform };
  const key = isValid ? ownKey : sim.chance.pick([...activeKeyPairs, keys.privateKey]);
  const outcome = await signRequest(sim, request, key);
  const isAllowed = activeKeyPairs.includes(ownKey) && key === ownKey;
  const trace = checkSignedResult(outcome, isAllowed ? [] : ['UNAUTHORIZED'], 201);
  const { response } = outcome;
  if (response?.status !== 201) return trace;
  if (!isAllowed) throw violation(`${session.id} was refreshed by another session`);
  const text = response.body.encryptedSessionSigningKey;
  if (isSealed !== (text !== undefined))
    throw violation(`${response.body.id} has ${text ? 'an unexpected' : 'no'} sealed session key`);
  if (!isSealed) return trace;
  const ownSessionKey = openSessionKey(text, keys.privateKey);
  sim.clientKeys.set(ownSessionKey.publicKey, ownSessionKey.privateKey);
  return `${trace}, sealed`;
}

async function endSession(sim: Sim): Promise<string> {
  const wallet = chooseWallet(sim);
  const [key] = activeKeys(sim, wallet);
  if (!key) return 'not signed in';
  const activeSessions = sessionsOf(sim, wallet).filter((session) => {
    return activeKeys(sim, wallet).includes(sim.clientKeys.get(session.public_key ?? '') ?? '');
  });
  const path = `/auth/sessions/${sim.chance.pick(activeSessions).id}`;
  const request = { method: 'DELETE', path, platform: wallet.owner.platform };
  return checkSignedResult(await signRequest(sim, request, key), [], 204);
}

async function fundWallet(sim: Sim): Promise<string> {
  const wallet = sim.chance.pick(activeWallets(sim));
  const amount = sim.chance.integerBetween(1_000_000, 100_000_000);
  const path = `/sandbox/internal-accounts/${wallet.id}/fund`;
  bodyOf(await sim.call('POST', path, { amount }, wallet.owner.platform), 200);
  wallet.expectedBalance += BigInt(amount);
  return `${amount}`;
}

/** An external account of the owner, or an internal account of the platform or its customers. */
function chooseDestination(
  sim: Sim,
  wallet: InternalAccount,
): { internalAccount: InternalAccount | null; externalAccount: ExternalAccount | null } {
  const ownExternalAccounts = sim.externalAccounts.filter(
    (externalAccount) => externalAccount.owner === wallet.owner && !externalAccount.isDeleted,
  );
  if (ownExternalAccounts.length && sim.chance.percent(60))
    return { internalAccount: null, externalAccount: sim.chance.pick(ownExternalAccounts) };
  const otherOwners = payers(sim).filter(({ platform }) => platform === wallet.owner.platform);
  const recipient = sim.chance.pick(otherOwners);
  const isToOtherWallet = recipient.wallet && recipient.wallet !== wallet && sim.chance.percent(40);
  const internalAccount = isToOtherWallet
    ? recipient.wallet
    : pickInternalAccount(sim, recipient, [...PAYMENT_CURRENCIES, 'USDB']);
  return { internalAccount: internalAccount ?? null, externalAccount: null };
}

async function createQuote(sim: Sim): Promise<string> {
  const fundedWallets = activeWallets(sim).filter(
    (wallet) => spendableAmount(sim, wallet) > 1_000_000n,
  );
  const wallet =
    fundedWallets.length && sim.chance.percent(80)
      ? sim.chance.pick(fundedWallets)
      : chooseWallet(sim);
  const { internalAccount: toAccount, externalAccount } = chooseDestination(sim, wallet);
  if (toAccount && !isActive(sim, toAccount)) return 'frozen or closed';
  const { owner } = wallet;
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: wallet.id },
    destination: { destinationType: 'ACCOUNT', accountId: (toAccount ?? externalAccount)?.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: sim.chance.integerBetween(10_000, sim.chance.pick([500_000, 60_000_000])),
    purposeOfPayment: 'GIFT',
    ...(sim.chance.percent(5) ? { immediatelyExecute: true } : {}),
  };
  const response = await sim.call('POST', '/quotes', body, owner.platform);
  const isImmediate = 'immediatelyExecute' in body;
  const code = rejectionCode(
    response,
    isImmediate ? ['INVALID_INPUT', ...QUOTE_ERRORS] : QUOTE_ERRORS,
  );
  if (code) return code;
  if (isImmediate) throw violation(`${response.body.id} was executed without a signature`);
  const order = orderOf(
    sim,
    { source: wallet, internalAccount: toAccount, externalAccount },
    bodyOf(response, 201),
    owner,
  );
  const [instructions] = response.body.paymentInstructions;
  order.payload = instructions.accountOrWalletInfo.payloadToSign;
  sim.orders.push(order);
  return `${order.sentAmount} for ${order.receivedAmount}`;
}

const signableOrders = (sim: Sim) => sim.orders.filter(({ payload }) => payload);

/** Predicted error codes of a payment apart from its signature. */
const paymentCodes = (sim: Sim, order: Order): string[] => [
  ...executionErrors(sim, order, order.isStarted),
  ...possibleErrors(order),
];

/** Executes with a valid or a wrong signature. A wrong signature must be rejected. */
async function executeWithSignature(sim: Sim, order: Order, key: string): Promise<SignedResult> {
  const isValid = sim.chance.percent(80);
  const text = isValid ? (order.payload as string) : `${order.payload} `;
  const signingKey = isValid || sim.chance.percent(50) ? key : keyPairOf('7'.repeat(64)).privateKey;
  const headers = { 'service-wallet-signature': await stampWith(signingKey, text) };
  const path = `/quotes/${order.quoteId}/execute`;
  const response = await sim.call('POST', path, undefined, order.platform, { headers });
  if (isValid) return { response, trace: `${response.status}` };
  if (!rejectionCode(response, ['UNAUTHORIZED', ...paymentCodes(sim, order)])) {
    throw violation(`${order.id} was paid with a wrong signature`);
  }
  return { trace: `wrong: ${response.body.code}` };
}

async function payFromWallet(sim: Sim): Promise<string> {
  const pendingOrders = signableOrders(sim).filter(({ isStarted }) => !isStarted);
  const order = sim.chance.pick(
    pendingOrders.length && sim.chance.percent(90) ? pendingOrders : signableOrders(sim),
  );
  const wallet = order.source as InternalAccount;
  // A closed wallet cannot be signed in to.
  const isClosedOrDeleted = wallet.owner.isDeleted || accountRow(sim, wallet)?.status === 'CLOSED';
  const key = isClosedOrDeleted ? undefined : await findOrCreateKey(sim, wallet);
  if (!key) return 'not signed in';
  const codes = executionErrors(sim, order, order.isStarted);
  const path = `/quotes/${order.quoteId}/execute`;
  const request = { method: 'POST', path, platform: order.platform, hasIdempotencyKey: true };
  const { response, trace } = await (sim.chance.percent(50)
    ? executeWithSignature(sim, order, key)
    : signRequest(sim, request, key));
  if (!response || rejectionCode(response, paymentCodes(sim, order))) return trace;
  bodyOf(response, 200);
  if (codes.length) throw violation(`${order.id} was executed, expected ${codes.join(' or ')}`);
  order.isStarted = true;
  return `${trace}: ${order.sentAmount}`;
}

/** Replays an accepted signature long afterwards. */
async function replaySignature(sim: Sim): Promise<string> {
  return repeatRequest(sim, sim.chance.pick(sim.signedRequests) as Request);
}

async function setPolls(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms.filter((platform) => isInSandbox({ platform })));
  const polls = String(sim.chance.pick([0, 0, 1, 3]));
  const args = ['platform', 'set', platform.id, '--wallet-processing', polls];
  checkOutcome(await runVerb(sim, ...args), true, args.join(' '));
  return `${polls} of ${sim.platforms.indexOf(platform)}`;
}

const hasActiveWallet = (sim: Sim) => activeWallets(sim).length > 0;

export const WALLET_HOLDER_ACTIONS: readonly Action[] = [
  { name: 'fund a wallet', weight: 3, isPossible: hasActiveWallet, run: fundWallet },
  {
    name: 'sign in to a wallet',
    weight: 3,
    isPossible: hasActiveWallet,
    run: async (sim) => (await signIn(sim, sim.chance.pick(activeWallets(sim)))).trace,
  },
  { name: 'quote from a wallet', weight: 8, isPossible: hasActiveWallet, run: createQuote },
  {
    name: 'pay from a wallet',
    weight: 12,
    isPossible: (sim) => signableOrders(sim).length > 0,
    run: payFromWallet,
  },
  { name: 'add a credential', weight: 2, isPossible: hasActiveWallet, run: addCredential },
  { name: 'remove a credential', weight: 1.5, isPossible: hasActiveWallet, run: removeCredential },
  { name: 'refresh a session', weight: 3, isPossible: hasActiveWallet, run: refreshSession },
  { name: 'end a session', weight: 1, isPossible: hasActiveWallet, run: endSession },
  {
    name: 'replay a signature',
    weight: 2,
    isPossible: (sim) => sim.signedRequests.length > 0,
    run: replaySignature,
  },
  { name: 'set wallet processing', weight: 0.6, isPossible: hasActiveWallet, run: setPolls },
];
