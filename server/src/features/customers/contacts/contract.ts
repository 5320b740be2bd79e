// The operations by which a customer shows that its e-mail address and its telephone number are its own.
// Both channels have the same two.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named } from '../../../kernel/schema.ts';
import { CustomerSummary } from '../profiles/index.ts';

const ContactVerificationConfirmRequest = named(
  'ContactVerificationConfirmRequest',
  Type.Object(
    {
      code: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The code as it was received. In the sandbox it is 123456.',
      }),
    },
    { description: 'What the customer received.' },
  ),
);

const params = Type.Object({ customerId: Type.String({ description: 'Id of the customer.' }) });

const COMMON = {
  method: 'POST',
  tag: 'Contact Verification',
  permission: 'MANAGE',
  params,
  notFound: 'CUSTOMER_NOT_FOUND',
} as const;

const SEND = {
  ...COMMON,
  description:
    'For customers whose `contactVerification` has this channel as PENDING. The code has six digits ' +
    'and works for ten minutes; a new one takes the place of the one before, and is sent at the ' +
    'earliest half a minute later. In the sandbox nothing is sent.',
  bodyOptional: true,
  replies: { 204: null },
} as const;

const CONFIRM = {
  ...COMMON,
  description:
    'The right code makes the channel VERIFIED. Five wrong ones end the code. A code shows only what ' +
    'it was sent to: after a change of that a new one is needed.',
  body: ContactVerificationConfirmRequest,
  replies: { 200: CustomerSummary },
  sealed: true,
} as const;

export const sendCustomerEmailVerification = operation({
  ...SEND,
  operationId: 'sendCustomerEmailVerification',
  errors: ['CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  path: '/customers/{customerId}/verify-email',
  summary: 'Send a code to the customer’s e-mail address',
});

export const confirmCustomerEmailVerification = operation({
  ...CONFIRM,
  operationId: 'confirmCustomerEmailVerification',
  errors: ['CUSTOMER_DELETED'],
  path: '/customers/{customerId}/verify-email/confirm',
  summary: 'Hand in the code from the e-mail',
});

export const sendCustomerPhoneVerification = operation({
  ...SEND,
  operationId: 'sendCustomerPhoneVerification',
  errors: ['CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  path: '/customers/{customerId}/verify-phone',
  summary: 'Send a code to the customer’s telephone',
});

export const confirmCustomerPhoneVerification = operation({
  ...CONFIRM,
  operationId: 'confirmCustomerPhoneVerification',
  errors: ['CUSTOMER_DELETED'],
  path: '/customers/{customerId}/verify-phone/confirm',
  summary: 'Hand in the code from the text message',
});
