// Credentials and sessions of embedded wallets as the API shows them, and the operations on them.

import { type TSchema, Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, oneOf, ruled, Timestamp, variant } from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';
import { orProcessing, WalletOperationProcessing } from '../accounts/contract.ts';
import { CREDENTIAL_TYPES } from '../store.ts';

const TAG = 'Embedded Wallet Auth';
const maybe = Type.Optional;
const text = (description: string, more: object = {}) => Type.String({ description, ...more });
const object = <P extends Record<string, TSchema>>(name: string, description: string, of: P) =>
  named(name, Type.Object(of, { description }));

const AuthMethodType = named(
  'AuthMethodType',
  oneOf(CREDENTIAL_TYPES, { description: 'How somebody shows to be the holder of a wallet.' }),
);

const methodFields = {
  id: text('Id of the credential.'),
  accountId: text('The embedded wallet it belongs to.'),
  type: AuthMethodType,
  credentialId: maybe(text('Of a passkey: the id its device knows it by, base64url.')),
  nickname: text(
    'Of one-time codes the address or number they go to, of OAUTH what the provider calls its user, ' +
      'of a passkey the name it was given.',
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

const AuthMethod = object('AuthMethod', 'A credential of a wallet.', methodFields);

const bundle = text('JSON with the key that the one-time code is to be encrypted to.');

export const AuthMethodResponse = object(
  'AuthMethodResponse',
  'A credential; where a one-time code was sent, with the key to encrypt it to.',
  { ...methodFields, otpEncryptionTargetBundle: maybe(bundle) },
);

const PasskeyAuthChallenge = object(
  'PasskeyAuthChallenge',
  'A passkey and what its device is to sign.',
  {
    ...methodFields,
    credentialId: text('The id its device knows it by, base64url.'),
    challenge: text('Lower-case hex; its UTF-8 bytes are the challenge of WebAuthn.'),
    requestId: text('Goes back in the `Request-Id` header.'),
    expiresAt: described(Timestamp, 'After this a new challenge is needed.'),
  },
);

const AuthSession = object('AuthSession', 'A key that may sign for a wallet for a while.', {
  ...methodFields,
  id: text('Id of the session.'),
  encryptedSessionSigningKey: maybe(
    text('The private key, sealed to an uncompressed `clientPublicKey`; shown once.', {
      deprecated: true,
    }),
  ),
  expiresAt: described(Timestamp, 'It signs nothing from then on.'),
});

const AuthSignedRequestChallenge = object(
  'AuthSignedRequestChallenge',
  'What a session of the wallet must sign before the same request is sent again.',
  { type: AuthMethodType, ...SignedRequestChallenge.properties },
);

const POINT = '^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$';
const ClientPublicKey = ruled(
  text(
    'P-256 public key in hex. To an uncompressed one a session key is sealed; a compressed one becomes ' +
      "the session's key itself.",
    { pattern: POINT, minLength: 66, maxLength: 130 },
  ),
  'must be a P-256 public key in hex: 130 digits that start with 04, or 66 that start with 02 or 03',
);

const accountId = text('The embedded wallet.');
const base64url = (description: string) => text(description, { maxLength: 65_536 });
const oidcToken = text('Token of the identity provider, fresh.', { maxLength: 16_384 });

export const AuthCredentialCreateRequest = named(
  'AuthCredentialCreateRequestOneOf',
  variant(
    'type',
    {
      EMAIL_OTP: object('EmailOtpCredentialCreateRequest', 'Codes to the e-mail address on file.', {
        accountId,
      }),
      SMS_OTP: object('SmsOtpCredentialCreateRequest', 'Codes to the telephone number on file.', {
        accountId,
      }),
      OAUTH: object('OauthCredentialCreateRequest', 'A user of an identity provider.', {
        accountId,
        oidcToken,
      }),
      PASSKEY: object('PasskeyCredentialCreateRequest', 'A passkey of a device.', {
        accountId,
        nickname: text('A name for it.', { minLength: 1, maxLength: 256 }),
        challenge: text('The challenge that the device was given.', {
          minLength: 1,
          maxLength: 1024,
        }),
        attestation: object('PasskeyAttestation', 'What the device made of it.', {
          credentialId: base64url('Id of the credential, base64url.'),
          clientDataJson: base64url('`clientDataJSON` of WebAuthn, base64url.'),
          attestationObject: base64url('`attestationObject` of WebAuthn, base64url.'),
          transports: maybe(
            Type.Array(oneOf(['usb', 'nfc', 'ble', 'internal', 'hybrid']), {
              description: 'How the device can be reached.',
            }),
          ),
        }),
      }),
    },
    { tagType: AuthMethodType },
  ),
);

const nullish = <T extends TSchema>(schema: T) => maybe(Type.Union([schema, Type.Null()]));

const encryptedOtpBundle = text('JSON with `encappedPublic` and `ciphertext`.', {
  maxLength: 16_384,
});

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
      OAUTH: object('OauthCredentialVerifyRequest', 'A fresh token for a key.', {
        oidcToken,
        clientPublicKey: ClientPublicKey,
      }),
      PASSKEY: object('PasskeyCredentialVerifyRequest', 'What a device says to a challenge.', {
        assertion: object('PasskeyAssertion', 'What the device signed.', {
          credentialId: base64url('Id of the credential, base64url.'),
          clientDataJson: base64url('`clientDataJSON` of WebAuthn, base64url.'),
          authenticatorData: base64url('`authenticatorData` of WebAuthn, base64url.'),
          signature: base64url('`signature` of WebAuthn, base64url.'),
          userHandle: nullish(base64url('`userHandle` of WebAuthn, base64url.')),
        }),
      }),
    },
    { tagType: AuthMethodType },
  ),
);

const ofWallet = Type.Object({ accountId: text('Those of this embedded wallet.') });
const params = (what: string) => Type.Object({ id: text(`Id of the ${what}.`) });

export const createAuthCredential = operation({
  operationId: 'createAuthCredential',
  method: 'POST',
  path: '/auth/credentials',
  tag: TAG,
  summary: 'Add a credential',
  description:
    'The first credential of a wallet is added at once, every other is signed by a session of the wallet.',
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
  description: 'All credentials of a wallet, oldest first; none for an account that is no wallet.',
  permission: 'VIEW',
  query: ofWallet,
  replies: {
    200: object('AuthCredentialListResponse', 'The credentials of a wallet.', {
      data: Type.Array(AuthMethod, { description: 'The credentials.' }),
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
    'Signed by a session of another credential of the wallet. Its sessions end with it; the last ' +
    'credential stays.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: params('credential'),
  replies: { 200: WalletOperationProcessing, 202: AuthSignedRequestChallenge, 204: null },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});

export const challengeAuthCredential = operation({
  operationId: 'challengeAuthCredential',
  method: 'POST',
  path: '/auth/credentials/{id}/challenge',
  tag: TAG,
  summary: 'Ask a credential to prove itself',
  description: 'Sends a one-time code, or gives what a passkey is to sign.',
  permission: 'TRANSACT',
  idempotency: 'none',
  params: params('credential'),
  body: object('AuthCredentialChallengeRequest', 'For passkeys: the key of the session to come.', {
    clientPublicKey: maybe(ClientPublicKey),
  }),
  bodyOptional: true,
  replies: {
    200: orProcessing(
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
  summary: 'Prove a credential and open a session',
  description:
    'One-time codes take two requests, the second signed by the key that was encrypted with the code. ' +
    'A passkey names the challenge it signed in the `Request-Id` header.',
  permission: 'TRANSACT',
  signedRetry: true,
  callsExternal: true,
  params: params('credential'),
  body: AuthCredentialVerifyRequest,
  replies: { 200: orProcessing(AuthSession), 202: AuthSignedRequestChallenge },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});

export const listAuthSessions = operation({
  operationId: 'listAuthSessions',
  method: 'GET',
  path: '/auth/sessions',
  tag: TAG,
  summary: 'List sessions',
  description: 'The sessions of a wallet that may sign now; never a key.',
  permission: 'VIEW',
  query: ofWallet,
  replies: {
    200: object('SessionListResponse', 'The sessions of a wallet.', {
      data: Type.Array(AuthSession, { description: 'The sessions.' }),
    }),
  },
  errors: [],
});

export const refreshAuthSession = operation({
  operationId: 'refreshAuthSession',
  method: 'POST',
  path: '/auth/sessions/{id}/refresh',
  tag: TAG,
  summary: 'Follow a session with another',
  description: 'Signed by the session itself while it is active. The old one lives on to its end.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: params('session'),
  body: object('AuthSessionRefreshRequest', 'The key of the session to come.', {
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
  summary: 'End a session',
  description: 'Signed by any active session of the wallet, this one included.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: params('session'),
  replies: { 200: WalletOperationProcessing, 202: AuthSignedRequestChallenge, 204: null },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'SESSION_NOT_FOUND',
});
