// Wallet functions of the page. The private key of a session is kept only in the memory of this
// module, until the session ends or the page is closed.
import { request, requestWithSignature } from './api.ts';
import {
  createPasskey,
  encryptCode,
  generateKeys,
  openRecoveryPhrase,
  openSessionKey,
  type SignatureChallenge,
  signWithPasskey,
  stamp,
  type WalletKeys,
} from './sdk.ts';

/**
 * The pinned public key of the signer of bundles. Only the sandbox permits an empty key, which
 * accepts bundles of every signer.
 */
declare const BUNDLE_KEY: string;
declare const SANDBOX: boolean;

const SANDBOX_TRUST = { signer: 'sandbox' };
const TRUST = BUNDLE_KEY ? { signer: BUNDLE_KEY } : SANDBOX_TRUST;
/** The sandbox does not sign export bundles. */
const EXPORT_TRUST = SANDBOX ? SANDBOX_TRUST : TRUST;

export interface Credential {
  id: string;
  accountId: string;
  type: 'EMAIL_OTP' | 'SMS_OTP' | 'OAUTH' | 'PASSKEY';
  nickname: string;
  credentialId?: string;
}

export interface Session extends Credential {
  createdAt: string;
  expiresAt: string;
}

export interface Quote {
  id: string;
  status: string;
  transactionId: string;
  totalSendingAmount: number;
  totalReceivingAmount: number;
  paymentInstructions: { accountOrWalletInfo: { accountType: string; payloadToSign?: string } }[];
}

let currentSession: { session: Session; keys: WalletKeys } | undefined;

export const session = (): Session | undefined => currentSession?.session;

function requireSession() {
  if (!currentSession) throw new Error('Please sign in.');
  return currentSession;
}

/** Finds the wallet of an e-mail address and its sign-in methods. */
export const visit = async (email: string): Promise<Credential[]> =>
  (await request<{ data: Credential[] }>('POST', 'visit', { email })).data;

const path = ({ id }: Credential, action: string) => `credentials/${id}/${action}`;

/** Requests a one-time code. Returns the bundle with its encryption key. */
export async function sendCode(credential: Credential): Promise<string> {
  const challenge = await request<{ otpEncryptionTargetBundle: string }>(
    'POST',
    path(credential, 'challenge'),
  );
  return challenge.otpEncryptionTargetBundle;
}

/** Generates the session key pair. The public key is sent encrypted with the code. */
export async function signInByCode(credential: Credential, bundle: string, code: string) {
  const keys = await generateKeys();
  const { publicKey } = keys;
  const encryptedOtpBundle = await encryptCode({ code, bundle, publicKey }, TRUST);
  const body = { type: credential.type, encryptedOtpBundle };
  const { result } = await requestWithSignature<Session>(
    keys,
    'POST',
    path(credential, 'verify'),
    body,
  );
  currentSession = { session: result, keys };
}

/** For an uncompressed key, the server generates the session key and encrypts it to that key. */
export async function signInByPasskey(credential: Credential) {
  const keys = await generateKeys();
  const challenge = await request<SignatureChallenge & { challenge: string; credentialId: string }>(
    'POST',
    path(credential, 'challenge'),
    { clientPublicKey: keys.uncompressedKey },
  );
  const assertion = await signWithPasskey(challenge);
  const { encryptedSessionSigningKey, ...newSession } = await request<
    Session & { encryptedSessionSigningKey: string }
  >(
    'POST',
    path(credential, 'verify'),
    { type: 'PASSKEY', assertion },
    { requestId: challenge.requestId },
  );
  currentSession = {
    session: newSession,
    keys: await openSessionKey(encryptedSessionSigningKey, keys),
  };
}

/** Creates a passkey and adds it to the wallet. */
export async function addPasskey(nickname: string, email: string): Promise<void> {
  const { keys, session } = requireSession();
  const existingCredentialIds = (await credentials()).flatMap(
    ({ credentialId }) => credentialId ?? [],
  );
  const user = { id: session.accountId, name: email };
  const passkey = await createPasskey({ appName: 'Wallet', user, existing: existingCredentialIds });
  await requestWithSignature(keys, 'POST', 'credentials', { nickname, ...passkey });
}

export const credentials = async (): Promise<Credential[]> =>
  (await request<{ data: Credential[] }>('GET', 'credentials')).data;

export const sessions = async (): Promise<Session[]> =>
  (await request<{ data: Session[] }>('GET', 'sessions')).data;

/** Revokes a session of the wallet, possibly the signing session. */
export async function endSession(id: string): Promise<void> {
  await requestWithSignature(requireSession().keys, 'DELETE', `sessions/${id}`);
  if (id === session()?.id) clearSession();
}

export function clearSession(): void {
  currentSession = undefined;
}

/** The balance of the wallet, in millionths of its currency. */
export const balance = async (): Promise<number> =>
  (await request<{ balance: { amount: number } }>('GET', 'account')).balance.amount;

export const fund = () => request('POST', 'fund');

export const quote = (amount: number): Promise<Quote> => request('POST', 'quotes', { amount });

/** The quote contains the payload to sign. The execution needs the signature only. */
export async function pay(quote: Quote): Promise<Quote> {
  const instructions = quote.paymentInstructions.map(
    ({ accountOrWalletInfo }) => accountOrWalletInfo,
  );
  const signedInstructions = instructions.find(
    ({ accountType }) => accountType === 'EMBEDDED_WALLET',
  );
  if (!signedInstructions?.payloadToSign)
    throw new Error('The quote has no text to sign. Create another quote from the wallet.');
  return request('POST', `quotes/${quote.id}/execute`, undefined, {
    walletSignature: await stamp(requireSession().keys, signedInstructions.payloadToSign),
  });
}

export const quoteNow = ({ id }: Quote): Promise<Quote> => request('GET', `quotes/${id}`);

/** Exports the recovery phrase, encrypted to a single-use key of the page. */
export async function exportWords(): Promise<string[]> {
  const keys = await generateKeys();
  const { result, payloadToSign } = await requestWithSignature<{
    encryptedWalletCredentials: string;
  }>(requireSession().keys, 'POST', 'export', { clientPublicKey: keys.uncompressedKey });
  const bundle = result.encryptedWalletCredentials;
  const phrase = await openRecoveryPhrase({ bundle, payloadToSign }, keys, EXPORT_TRUST);
  return phrase.split(' ');
}
