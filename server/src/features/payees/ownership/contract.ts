// The operations by which the owner of a wallet shows that it is theirs. Customers' accounts and the
// platform's own have the same two, told apart by whose accounts the path shows.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf, Timestamp, variant } from '../../../kernel/schema.ts';
import { ExternalAccount } from '../external-accounts/index.ts';
import { OWNERSHIP_METHODS } from './store.ts';

const OwnershipVerificationMethod = named(
  'OwnershipVerificationMethod',
  oneOf(OWNERSHIP_METHODS, {
    description:
      'WALLET_SIGNATURE: the wallet signs a text. LIVENESS: the owner is checked on a page.',
  }),
);

const OwnershipChallengeRequest = named(
  'OwnershipChallengeRequest',
  Type.Object(
    { method: OwnershipVerificationMethod },
    { description: 'How the owner will show that the wallet is theirs.' },
  ),
);

const expiresAt = { ...Timestamp, description: 'When the challenge ends.' };

const WalletSignatureChallenge = named(
  'WalletSignatureChallenge',
  Type.Object(
    {
      messageToSign: Type.String({
        description: 'The text for the wallet to sign, exactly as it is, line breaks included.',
      }),
      expiresAt,
    },
    { title: 'Text to sign', description: 'Answered by the verify operation.' },
  ),
);

const LivenessChallenge = named(
  'LivenessChallenge',
  Type.Object(
    {
      verificationLink: Type.String({
        format: 'uri',
        description: 'Page to send the owner to. It works once.',
      }),
      token: Type.Optional(Type.String({ description: 'The secret part of the link.' })),
      expiresAt,
    },
    {
      title: 'Liveness check',
      description: 'Ends by itself: the outcome is the new status of the account, which is told.',
    },
  ),
);

const OwnershipChallenge = named(
  'OwnershipChallenge',
  variant(
    'method',
    { WALLET_SIGNATURE: WalletSignatureChallenge, LIVENESS: LivenessChallenge },
    { tagType: OwnershipVerificationMethod, description: 'What the owner has to do now.' },
  ),
);

/** The longest proof of a contract wallet that is passed on, in characters. */
const MAX_SIGNATURE = 16_384;

const OwnershipVerifyRequest = named(
  'OwnershipVerifyRequest',
  Type.Object(
    {
      signature: Type.String({
        minLength: 1,
        maxLength: MAX_SIGNATURE,
        description:
          'What the wallet made of the text. EVM chains and Tron: hexadecimal. Bitcoin: base64. ' +
          'Solana: base58. Spark: hexadecimal, DER or 64 bytes.',
      }),
      signatureScheme: Type.Optional(
        oneOf(['bip137', 'electrum'], {
          default: 'bip137',
          description: 'How a Bitcoin wallet signs messages; means nothing on other chains.',
        }),
      ),
    },
    { description: 'The proof.' },
  ),
);

const params = Type.Object({
  externalAccountId: Type.String({ description: 'Id of the external account.' }),
});

const CHALLENGE = {
  method: 'POST',
  tag: 'External Accounts',
  description:
    "For the owner's own wallet without a custodian, until it is proven. One challenge is " +
    'outstanding at a time: a new one takes the place of the one before and may use the other ' +
    'method. It lives an hour.',
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
    'A good signature makes the account ACTIVE. A bad one, or one that comes too late, makes it ' +
    'UNVERIFIED and ends the challenge, so that the next attempt needs a new one. Wallets that are ' +
    'contracts are asked on their chain where the server has a node for it.',
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
  errors: ['NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/challenge',
  summary: 'Start a proof that a wallet is the customer’s',
});

export const verifyExternalAccountOwnership = operation({
  ...VERIFY,
  operationId: 'verifyExternalAccountOwnership',
  errors: [],
  path: '/customers/external-accounts/{externalAccountId}/verify',
  summary: 'Hand in the signature of a customer’s wallet',
});

export const createPlatformExternalAccountOwnershipChallenge = operation({
  ...CHALLENGE,
  operationId: 'createPlatformExternalAccountOwnershipChallenge',
  errors: ['NOT_IMPLEMENTED'],
  path: '/platform/external-accounts/{externalAccountId}/challenge',
  summary: 'Start a proof that a wallet is the platform’s',
});

export const verifyPlatformExternalAccountOwnership = operation({
  ...VERIFY,
  operationId: 'verifyPlatformExternalAccountOwnership',
  errors: [],
  path: '/platform/external-accounts/{externalAccountId}/verify',
  summary: 'Hand in the signature of the platform’s wallet',
});
