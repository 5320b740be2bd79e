// Contract of invitations: the API resource and its operations.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  CurrencyAmount,
  named,
  oneOf,
  PositiveAmount,
  text,
  time,
  withDescription,
} from '../../../kernel/schema.ts';

const TAG = 'Invitations';
const optional = Type.Optional;

export const UmaInvitation = named(
  'UmaInvitation',
  Type.Object(
    {
      code: text(
        'Invitation code: 20 hexadecimal digits. 8 digits in invitations of earlier versions.',
      ),
      createdAt: time('Time at which the invitation was created.'),
      claimedAt: optional(
        time('Time at which the invitation was claimed. Absent for an unclaimed invitation.'),
      ),
      url: text('URL of the page for the invitee.'),
      expiresAt: optional(
        time(
          'Time from which the invitation can no longer be claimed. Absent if it does not ' +
            'expire.',
        ),
      ),
      inviterUma: text('UMA address of the inviting customer.'),
      inviteeUma: optional(
        text('UMA address of the invitee. Absent until the invitation is claimed.'),
      ),
      status: oneOf(['PENDING', 'CLAIMED', 'EXPIRED', 'CANCELLED'], {
        description:
          'Status of the invitation. PENDING: can be claimed. All other statuses are final.',
      }),
      firstName: optional(
        text('Name of the invitee, as specified at the creation. Absent if none was specified.'),
      ),
      amountToSend: optional(
        withDescription(
          CurrencyAmount,
          'Amount that the inviter intends to send. Informational: no payment is created. ' +
            'Absent if none was specified.',
        ),
      ),
    },
    { description: 'An invitation to obtain a UMA address.' },
  ),
);

const UmaInvitationCreateRequest = named(
  'UmaInvitationCreateRequest',
  Type.Object(
    {
      inviterUma: text('UMA address of the inviting customer.', { minLength: 1 }),
      firstName: optional(
        text('Name of the invitee, shown on the invitation page. 1 to 100 characters.', {
          minLength: 1,
          maxLength: 100,
        }),
      ),
      amountToSend: optional(
        withDescription(
          PositiveAmount,
          'Amount that the inviter intends to send, in minor units of the first ' +
            'currency of the inviting customer. Informational: no payment is created.',
        ),
      ),
      expiresAt: optional(
        time(
          'Time from which the invitation can no longer be claimed. Must be in the future. ' +
            'Absent for no expiry.',
        ),
      ),
    },
    { description: 'The invitation to create.' },
  ),
);

const UmaInvitationClaimRequest = named(
  'UmaInvitationClaimRequest',
  Type.Object(
    {
      inviteeUma: text(
        'UMA address of the invitee: of a customer of the calling platform, or of a provider ' +
          'outside this service.',
        {
          minLength: 1,
        },
      ),
    },
    { description: 'The invitee who claims the invitation.' },
  ),
);

const params = Type.Object({
  invitationCode: text(
    'Invitation code: 20 hexadecimal digits, or 8 in invitations of earlier versions.',
  ),
});

export const createInvitation = operation({
  operationId: 'createInvitation',
  method: 'POST',
  path: '/invitations',
  tag: TAG,
  summary: 'Create an invitation',
  description:
    'Creates an invitation code and a web page with which a person can obtain a UMA ' +
    'address. The inviter must be a customer of the platform. Send `url` to the invitee. ' +
    'The invitation is claimed with `claimInvitation`.',
  permission: 'MANAGE',
  body: UmaInvitationCreateRequest,
  semanticValidation: true,
  replies: { 201: UmaInvitation },
  errors: ['INVITATIONS_NOT_CONFIGURED', 'INVALID_UMA_ADDRESS'],
  sealed: true,
});

export const getInvitation = operation({
  operationId: 'getInvitation',
  method: 'GET',
  path: '/invitations/{invitationCode}',
  tag: TAG,
  summary: 'Get an invitation',
  description:
    'Returns an invitation by its code. Every platform of the same environment (sandbox or ' +
    'production) that has the code can read the invitation.',
  permission: 'VIEW',
  params,
  replies: { 200: UmaInvitation },
  errors: [],
  notFound: 'INVITATION_NOT_FOUND',
});

export const claimInvitation = operation({
  operationId: 'claimInvitation',
  method: 'POST',
  path: '/invitations/{invitationCode}/claim',
  tag: TAG,
  summary: 'Claim an invitation',
  description:
    'Claims a pending invitation for a UMA address. Every platform of the same environment ' +
    '(sandbox or production) that has the code can claim the invitation. An invitation can be ' +
    'claimed once, before it expires. The inviting platform receives a webhook. No funds are ' +
    'transferred. To send the intended amount, create a quote with `createQuote`.',
  permission: 'MANAGE',
  params,
  body: UmaInvitationClaimRequest,
  replies: { 200: UmaInvitation },
  errors: ['INVITATION_ALREADY_CLAIMED', 'INVALID_UMA_ADDRESS', 'INVITATION_CANCELLED'],
  notFound: 'INVITATION_NOT_FOUND',
  sealed: true,
});

export const cancelInvitation = operation({
  operationId: 'cancelInvitation',
  method: 'POST',
  path: '/invitations/{invitationCode}/cancel',
  tag: TAG,
  summary: 'Cancel an invitation',
  description:
    'Cancels a pending invitation. A canceled invitation can no longer be claimed. Only ' +
    'the platform that created the invitation can cancel it.',
  permission: 'MANAGE',
  params,
  replies: { 200: UmaInvitation },
  errors: ['INVITATION_ALREADY_CLAIMED', 'INVITATION_CANCELLED'],
  notFound: 'INVITATION_NOT_FOUND',
  sealed: true,
});

export const invitationClaimed = defineEvent('INVITATION.CLAIMED', UmaInvitation);

export const invitationWebhooks: readonly WebhookContract[] = [
  {
    name: 'invitation-claimed',
    summary: 'Invitation claimed',
    description:
      'Sent to the platform that created the invitation when it is claimed on any platform.',
    events: [invitationClaimed],
  },
];
