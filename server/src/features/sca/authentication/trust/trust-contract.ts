// The operations by which a customer says that payments to an account need no second factor, and takes that
// back. Both directions have the same two steps.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, nullable } from '../../../../kernel/schema.ts';
import { proofFields, SCA_TAG, ScaChallenge } from '../contract.ts';

const BeneficiaryTrustStart = named(
  'BeneficiaryTrustStart',
  Type.Object(
    { scaChallenge: Type.Optional(ScaChallenge) },
    { description: 'What the customer has to prove before the trust changes.' },
  ),
);

const BeneficiaryTrustConfirmRequest = named(
  'BeneficiaryTrustConfirmRequest',
  Type.Object(
    {
      challengeId: Type.Optional(
        nullable(Type.String({ description: 'Id of the challenge that is answered.' })),
      ),
      ...proofFields,
    },
    { description: 'A code, or what a passkey signed together with its origin.' },
  ),
);

const BeneficiaryTrustConfirm = named(
  'BeneficiaryTrustConfirm',
  Type.Object(
    { trusted: Type.Boolean({ description: 'Whether the account is trusted now.' }) },
    { description: 'How it stands.' },
  ),
);

const COMMON = {
  method: 'POST',
  tag: SCA_TAG,
  permission: 'MANAGE',
  params: Type.Object({
    externalAccountId: Type.String({ description: 'Id of the external account.' }),
  }),
  notFound: 'ACCOUNT_NOT_FOUND',
} as const;

const HOW =
  'The code goes out by SMS; a customer without that is asked for its passkey, else for a code of ' +
  'its app. A new challenge takes the place of the one before, and each shows this account and ' +
  'this direction alone. No login is needed for it.';

// The challenge of a passkey names the one that the customer has.
const start = { ...COMMON, replies: { 200: BeneficiaryTrustStart }, sealed: true } as const;

const confirm = {
  ...COMMON,
  body: BeneficiaryTrustConfirmRequest,
  replies: { 200: BeneficiaryTrustConfirm },
} as const;

export const startBeneficiaryTrust = operation({
  ...start,
  operationId: 'startBeneficiaryTrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED', 'NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/trust',
  summary: 'Ask a customer to prove that it trusts an account',
  description: HOW,
});

export const confirmBeneficiaryTrust = operation({
  ...confirm,
  operationId: 'confirmBeneficiaryTrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
  path: '/customers/external-accounts/{externalAccountId}/trust/confirm',
  summary: 'Trust an account',
  description:
    'Payments to a trusted account need no second factor for each, and it cannot be deleted. An ' +
    'account that is trusted already stays so.',
});

export const startBeneficiaryUntrust = operation({
  ...start,
  operationId: 'startBeneficiaryUntrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED', 'NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/untrust',
  summary: 'Ask a customer to prove that it trusts an account no more',
  description: HOW,
});

export const confirmBeneficiaryUntrust = operation({
  ...confirm,
  operationId: 'confirmBeneficiaryUntrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
  path: '/customers/external-accounts/{externalAccountId}/untrust/confirm',
  summary: 'Take back the trust in an account',
  description:
    'From then on payments to the account need a second factor each. An account that is not ' +
    'trusted stays so.',
});
