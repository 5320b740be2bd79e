// One-time codes by e-mail or SMS to the contact on file. The client encrypts the code together
// with the public key of the new session. A token that is signed with this key proves possession of
// the code and the key. A new code replaces code and encryption key, which are removed after use or
// a change of the contact.

import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { type AttemptRule, countAttempt } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { requireCustomer, touchCustomer } from '../../customers/records/index.ts';
import {
  type CodePurpose,
  issueCode,
  LETTERS_AND_DIGITS,
  revokeCode,
  verifyCode,
} from '../../notifications/codes/index.ts';
import {
  canSend,
  codeText,
  type MessageChannel,
  sendMessage,
} from '../../notifications/messages/index.ts';
import { walletConfigOf, walletSenderOf } from '../../tenancy/config/index.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import {
  clientKeyOf,
  contactOf,
  credentialsOf,
  openSession,
  presentCredential,
  rejectUsedKey,
} from '../accounts/credentials.ts';
import { custodyOf, type Wallet, type WalletDeps } from '../accounts/wallet.ts';
import type { Activity } from '../signing/payload.ts';
import type { SignatureRequest } from '../signing/requests.ts';
import type { Authorization } from '../signing/signed.ts';
import { credentials, otpTargets } from '../store.ts';
import type { Kind, Registration, VerifyBodyOf, WalletCredential } from './kinds.ts';
import { checkFailureLimit, recordFailure } from './limits.ts';

type OtpType = 'EMAIL_OTP' | 'SMS_OTP';

interface Channel {
  messageChannel: MessageChannel;
  /** Display name of the contact. */
  contact: string;
  /** Name in a verification token. */
  verification: string;
  activity(contact: string, userId: string): Activity;
}

const CHANNELS: Record<OtpType, Channel> = {
  EMAIL_OTP: {
    messageChannel: 'EMAIL',
    contact: 'e-mail address',
    verification: 'OTP_TYPE_EMAIL',
    activity: (userEmail, userId) => ({
      type: 'UPDATE_USER_EMAIL',
      parameters: { userEmail, userId },
    }),
  },
  SMS_OTP: {
    messageChannel: 'SMS',
    contact: 'telephone number',
    verification: 'OTP_TYPE_SMS',
    activity: (userPhoneNumber, userId) => ({
      type: 'UPDATE_USER_PHONE_NUMBER',
      parameters: { userId, userPhoneNumber },
    }),
  },
};

/** Activity to sign for a contact that receives codes. */
export const contactActivityOf = (type: OtpType, contact: string, userId: string): Activity =>
  CHANNELS[type].activity(contact, userId);

const SEND_LIMITS: readonly AttemptRule[] = [
  { max: 1, withinMs: 30_000 },
  { max: 5, withinMs: 15 * 60_000 },
];
const MAX_WRONG_CODES = 5;
const FIELD = 'encryptedOtpBundle';

/** Data of the first request for the retry. */
interface AddBound {
  contact: string;
}
interface VerifyBound {
  publicKey: string;
  contact: string;
}

/** The contact on file. Throws without a contact, or without a provider for the channel. */
function requireContact(ctx: Ctx, deps: WalletDeps, wallet: Wallet, type: OtpType): string {
  const { messageChannel, contact: name } = CHANNELS[type];
  const contact = contactOf(wallet, type);
  if (!contact) {
    const message = `the customer has no ${name} on file. Add the contact with updateCustomerById`;
    throw invalidField('type', message);
  }
  const { environment } = ctx.caller;
  if (!canSend(deps.connectors(environment), messageChannel, environment)) {
    const reason = `No provider for ${messageChannel} messages is configured. The operator can add one.`;
    throw new Fault('NOT_IMPLEMENTED', reason);
  }
  return contact;
}

const scriptOf = (ctx: Ctx, deps: WalletDeps) =>
  deps.connectors(ctx.caller.environment).walletScript;

const purposeId = (credentialId: string) => `otp ${credentialId}`;

async function codeSettingsOf(ctx: Ctx) {
  const platform = await readOwnPlatform(ctx);
  const config = walletConfigOf(platform);
  return {
    ...walletSenderOf(platform),
    rules: {
      length: config.otpLength,
      ...(config.alphanumeric ? { alphabet: LETTERS_AND_DIGITS } : {}),
      validityMs: config.expirationSeconds * 1000,
      maxAttempts: MAX_WRONG_CODES,
      // Sending is limited per wallet, so that a used code does not shorten the wait.
      resendAfterMs: 0,
    },
  };
}

/** Stages a new encryption key, which replaces the previous one. Returns its bundle. */
async function createTarget(
  ctx: Ctx,
  deps: WalletDeps,
  { wallet, row }: WalletCredential,
  expiresAt: number,
): Promise<string> {
  const code_id = ctx.id('Otp');
  const { target, bundle } = await custodyOf(ctx, deps).newOtpTarget({
    id: code_id,
    organizationId: wallet.row.organization_id,
    expiresAt,
  });
  const values = { code_id, target, expires_at: expiresAt };
  const otpTargetBefore = await ctx.read(otpTargets, row.id);
  if (otpTargetBefore) ctx.update(otpTargets, otpTargetBefore, values);
  else {
    const { platform_id, customer_id } = row;
    ctx.insert(otpTargets, { id: row.id, platform_id, customer_id, ...values });
  }
  return bundle;
}

/** Stages a new code, its message and its encryption key. Returns the bundle. */
async function sendOtp(
  ctx: Ctx,
  deps: WalletDeps,
  type: OtpType,
  credential: WalletCredential,
): Promise<string> {
  const { wallet, row } = credential;
  const contact = requireContact(ctx, deps, wallet, type);
  const script = scriptOf(ctx, deps);
  const limits = script ? [{ max: script.challengesPerMinute, withinMs: 60_000 }] : SEND_LIMITS;
  const reason = 'A code was sent recently. Wait before requesting another code.';
  // Per wallet, so that removing and adding the credential does not reset the count.
  await countAttempt(ctx, `otp ${row.account_id} ${type}`, limits, reason);
  const { platformName, mail, rules } = await codeSettingsOf(ctx);
  const purpose = { id: purposeId(row.id), binding: contact, rules, fixedCode: script?.code };
  const code = await issueCode(ctx, purpose);
  const expiresAt = ctx.now + rules.validityMs;
  // A concurrent change of the contact retries the operation.
  requireCustomer(ctx, wallet.customer);
  sendMessage(ctx, {
    channel: CHANNELS[type].messageChannel,
    to: contact,
    kind: 'WALLET_CODE',
    customer: wallet.customer,
    expiresAt,
    ...codeText(platformName, code, rules.validityMs),
    ...(CHANNELS[type].messageChannel === 'EMAIL' ? mail : {}),
  });
  return createTarget(ctx, deps, credential, expiresAt);
}

/** Stages the removal of the pending code of a credential. */
export async function dropOtp(ctx: Ctx, credentialId: string): Promise<void> {
  await revokeCode(ctx, purposeId(credentialId));
  const target = await ctx.read(otpTargets, credentialId);
  if (target) ctx.remove(otpTargets, target);
}

async function register(
  ctx: Ctx,
  deps: WalletDeps,
  type: OtpType,
  wallet: Wallet,
  boundData: AddBound | undefined,
): Promise<Registration> {
  const { contact: name, activity } = CHANNELS[type];
  if ((await credentialsOf(ctx, wallet.row.id)).some((row) => row.type === type)) {
    const reason = `The wallet already has a credential for codes to the ${name}.`;
    throw new Fault(`${type}_CREDENTIAL_ALREADY_EXISTS`, reason);
  }
  const contact = requireContact(ctx, deps, wallet, type);
  if (boundData && boundData.contact !== contact) {
    const reason =
      `The ${name} of the customer has changed since the signature was requested. ` +
      'Send the first request again.';
    throw new Fault('CONFLICT', reason);
  }
  // An empty update, so that a concurrent change of the contact retries and then requires a
  // signature.
  touchCustomer(ctx, wallet.customer);
  return {
    activity: activity(contact, wallet.row.user_id),
    row: { type, uniquenessKey: type },
    boundData: { contact } satisfies AddBound,
  };
}

const unauthorizedFault = (reason: string) => new Fault('UNAUTHORIZED', reason);
const noPendingCodeFault = () =>
  unauthorizedFault('No one-time code is pending for this credential. Request a new code.');

/** Whether a string has the form of an encrypted code. */
function isEncryptedCode(text: string): boolean {
  try {
    const { encappedPublic, ciphertext } = JSON.parse(text) ?? {};
    return typeof encappedPublic === 'string' && typeof ciphertext === 'string';
  } catch {
    return false;
  }
}

const unreadableBundleFault = () =>
  invalidField(FIELD, 'must be encrypted to the key of the latest code');

/** The verification token, which states the verified contact and the key that signs. */
const issueToken =
  (
    ctx: Ctx,
    deps: WalletDeps,
    { wallet, row }: WalletCredential,
    { codeId, contact, publicKey }: { codeId: string; contact: string; publicKey: string },
  ): Exclude<SignatureRequest['payload'], Activity> =>
  ({ id, expiresAt }) =>
    custodyOf(ctx, deps).signToken({
      id: codeId,
      jti: id,
      sub: wallet.row.user_id,
      verification_type: CHANNELS[row.type as OtpType].verification,
      contact,
      organization_id: wallet.row.organization_id,
      public_key: publicKey,
      iat: Math.floor(ctx.now / 1000),
      // Milliseconds as text, as existing clients expect.
      exp: String(expiresAt),
    });

async function verify(
  ctx: Ctx,
  deps: WalletDeps,
  type: OtpType,
  credential: WalletCredential,
  body: VerifyBodyOf<OtpType>,
): Promise<{ signatureRequest: SignatureRequest } | Rejected> {
  const { wallet, row } = credential;
  if (!isEncryptedCode(body.encryptedOtpBundle)) throw unreadableBundleFault();
  await checkFailureLimit(ctx, row.id);
  const contact = contactOf(wallet, type);
  const target = await ctx.read(otpTargets, row.id);
  if (!contact || !target || ctx.now >= target.expires_at) throw noPendingCodeFault();
  const openedOtp = await custodyOf(ctx, deps).openOtp({
    id: target.code_id,
    target: target.target,
    encryptedBundle: body.encryptedOtpBundle,
  });
  if (!openedOtp) throw unreadableBundleFault();
  const publicKey = clientKeyOf(openedOtp.publicKey, FIELD);
  await rejectUsedKey(ctx, wallet.row.id, publicKey, FIELD);
  const { rules } = await codeSettingsOf(ctx);
  const purpose: CodePurpose = { id: purposeId(row.id), binding: contact, rules };
  // The letters of codes are capital. Input is case-insensitive.
  const result = await verifyCode(ctx, purpose, openedOtp.code.trim().toUpperCase());
  if (result === 'none') throw noPendingCodeFault();
  if (result === 'invalid')
    return recordFailure(ctx, row.id, unauthorizedFault('The one-time code is incorrect.'));
  ctx.remove(otpTargets, target);
  const boundData: VerifyBound = { publicKey, contact };
  const payload = issueToken(ctx, deps, credential, {
    codeId: target.code_id,
    contact,
    publicKey,
  });
  return {
    signatureRequest: { wallet, type, payload, signer: { by: 'key', publicKey }, boundData },
  };
}

async function completeVerification(
  ctx: Ctx,
  deps: WalletDeps,
  type: OtpType,
  credential: WalletCredential,
  authorization: Authorization,
) {
  const { publicKey, contact } = authorization.boundData as VerifyBound;
  // The contact has changed, so the code no longer proves access to it.
  if (contactOf(credential.wallet, type) !== contact) throw noPendingCodeFault();
  requireCustomer(ctx, credential.wallet.customer);
  await rejectUsedKey(ctx, credential.wallet.row.id, publicKey, FIELD);
  const { wallet, row } = credential;
  const body = await openSession(ctx, deps, wallet, row, publicKey, { isSealed: false });
  return { status: 200, body };
}

/** The credential kind of one-time codes by e-mail or SMS. */
export const otpKind = (type: OtpType): Kind<OtpType> => ({
  register: (ctx, deps, wallet, _body, boundData) =>
    register(ctx, deps, type, wallet, boundData as AddBound | undefined),

  addedFields: async (ctx, deps, credential) => ({
    otpEncryptionTargetBundle: await sendOtp(ctx, deps, type, credential),
  }),

  async challenge(ctx, deps, credential) {
    const otpEncryptionTargetBundle = await sendOtp(ctx, deps, type, credential);
    const row = ctx.update(credentials, credential.row, { updated_at: ctx.now });
    return { ...presentCredential(ctx, credential.wallet, row), otpEncryptionTargetBundle };
  },

  verify: (ctx, deps, credential, body) => verify(ctx, deps, type, credential, body),

  completeVerification: (ctx, deps, credential, authorization) =>
    completeVerification(ctx, deps, type, credential, authorization),

  removalActivity: (_ctx, { wallet }) => CHANNELS[type].activity('', wallet.row.user_id),
});
