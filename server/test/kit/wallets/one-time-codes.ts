// Fixture for one-time codes of wallets: adding credentials, requesting codes, sending them
// encrypted, and reading replies.
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp } from '../app/harness.ts';
import { walletCrypto } from './client-libraries.ts';
import { CODE, encryptOtp, generateKeys, type WalletFixture } from './embedded-wallets.ts';

export type OtpType = 'EMAIL_OTP' | 'SMS_OTP';

export const NO_PENDING_CODE = [
  401,
  'UNAUTHORIZED',
  'No one-time code is pending for this credential. Request a new code.',
];
export const WRONG_CODE = [401, 'UNAUTHORIZED', 'The one-time code is incorrect.'];

/** Status, code and reason. */
export const errorOf = ({ status, body }: ApiResponse) => [status, body.code, body.reason];

/** Status, code and invalid fields. */
export const errorFieldsOf = ({ status, body }: ApiResponse) => [
  status,
  body.code,
  ...(body.details?.errors ?? []).map(({ field }: { field: string }) => field),
];

let phoneCounter = 0;
export const newPhoneNumber = () => `+1415555${String(1000 + ++phoneCounter)}`;

/** Content of a bundle, without its signature. */
export const readBundle = (bundle: string) =>
  JSON.parse(Buffer.from(JSON.parse(bundle).data, 'hex').toString());

/** Encrypts any text to the key of a bundle. The client library encrypts valid codes only. */
export function encryptTo(bundle: string, text: string): string {
  const targetKeyBuf = Buffer.from(readBundle(bundle).targetPublic, 'hex');
  const sealedText = walletCrypto.hpkeEncrypt({ plainTextBuf: Buffer.from(text), targetKeyBuf });
  return walletCrypto.formatHpkeBuf(sealedText);
}

type Credential = Pick<ApiResponse['body'], 'id' | 'type'>;

export function otpFixture(app: TestApp, fixture: WalletFixture) {
  const requestChallenge = (id: string) =>
    fixture.call('POST', `/auth/credentials/${id}/challenge`);

  const addCredential = (accountId: string, type: OtpType, headers?: Record<string, string>) =>
    fixture.call('POST', '/auth/credentials', { type, accountId }, headers);

  const verifyBundle = (
    { id, type }: Credential,
    encryptedOtpBundle: string,
    headers?: Record<string, string>,
  ) =>
    fixture.call('POST', `/auth/credentials/${id}/verify`, { type, encryptedOtpBundle }, headers);

  /** Sends a code, encrypted to a bundle. The response to a correct code requests a signature. */
  async function submitCode(
    credential: Credential,
    bundle: string,
    { code = CODE, keys = generateKeys() } = {},
  ) {
    const sealedCode = await encryptOtp(code, bundle, keys.publicKey);
    return { sealed: sealedCode, keys, response: await verifyBundle(credential, sealedCode) };
  }

  /** Creates a wallet with e-mail and SMS credentials, and a session of the e-mail credential. */
  async function createOtpWallet() {
    const wallet = await fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
    const session = await fixture.openEmailSession(wallet.accountId);
    const body = { type: 'SMS_OTP', accountId: wallet.accountId };
    const addedCredential = ok(
      await fixture.callSigned('POST', '/auth/credentials', body, session),
      201,
    );
    const { otpEncryptionTargetBundle: bundle, ...sms } = addedCredential;
    const credentialByType: Record<OtpType, ApiResponse['body']> = {
      EMAIL_OTP: wallet.credential,
      SMS_OTP: sms,
    };
    return { ...wallet, session, bundle, otpCredentials: credentialByType };
  }

  const advance = (ms: number) => app.effects.set(app.effects.now() + ms);

  return {
    requestChallenge,
    addCredential,
    verifyBundle,
    submitCode,
    createOtpWallet,
    advance,
  };
}
