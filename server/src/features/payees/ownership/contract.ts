// Operations for the proof of ownership of a wallet, for accounts of customers and of the platform.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf, Timestamp, variant } from '../../../kernel/schema.ts';
import { ExternalAccount } from '../external-accounts/index.ts';
import { OWNERSHIP_METHODS } from './store.ts';

const OwnershipVerificationMethod = named(
  'OwnershipVerificationMethod',
  oneOf(OWNERSHIP_METHODS, {
    description:
      'WALLET_SIGNATURE: the wallet signs a message. LIVENESS: the owner completes ' +
      'a liveness check on a hosted page.',
  }),
);

const OwnershipChallengeRequest = named(
  'OwnershipChallengeRequest',
  Type.Object(
    { method: OwnershipVerificationMethod },
    { description: 'Method of the ownership proof.' },
  ),
);

const expiresAt = {
  ...Timestamp,
  description: 'Time at which the challenge expires, 60 minutes after its creation.',
};

const WalletSignatureChallenge = named(
  'WalletSignatureChallenge',
  Type.Object(
    {
      messageToSign: Type.String({
        description: 'Message to sign with the wallet, unchanged and with its line breaks.',
      }),
      expiresAt,
    },
    {
      title: 'Text to sign',
      description:
        'Submit the signature through `verifyExternalAccountOwnership` or ' +
        '`verifyPlatformExternalAccountOwnership`.',
    },
  ),
);

const LivenessChallenge = named(
  'LivenessChallenge',
  Type.Object(
    {
      verificationLink: Type.String({
        format: 'uri',
        description: 'Hosted page for the owner of the wallet. The link can be used once.',
      }),
      token: Type.Optional(Type.String({ description: 'Secret part of the link.' })),
      expiresAt,
    },
    {
      title: 'Liveness check',
      description:
        'The result is the new status of the account and is sent by webhook. No ' +
        'verify request is needed.',
    },
  ),
);

const OwnershipChallenge = named(
  'OwnershipChallenge',
  variant(
    'method',
    { WALLET_SIGNATURE: WalletSignatureChallenge, LIVENESS: LivenessChallenge },
    {
      tagType: OwnershipVerificationMethod,
      description: 'Challenge that the owner of the wallet completes.',
    },
  ),
);

/** Maximum length of a contract wallet signature, in characters. */
const MAX_SIGNATURE = 16_384;

const OwnershipVerifyRequest = named(
  'OwnershipVerifyRequest',
  Type.Object(
    {
      signature: Type.String({
        minLength: 1,
        maxLength: MAX_SIGNATURE,
        description:
          'Signature over `messageToSign`. EVM chains and Tron: hexadecimal. Bitcoin: ' +
          'base64. Solana: base58. Spark: hexadecimal, DER or 64 bytes.',
      }),
      signatureScheme: Type.Optional(
        oneOf(['bip137', 'electrum'], {
          default: 'bip137',
          description:
            'Signature format of Bitcoin wallets. Defaults to bip137. Ignored for other networks.',
        }),
      ),
    },
    { description: 'Signature that proves the ownership.' },
  ),
);

const params = Type.Object({
  externalAccountId: Type.String({ description: 'ID of the external account.' }),
});

const challengeDescription = (verifyOperationId: string) =>
  'Starts a proof of ownership for a FIRST_PARTY self-custody wallet that is not verified yet. A ' +
  'new challenge replaces the previous challenge and can use another method. It changes an ' +
  'UNVERIFIED account to PENDING_OWNERSHIP_VERIFICATION. For WALLET_SIGNATURE, submit the ' +
  `signature with \`${verifyOperationId}\`. For LIVENESS, send the owner to the ` +
  '`verificationLink`.';

const CHALLENGE = {
  method: 'POST',
  tag: 'External Accounts',
  permission: 'MANAGE',
  params,
  body: OwnershipChallengeRequest,
  replies: { 201: OwnershipChallenge },
  notFound: 'ACCOUNT_NOT_FOUND',
} as const;

const VERIFY = {
  method: 'POST',
  tag: 'External Accounts',
  description:
    'Submits the signature for a WALLET_SIGNATURE challenge. A valid signature ' +
    'changes the account to ACTIVE. An invalid or late signature changes it to ' +
    'UNVERIFIED and closes the challenge, so that a new challenge is required. The ' +
    'signature of a contract wallet is checked on its blockchain. It is invalid if the ' +
    'server is not connected to that blockchain.',
  permission: 'MANAGE',
  params,
  body: OwnershipVerifyRequest,
  replies: { 200: ExternalAccount },
  sealed: true,
  notFound: 'ACCOUNT_NOT_FOUND',
  callsExternal: true,
} as const;

export const createExternalAccountOwnershipChallenge = operation({
  ...CHALLENGE,
  operationId: 'createExternalAccountOwnershipChallenge',
  description: challengeDescription('verifyExternalAccountOwnership'),
  errors: ['NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/challenge',
  summary: 'Create an ownership challenge',
});

export const verifyExternalAccountOwnership = operation({
  ...VERIFY,
  operationId: 'verifyExternalAccountOwnership',
  errors: [],
  path: '/customers/external-accounts/{externalAccountId}/verify',
  summary: 'Verify wallet ownership',
});

export const createPlatformExternalAccountOwnershipChallenge = operation({
  ...CHALLENGE,
  operationId: 'createPlatformExternalAccountOwnershipChallenge',
  description: challengeDescription('verifyPlatformExternalAccountOwnership'),
  errors: ['NOT_IMPLEMENTED'],
  path: '/platform/external-accounts/{externalAccountId}/challenge',
  summary: 'Create a platform ownership challenge',
});

export const verifyPlatformExternalAccountOwnership = operation({
  ...VERIFY,
  operationId: 'verifyPlatformExternalAccountOwnership',
  errors: [],
  path: '/platform/external-accounts/{externalAccountId}/verify',
  summary: 'Verify platform wallet ownership',
});
