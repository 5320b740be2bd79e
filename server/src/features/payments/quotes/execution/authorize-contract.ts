// The operations that submit a customer's proof for a payment and resend its code.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { addressErrors, ScaAuthorization } from '../../../sca/authentication/index.ts';
import { Quote } from '../contract.ts';

const TAG = 'Strong Customer Authentication';

const params = Type.Object({ quoteId: Type.String({ description: 'ID of the quote.' }) });

export const authorizeQuote = operation({
  operationId: 'authorizeQuote',
  method: 'POST',
  path: '/quotes/{quoteId}/authorize',
  tag: TAG,
  summary: 'Authorize a quote',
  description:
    'Submits the code or passkey assertion for the `scaChallenge` of the quote. The quote must ' +
    'be PENDING_AUTHORIZATION and the customer must have a session from `completeScaLogin`. ' +
    'After the last step the payment starts, or a REALTIME_FUNDING quote becomes PENDING with ' +
    'payment instructions. A quote that remains PENDING_AUTHORIZATION contains the challenge of ' +
    'its next step. An invalid proof counts toward the lockout of the customer. Five invalid ' +
    'proofs close the challenge.',
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
  summary: 'Resend an authorization code',
  description:
    'Sends the SMS code for the pending challenge of the quote again, at most ' +
    'once in 30 seconds. In production, a customer receives at most ten SMS codes for ' +
    'authentication in 15 minutes. The challenge and its expiry do not change. Continue ' +
    'with `authorizeQuote`.',
  permission: 'TRANSACT',
  params,
  replies: { 204: null },
  errors: ['NOT_IMPLEMENTED'],
  notFound: 'QUOTE_NOT_FOUND',
});
