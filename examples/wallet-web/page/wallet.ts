// Wallet functions of the page. The private key of a session is kept only in the memory of this module,
// until the page is closed.
import { ask, askSigned } from './api.ts';
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

/** The pinned key that signs bundles; empty in the sandbox, where bundles are not verified. */
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

let held: { session: Session; keys: WalletKeys } | undefined;

export const session = (): Session | undefined => held?.session;

function signedIn() {
  if (!held) throw new Error('Please sign in.');
  return held;
}

/** Finds the wallet of an address and its sign-in methods. */
export const visit = async (email: string): Promise<Credential[]> =>
  (await ask<{ data: Credential[] }>('POST', 'visit', { email })).data;

const path = ({ id }: Credential, what: string) => `credentials/${id}/${what}`;

/** Requests a one-time code; returns the bundle with its encryption key. */
export async function sendCode(credential: Credential): Promise<string> {
  const sent = await ask<{ otpEncryptionTargetBundle: string }>(
    'POST',
    path(credential, 'challenge'),
  );
  return sent.otpEncryptionTargetBundle;
}

/** Generates the session key pair; the public key is sent encrypted with the code. */
export async function signInByCode(credential: Credential, bundle: string, code: string) {
  const keys = await generateKeys();
  const { publicKey } = keys;
  const encryptedOtpBundle = await encryptCode({ code, bundle, publicKey }, TRUST);
  const body = { type: credential.type, encryptedOtpBundle };
  const { answer } = await askSigned<Session>(keys, 'POST', path(credential, 'verify'), body);
  held = { session: answer, keys };
}

/** For an uncompressed key, the server generates the session key and encrypts it to that key. */
export async function signInByPasskey(credential: Credential) {
  const own = await generateKeys();
  const asked = await ask<SignatureChallenge & { challenge: string; credentialId: string }>(
    'POST',
    path(credential, 'challenge'),
    { clientPublicKey: own.uncompressedKey },
  );
  const assertion = await signWithPasskey(asked);
  const { encryptedSessionSigningKey, ...opened } = await ask<
    Session & { encryptedSessionSigningKey: string }
  >(
    'POST',
    path(credential, 'verify'),
    { type: 'PASSKEY', assertion },
    { requestId: asked.requestId },
  );
  held = { session: opened, keys: await openSessionKey(encryptedSessionSigningKey, own) };
}

/** Creates a passkey on this device and adds it to the wallet. */
export async function addPasskey(nickname: string, email: string): Promise<void> {
  const { keys, session } = signedIn();
  const existing = (await credentials()).flatMap(({ credentialId }) => credentialId ?? []);
  const user = { id: session.accountId, name: email };
  const made = await createPasskey({ appName: 'Wallet', user, existing });
  await askSigned(keys, 'POST', 'credentials', { nickname, ...made });
}

export const credentials = async (): Promise<Credential[]> =>
  (await ask<{ data: Credential[] }>('GET', 'credentials')).data;

export const sessions = async (): Promise<Session[]> =>
  (await ask<{ data: Session[] }>('GET', 'sessions')).data;

/** Ends a session of the wallet, possibly the signing one. */
export async function endSession(id: string): Promise<void> {
  await askSigned(signedIn().keys, 'DELETE', `sessions/${id}`);
  if (id === session()?.id) forget();
}

export function forget(): void {
  held = undefined;
}

/** In millionths. */
export const balance = async (): Promise<number> =>
  (await ask<{ balance: { amount: number } }>('GET', 'account')).balance.amount;

export const fund = () => ask('POST', 'fund');

export const quote = (amount: number): Promise<Quote> => ask('POST', 'quotes', { amount });

/** The quote contains the payload to sign; its execution needs the signature only. */
export async function pay(of: Quote): Promise<Quote> {
  const ways = of.paymentInstructions.map(({ accountOrWalletInfo }) => accountOrWalletInfo);
  const signed = ways.find(({ accountType }) => accountType === 'EMBEDDED_WALLET');
  if (!signed?.payloadToSign) throw new Error('This payment is not possible from the wallet.');
  return ask('POST', `quotes/${of.id}/execute`, undefined, {
    walletSignature: await stamp(signedIn().keys, signed.payloadToSign),
  });
}

export const quoteNow = ({ id }: Quote): Promise<Quote> => ask('GET', `quotes/${id}`);

/** Exports the recovery phrase, encrypted to a single-use key of the page. */
export async function exportWords(): Promise<string[]> {
  const own = await generateKeys();
  const { answer, payloadToSign } = await askSigned<{ encryptedWalletCredentials: string }>(
    signedIn().keys,
    'POST',
    'export',
    { clientPublicKey: own.uncompressedKey },
  );
  const bundle = answer.encryptedWalletCredentials;
  const words = await openRecoveryPhrase({ bundle, payloadToSign }, own, EXPORT_TRUST);
  return words.split(' ');
}
