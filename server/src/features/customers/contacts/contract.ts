// Contract of the operations that verify the e-mail address and the telephone number of a customer.
// Both channels have the same two operations.

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
        description: 'One-time code from the message. In the sandbox it is 123456.',
      }),
    },
    { description: 'The one-time code that the customer received.' },
  ),
);

const params = Type.Object({
  customerId: Type.String({ description: 'ID of the customer.' }),
});

const COMMON_FIELDS = {
  method: 'POST',
  tag: 'Contact Verification',
  permission: 'MANAGE',
  params,
  notFound: 'CUSTOMER_NOT_FOUND',
} as const;

const SEND_FIELDS = {
  ...COMMON_FIELDS,
  bodyOptional: true,
  replies: { 204: null },
} as const;

const describeSending = (channel: string, confirmation: string) =>
  `Sends a one-time code to the customer ${channel}. The channel must require verification and ` +
  'must not be VERIFIED in `contactVerification` of the customer. The code has six digits, ' +
  'expires in ten minutes and replaces the previous code. Another code can be requested after ' +
  '30 seconds. In the sandbox no ' +
  `message is sent. Confirm the code with \`${confirmation}\`.`;

const CONFIRM_FIELDS = {
  ...COMMON_FIELDS,
  description:
    'Confirms the one-time code that the customer received and sets the channel to VERIFIED in ' +
    '`contactVerification`. Five wrong codes invalidate the code. A code is valid only for the ' +
    'address or number to which it was sent. Request a new code after a change of the address ' +
    'or number. When all channels are VERIFIED, submit the customer with `createVerification`.',
  body: ContactVerificationConfirmRequest,
  replies: { 200: CustomerSummary },
  sealed: true,
} as const;

export const sendCustomerEmailVerification = operation({
  ...SEND_FIELDS,
  operationId: 'sendCustomerEmailVerification',
  errors: ['CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  path: '/customers/{customerId}/verify-email',
  summary: 'Send an e-mail verification code',
  description: describeSending('by e-mail', 'confirmCustomerEmailVerification'),
});

export const confirmCustomerEmailVerification = operation({
  ...CONFIRM_FIELDS,
  operationId: 'confirmCustomerEmailVerification',
  errors: ['CUSTOMER_DELETED'],
  path: '/customers/{customerId}/verify-email/confirm',
  summary: 'Confirm an e-mail verification code',
});

export const sendCustomerPhoneVerification = operation({
  ...SEND_FIELDS,
  operationId: 'sendCustomerPhoneVerification',
  errors: ['CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  path: '/customers/{customerId}/verify-phone',
  summary: 'Send a telephone verification code',
  description: describeSending('by text message', 'confirmCustomerPhoneVerification'),
});

export const confirmCustomerPhoneVerification = operation({
  ...CONFIRM_FIELDS,
  operationId: 'confirmCustomerPhoneVerification',
  errors: ['CUSTOMER_DELETED'],
  path: '/customers/{customerId}/verify-phone/confirm',
  summary: 'Confirm a telephone verification code',
});
