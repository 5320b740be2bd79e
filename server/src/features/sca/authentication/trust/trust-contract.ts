// Contracts for trusting a beneficiary account, and for removing the trust. Trust and removal
// consist of the same two steps, start and confirmation.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, nullable } from '../../../../kernel/schema.ts';
import { proofFields, SCA_TAG, ScaChallenge } from '../contract.ts';

const BeneficiaryTrustStart = named(
  'BeneficiaryTrustStart',
  Type.Object(
    { scaChallenge: Type.Optional(ScaChallenge) },
    { description: 'Challenge that the customer must complete.' },
  ),
);

const BeneficiaryTrustConfirmRequest = named(
  'BeneficiaryTrustConfirmRequest',
  Type.Object(
    {
      challengeId: Type.Optional(
        nullable(
          Type.String({ description: 'ID of the challenge. Default: the pending challenge.' }),
        ),
      ),
      ...proofFields,
    },
    { description: 'Proof for the challenge: a code, or a passkey assertion with its origin.' },
  ),
);

const BeneficiaryTrustConfirm = named(
  'BeneficiaryTrustConfirm',
  Type.Object(
    { trusted: Type.Boolean({ description: 'Whether the customer trusts the account.' }) },
    { description: 'Trust status of the account.' },
  ),
);

const COMMON_FIELDS = {
  method: 'POST',
  tag: SCA_TAG,
  permission: 'MANAGE',
  params: Type.Object({
    externalAccountId: Type.String({ description: 'ID of the external account.' }),
  }),
  notFound: 'ACCOUNT_NOT_FOUND',
} as const;

const START_TRUST =
  'Creates a challenge for trusting an external account of a customer. Continue ' +
  'with `confirmBeneficiaryTrust`.';
const START_UNTRUST =
  'Creates a challenge for removing the trust in an external account. Continue ' +
  'with `confirmBeneficiaryUntrust`.';
const FACTOR_CHOICE =
  'The challenge uses the first enrolled factor of SMS_OTP, PASSKEY and TOTP. A ' +
  'new challenge replaces the previous one. In production, a customer receives at most ten SMS ' +
  'codes for authentication in 15 minutes. No session is required.';
const PROOF_LIMITS =
  'An invalid proof counts toward the lockout of the customer. Five invalid proofs close the ' +
  'challenge.';

// Sealed, because the passkey options contain the credential ID of the customer.
const start = { ...COMMON_FIELDS, replies: { 200: BeneficiaryTrustStart }, sealed: true } as const;

const confirm = {
  ...COMMON_FIELDS,
  body: BeneficiaryTrustConfirmRequest,
  replies: { 200: BeneficiaryTrustConfirm },
} as const;

export const startBeneficiaryTrust = operation({
  ...start,
  operationId: 'startBeneficiaryTrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED', 'NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/trust',
  summary: 'Start trusting a beneficiary',
  description: `${START_TRUST} ${FACTOR_CHOICE}`,
});

export const confirmBeneficiaryTrust = operation({
  ...confirm,
  operationId: 'confirmBeneficiaryTrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
  path: '/customers/external-accounts/{externalAccountId}/trust/confirm',
  summary: 'Confirm trust in a beneficiary',
  description:
    'Submits the proof for the challenge of `startBeneficiaryTrust`. Payments of ' +
    'the customer to a trusted account require a session and no authorization for ' +
    `each payment. A trusted account cannot be deleted. ${PROOF_LIMITS}`,
});

export const startBeneficiaryUntrust = operation({
  ...start,
  operationId: 'startBeneficiaryUntrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED', 'NOT_IMPLEMENTED'],
  path: '/customers/external-accounts/{externalAccountId}/untrust',
  summary: 'Start removing beneficiary trust',
  description: `${START_UNTRUST} ${FACTOR_CHOICE}`,
});

export const confirmBeneficiaryUntrust = operation({
  ...confirm,
  operationId: 'confirmBeneficiaryUntrust',
  errors: ['CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
  path: '/customers/external-accounts/{externalAccountId}/untrust/confirm',
  summary: 'Confirm removal of beneficiary trust',
  description:
    'Submits the proof for the challenge of `startBeneficiaryUntrust`. Each later ' +
    `payment to the account requires authorization. ${PROOF_LIMITS}`,
});
