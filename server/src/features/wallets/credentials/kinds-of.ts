// Which function decides about which type of credential.
import type { CredentialType } from '../store.ts';
import type { Kind } from './kinds.ts';
import { oauthKind } from './oauth.ts';
import { otpKind } from './otp.ts';
import { passkeyKind } from './passkey.ts';

const KINDS = {
  EMAIL_OTP: otpKind('EMAIL_OTP'),
  SMS_OTP: otpKind('SMS_OTP'),
  OAUTH: oauthKind,
  PASSKEY: passkeyKind,
} satisfies Record<CredentialType, object>;

/** Whoever asks gives it bodies of its own type only, which types cannot say of a type that is read. */
export const kindOf = (type: CredentialType): Kind => KINDS[type] as Kind;
