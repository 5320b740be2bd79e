// The operations by which a customer lets a payment go on: the proof, and its code once more.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { addressErrors, ScaAuthorization } from '../../../sca/authentication/index.ts';
import { Quote } from '../contract.ts';

const TAG = 'Strong Customer Authentication';

const params = Type.Object({ quoteId: Type.String() });

export const authorizeQuote = operation({
  operationId: 'authorizeQuote',
  method: 'POST',
  path: '/quotes/{quoteId}/authorize',
  tag: TAG,
  summary: 'Authorize a quote',
  description:
    'Brings the proof that the `scaChallenge` of the quote asks for. A quote that is still ' +
    '`PENDING_AUTHORIZATION` then carries the challenge of its next step. Wrong proofs count toward ' +
    'the lock of the customer.',
  permission: 'TRANSACT',
  params,
  body: ScaAuthorization,
  bodyRules: addressErrors,
  replies: { 200: Quote },
  errors: [
    'INVALID_RECEIVER',
    'INVALID_BANK_ACCOUNT',
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'INSUFFICIENT_FUNDS',
    'USER_NOT_READY',
    'VELOCITY_LIMIT_EXCEEDED',
    'ACCOUNT_NOT_FOUND',
    'SCA_SESSION_REQUIRED',
    'CONFLICT',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
    'ACCOUNT_LOCKED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
  ],
  notFound: 'QUOTE_NOT_FOUND',
  money: true,
});

export const resendQuoteScaCode = operation({
  operationId: 'resendQuoteScaCode',
  method: 'POST',
  path: '/quotes/{quoteId}/authorize/resend',
  tag: TAG,
  summary: 'Send the code of a quote once more',
  description: 'For a challenge by SMS. It is the same challenge, and does not last longer for it.',
  permission: 'TRANSACT',
  params,
  replies: { 204: null },
  errors: ['NOT_IMPLEMENTED'],
  notFound: 'QUOTE_NOT_FOUND',
});
