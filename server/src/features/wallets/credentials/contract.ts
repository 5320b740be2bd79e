// Contracts and schemas of credentials and sessions of embedded wallets.

import { type TSchema, Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  nullable,
  oneOf,
  Timestamp,
  text,
  time,
  variant,
  withDescription,
  withErrorText,
} from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';
import { WalletOperationProcessing, withProcessing } from '../accounts/contract.ts';
import { CREDENTIAL_TYPES } from '../store.ts';

const TAG = 'Embedded Wallet Auth';
const optional = Type.Optional;
const object = <P extends Record<string, TSchema>>(
  name: string,
  description: string,
  properties: P,
) => named(name, Type.Object(properties, { description }));

const AuthMethodType = named(
  'AuthMethodType',
  oneOf(CREDENTIAL_TYPES, {
    description:
      'Type of the credential. OAUTH: a user of an identity provider. EMAIL_OTP and SMS_OTP: ' +
      'one-time codes by e-mail or text message. PASSKEY: a passkey of a device.',
  }),
);

const methodFields = {
  id: text('ID of the credential.'),
  accountId: text('ID of the embedded wallet.'),
  type: AuthMethodType,
  credentialId: optional(text('WebAuthn credential ID in base64url. Present only for a passkey.')),
  nickname: text(
    'Display name: the e-mail address or phone number for one-time codes, the user at the ' +
      'provider for OAUTH, the name of a passkey.',
  ),
  createdAt: time('Time of creation.'),
  updatedAt: time('Time of the last change.'),
};

const AuthMethod = object('AuthMethod', 'A credential of a wallet.', methodFields);

const bundle = text(
  'JSON with the encryption key for the one-time code. Absent if no code was sent.',
);

export const AuthMethodResponse = object(
  'AuthMethodResponse',
  'A credential, with the encryption key if a one-time code was sent.',
  { ...methodFields, otpEncryptionTargetBundle: optional(bundle) },
);

const PasskeyAuthChallenge = object(
  'PasskeyAuthChallenge',
  'A passkey and the challenge to sign.',
  {
    ...methodFields,
    credentialId: text('WebAuthn credential ID in base64url.'),
    challenge: text('Challenge in lower-case hex. The WebAuthn challenge is its UTF-8 bytes.'),
    requestId: text('ID of the challenge. Send it in the `Request-Id` header.'),
    expiresAt: withDescription(
      Timestamp,
      'Time at which the challenge expires, five minutes after its creation.',
    ),
  },
);

const AuthSession = object('AuthSession', 'A session key that can sign for a wallet.', {
  ...methodFields,
  id: text('ID of the session.'),
  encryptedSessionSigningKey: optional(
    text(
      'Private key, encrypted to an uncompressed `clientPublicKey`. Returned once. Absent for a ' +
        'compressed key and in all other replies.',
      { deprecated: true },
    ),
  ),
  expiresAt: withDescription(
    Timestamp,
    'Time at which the session expires, at most 15 minutes after it was opened.',
  ),
});

const AuthSignedRequestChallenge = object(
  'AuthSignedRequestChallenge',
  'Payload to sign for the signed retry: with a session of the wallet, or with the key of a ' +
    'new session.',
  { type: AuthMethodType, ...SignedRequestChallenge.properties },
);

const POINT = '^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$';
const CLIENT_PUBLIC_KEY =
  'P-256 public key in hex. For an uncompressed key, a session key is generated and encrypted to ' +
  'it. A compressed key becomes the session key.';
const ClientPublicKey = withErrorText(
  text(CLIENT_PUBLIC_KEY, { pattern: POINT, minLength: 66, maxLength: 130 }),
  'must be a P-256 public key in hex: 130 digits that start with 04, or 66 that start with 02 or ' +
    '03',
);

const accountId = text('ID of the embedded wallet.');
const base64urlText = (description: string) => text(description, { maxLength: 65_536 });
const oidcToken = text('ID token of the identity provider, issued at most 60 seconds ago.', {
  maxLength: 16_384,
});

export const AuthCredentialCreateRequest = named(
  'AuthCredentialCreateRequestOneOf',
  variant(
    'type',
    {
      EMAIL_OTP: object(
        'EmailOtpCredentialCreateRequest',
        'One-time codes to the e-mail address on file.',
        {
          accountId,
        },
      ),
      SMS_OTP: object(
        'SmsOtpCredentialCreateRequest',
        'One-time codes to the phone number on file.',
        {
          accountId,
        },
      ),
      OAUTH: object('OauthCredentialCreateRequest', 'A user of an identity provider.', {
        accountId,
        oidcToken,
      }),
      PASSKEY: object('PasskeyCredentialCreateRequest', 'A passkey of a device.', {
        accountId,
        nickname: text("Display name: 1 to 100 letters, digits, spaces and . _ - ' ( ).", {
          minLength: 1,
          maxLength: 256,
        }),
        challenge: text('Challenge that the authenticator signed.', {
          minLength: 1,
          maxLength: 1024,
        }),
        attestation: object('PasskeyAttestation', 'WebAuthn registration.', {
          credentialId: base64urlText('ID of the credential, base64url.'),
          clientDataJson: base64urlText('`clientDataJSON` of WebAuthn, base64url.'),
          attestationObject: base64urlText('`attestationObject` of WebAuthn, base64url.'),
          transports: optional(
            Type.Array(oneOf(['usb', 'nfc', 'ble', 'internal', 'hybrid']), {
              description: 'WebAuthn transports of the authenticator.',
            }),
          ),
        }),
      }),
    },
    { tagType: AuthMethodType },
  ),
);

const encryptedOtpBundle = text(
  'The one-time code and the public key of the new session, encrypted to the key in ' +
    '`otpEncryptionTargetBundle`. JSON with `encappedPublic` and `ciphertext`.',
  {
    maxLength: 16_384,
  },
);

export const AuthCredentialVerifyRequest = named(
  'AuthCredentialVerifyRequestOneOf',
  variant(
    'type',
    {
      EMAIL_OTP: object('EmailOtpCredentialVerifyRequest', 'A code from an e-mail.', {
        encryptedOtpBundle,
      }),
      SMS_OTP: object('SmsOtpCredentialVerifyRequest', 'A code from a text message.', {
        encryptedOtpBundle,
      }),
      OAUTH: object(
        'OauthCredentialVerifyRequest',
        'An ID token whose `nonce` is the SHA-256 of `clientPublicKey` in hex. Each token opens ' +
          'one session.',
        { oidcToken, clientPublicKey: ClientPublicKey },
      ),
      PASSKEY: object('PasskeyCredentialVerifyRequest', 'A passkey assertion for a challenge.', {
        assertion: object('PasskeyAssertion', 'WebAuthn assertion.', {
          credentialId: base64urlText('ID of the credential, base64url.'),
          clientDataJson: base64urlText('`clientDataJSON` of WebAuthn, base64url.'),
          authenticatorData: base64urlText('`authenticatorData` of WebAuthn, base64url.'),
          signature: base64urlText('`signature` of WebAuthn, base64url.'),
          userHandle: optional(nullable(base64urlText('`userHandle` of WebAuthn, base64url.'))),
        }),
      }),
    },
    { tagType: AuthMethodType },
  ),
);

const walletParams = Type.Object({ accountId: text('ID of the embedded wallet.') });
const paramsOf = (resource: string) => Type.Object({ id: text(`ID of the ${resource}.`) });

export const createAuthCredential = operation({
  operationId: 'createAuthCredential',
  method: 'POST',
  path: '/auth/credentials',
  tag: TAG,
  summary: 'Add a credential',
  description:
    'Adds a credential to an embedded wallet. The first credential of a wallet requires no ' +
    'signature. A session of the wallet signs the request for each further credential. For ' +
    'EMAIL_OTP and SMS_OTP a first code is sent, within the limits of `challengeAuthCredential`.',
  permission: 'TRANSACT',
  signedRetry: true,
  callsExternal: true,
  body: AuthCredentialCreateRequest,
  replies: {
    200: WalletOperationProcessing,
    201: AuthMethodResponse,
    202: AuthSignedRequestChallenge,
  },
  errors: [
    'EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS',
    'SMS_OTP_CREDENTIAL_ALREADY_EXISTS',
    'PASSKEY_CREDENTIAL_ALREADY_EXISTS',
    'CONFLICT',
    'WALLET_NOT_PROVISIONED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const listAuthCredentials = operation({
  operationId: 'listAuthCredentials',
  method: 'GET',
  path: '/auth/credentials',
  tag: TAG,
  summary: 'List credentials',
  description:
    'Returns the credentials of a wallet, oldest first. The list is empty for accounts of other ' +
    'types.',
  permission: 'VIEW',
  query: walletParams,
  replies: {
    200: object('AuthCredentialListResponse', 'The credentials of a wallet.', {
      data: Type.Array(AuthMethod, { description: 'Credentials of the wallet, oldest first.' }),
    }),
  },
  errors: [],
});

export const revokeAuthCredential = operation({
  operationId: 'revokeAuthCredential',
  method: 'DELETE',
  path: '/auth/credentials/{id}',
  tag: TAG,
  summary: 'Remove a credential',
  description:
    'Removes a credential from a wallet and revokes its sessions. A session of another ' +
    'credential of the wallet signs the request. The last credential cannot be removed.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: paramsOf('credential'),
  replies: { 200: WalletOperationProcessing, 202: AuthSignedRequestChallenge, 204: null },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});

export const challengeAuthCredential = operation({
  operationId: 'challengeAuthCredential',
  method: 'POST',
  path: '/auth/credentials/{id}/challenge',
  tag: TAG,
  summary: 'Create a credential challenge',
  description:
    'Sends a one-time code, or returns the challenge for a passkey. In production, a wallet ' +
    'receives at most one code of a type in 30 seconds and five in 15 minutes. A code expires ' +
    'after `expirationSeconds` of the wallet configuration, by default 300. A passkey has at ' +
    'most 60 challenges per minute. Continue with `verifyAuthCredential`.',
  permission: 'TRANSACT',
  idempotency: 'none',
  params: paramsOf('credential'),
  body: object('AuthCredentialChallengeRequest', 'For passkeys: the key of the new session.', {
    clientPublicKey: optional(
      withDescription(
        ClientPublicKey,
        `${CLIENT_PUBLIC_KEY} Required for a passkey, ignored for other types.`,
      ),
    ),
  }),
  bodyOptional: true,
  replies: {
    200: withProcessing(
      named(
        'AuthCredentialResponseOneOf',
        variant(
          'type',
          {
            EMAIL_OTP: AuthMethodResponse,
            SMS_OTP: AuthMethodResponse,
            PASSKEY: PasskeyAuthChallenge,
          },
          { tagType: AuthMethodType },
        ),
      ),
    ),
  },
  errors: ['WALLET_NOT_PROVISIONED', 'NOT_IMPLEMENTED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});

export const verifyAuthCredential = operation({
  operationId: 'verifyAuthCredential',
  method: 'POST',
  path: '/auth/credentials/{id}/verify',
  tag: TAG,
  summary: 'Verify a credential and open a session',
  description:
    'Verifies the proof of a credential and opens a session. A one-time code requires two ' +
    'requests. The second is signed by the key that was encrypted with the code. For a ' +
    'passkey, send the ID of the challenge in the `Request-Id` header. Five wrong codes ' +
    'invalidate a one-time code. After ten failed verifications of a credential within an hour, ' +
    'one-time codes are rejected with RATE_LIMITED.',
  permission: 'TRANSACT',
  signedRetry: true,
  callsExternal: true,
  params: paramsOf('credential'),
  body: AuthCredentialVerifyRequest,
  replies: { 200: withProcessing(AuthSession), 202: AuthSignedRequestChallenge },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});

export const listAuthSessions = operation({
  operationId: 'listAuthSessions',
  method: 'GET',
  path: '/auth/sessions',
  tag: TAG,
  summary: 'List sessions',
  description: 'Returns the active sessions of a wallet, without their keys.',
  permission: 'VIEW',
  query: walletParams,
  replies: {
    200: object('SessionListResponse', 'The sessions of a wallet.', {
      data: Type.Array(AuthSession, {
        description: 'Active sessions of the wallet, oldest first.',
      }),
    }),
  },
  errors: [],
});

export const refreshAuthSession = operation({
  operationId: 'refreshAuthSession',
  method: 'POST',
  path: '/auth/sessions/{id}/refresh',
  tag: TAG,
  summary: 'Refresh a session',
  description:
    'Opens a new session of at most 15 minutes. The session to refresh must be active and signs ' +
    'the request. It remains valid until it expires. Sessions can be refreshed for 12 hours ' +
    'after the verification of the credential.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: paramsOf('session'),
  body: object('AuthSessionRefreshRequest', 'The key of the new session.', {
    clientPublicKey: ClientPublicKey,
  }),
  replies: { 200: WalletOperationProcessing, 201: AuthSession, 202: SignedRequestChallenge },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'SESSION_NOT_FOUND',
});

export const revokeAuthSession = operation({
  operationId: 'revokeAuthSession',
  method: 'DELETE',
  path: '/auth/sessions/{id}',
  tag: TAG,
  summary: 'Revoke a session',
  description:
    'Revokes a session. Any active session of the wallet signs the request, including the ' +
    'session to revoke.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: paramsOf('session'),
  replies: { 200: WalletOperationProcessing, 202: AuthSignedRequestChallenge, 204: null },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'SESSION_NOT_FOUND',
});
