// Everything the page does with a wallet, by the published client libraries. The private key of a
// session is kept in this module's memory and nowhere else: it never leaves the page, and is gone
// when the page is.
import {
  decryptCredentialBundle,
  decryptExportBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  hpkeDecrypt,
} from '@turnkey/crypto';
import { ask, askSigned, type Challenge, type Keys, stamp } from './api.ts';
import { makePasskey, usePasskey } from './passkeys.ts';

/** The key that this server signs its bundles with; empty in a sandbox that is trusted as it is. */
declare const BUNDLE_KEY: string;
declare const SANDBOX: boolean;

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

let held: { session: Session; keys: Keys } | undefined;

export const session = (): Session | undefined => held?.session;

function signedIn() {
  if (!held) throw new Error('Please sign in.');
  return held;
}

const toHex = (bytes: Uint8Array) =>
  Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('');

const toBytes = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (each) => Number.parseInt(each, 16));

/** Finds the wallet of an address, and how one may sign in to it. */
export const visit = async (email: string): Promise<Credential[]> =>
  (await ask<{ data: Credential[] }>('POST', 'visit', { email })).data;

const path = ({ id }: Credential, what: string) => `credentials/${id}/${what}`;

/** Has a one-time code sent; answers the bundle with the key to encrypt it to. */
export async function sendCode(credential: Credential): Promise<string> {
  const sent = await ask<{ otpEncryptionTargetBundle: string }>(
    'POST',
    path(credential, 'challenge'),
  );
  return sent.otpEncryptionTargetBundle;
}

/** The session's key pair is made here; its public half goes, encrypted, with the code. */
export async function signInByCode(credential: Credential, bundle: string, code: string) {
  const keys = generateP256KeyPair();
  const signer = BUNDLE_KEY || (JSON.parse(bundle) as Bundle).enclaveQuorumPublic;
  const encryptedOtpBundle = await encryptOtpCodeToBundle(code, bundle, keys.publicKey, signer);
  const body = { type: credential.type, encryptedOtpBundle };
  const { answer } = await askSigned<Session>(keys, 'POST', path(credential, 'verify'), body);
  held = { session: answer, keys };
}

/** With a whole key the server makes the session's key pair and sends it encrypted to ours. */
export async function signInByPasskey(credential: Credential) {
  const { privateKey, publicKeyUncompressed: clientPublicKey } = generateP256KeyPair();
  const asked = await ask<Challenge & { challenge: string; credentialId: string }>(
    'POST',
    path(credential, 'challenge'),
    { clientPublicKey },
  );
  const assertion = await usePasskey(asked.challenge, asked.credentialId);
  const { encryptedSessionSigningKey, ...opened } = await ask<
    Session & { encryptedSessionSigningKey: string }
  >(
    'POST',
    path(credential, 'verify'),
    { type: 'PASSKEY', assertion },
    { 'request-id': asked.requestId },
  );
  const scalar = decryptCredentialBundle(encryptedSessionSigningKey, privateKey);
  held = {
    session: opened,
    keys: { privateKey: scalar, publicKey: toHex(getPublicKey(scalar, true)) },
  };
}

/** Has this device make a passkey, and adds it to the wallet. */
export async function addPasskey(nickname: string, email: string): Promise<void> {
  const { keys, session } = signedIn();
  const existing = (await credentials()).flatMap(({ credentialId }) => credentialId ?? []);
  const made = await makePasskey({ accountId: session.accountId, email }, existing);
  await askSigned(keys, 'POST', 'credentials', { nickname, ...made });
}

export const credentials = async (): Promise<Credential[]> =>
  (await ask<{ data: Credential[] }>('GET', 'credentials')).data;

export const sessions = async (): Promise<Session[]> =>
  (await ask<{ data: Session[] }>('GET', 'sessions')).data;

/** Ends a session of the wallet; the key that signs may be its own. */
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

/** The quote brings the text that its holder signs; executing it takes the signature alone. */
export async function pay(of: Quote): Promise<Quote> {
  const ways = of.paymentInstructions.map(({ accountOrWalletInfo }) => accountOrWalletInfo);
  const signed = ways.find(({ accountType }) => accountType === 'EMBEDDED_WALLET');
  if (!signed?.payloadToSign) throw new Error('This cannot be paid from the wallet.');
  return ask('POST', `quotes/${of.id}/execute`, undefined, {
    'service-wallet-signature': await stamp(signedIn().keys, signed.payloadToSign),
  });
}

export const quoteNow = ({ id }: Quote): Promise<Quote> => ask('GET', `quotes/${id}`);

interface Bundle {
  data: string;
  dataSignature: string;
  enclaveQuorumPublic: string;
}

/** The wallet's words, encrypted to a key that is made for this once and only the page has. */
export async function exportWords(): Promise<string[]> {
  const { privateKey: embeddedKey, publicKeyUncompressed: clientPublicKey } = generateP256KeyPair();
  const { answer, payloadToSign } = await askSigned<{ encryptedWalletCredentials: string }>(
    signedIn().keys,
    'POST',
    'export',
    { clientPublicKey },
  );
  const exportBundle = answer.encryptedWalletCredentials;
  const { organizationId } = JSON.parse(payloadToSign) as { organizationId: string };
  const words = SANDBOX
    ? openUnsigned(exportBundle, embeddedKey)
    : await decryptExportBundle({
        exportBundle,
        embeddedKey,
        organizationId,
        dangerouslyOverrideSignerPublicKey: BUNDLE_KEY,
        returnMnemonic: true,
      });
  return words.split(' ');
}

/** A sandbox does not sign its export bundles, which the library insists on. */
function openUnsigned(exportBundle: string, receiverPriv: string): string {
  const text = new TextDecoder().decode(toBytes((JSON.parse(exportBundle) as Bundle).data));
  const { encappedPublic, ciphertext } = JSON.parse(text) as Record<string, string>;
  const words = hpkeDecrypt({
    ciphertextBuf: toBytes(ciphertext as string),
    encappedKeyBuf: toBytes(encappedPublic as string),
    receiverPriv,
  });
  return new TextDecoder().decode(words);
}
