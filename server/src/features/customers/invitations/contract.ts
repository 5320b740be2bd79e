// Invitations as the API shows them, and the operations on them.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  CurrencyAmount,
  described,
  named,
  oneOf,
  PositiveAmount,
  Timestamp,
} from '../../../kernel/schema.ts';

const TAG = 'Invitations';
const maybe = Type.Optional;
const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });
const time = (description: string) => described(Timestamp, description);

export const UmaInvitation = named(
  'UmaInvitation',
  Type.Object(
    {
      code: text('Names the invitation: 20 hexadecimal digits; 8 in those of older versions.'),
      createdAt: time('When it was made.'),
      claimedAt: maybe(time('When it was claimed.')),
      url: text('Page for whoever is invited.'),
      expiresAt: maybe(time('From then on it cannot be claimed.')),
      inviterUma: text('UMA address of the customer who invites.'),
      inviteeUma: maybe(text('UMA address it was claimed with.')),
      status: oneOf(['PENDING', 'CLAIMED', 'EXPIRED', 'CANCELLED'], {
        description: 'How it ended, or that it is still open.',
      }),
      firstName: maybe(text('Name given when it was made.')),
      amountToSend: maybe(
        described(CurrencyAmount, 'What the inviter means to send. Nothing moves by itself.'),
      ),
    },
    { description: 'An invitation to get a UMA address.' },
  ),
);

const UmaInvitationCreateRequest = named(
  'UmaInvitationCreateRequest',
  Type.Object(
    {
      inviterUma: text('UMA address of the customer who invites.', { minLength: 1 }),
      firstName: maybe(text('Name to show on the invitation.', { minLength: 1, maxLength: 100 })),
      amountToSend: maybe(
        described(
          PositiveAmount,
          "What the inviter means to send, in the smallest unit of the customer's first currency.",
        ),
      ),
      expiresAt: maybe(time('From then on it cannot be claimed; without it, it stays open.')),
    },
    { description: 'An invitation to make.' },
  ),
);

const UmaInvitationClaimRequest = named(
  'UmaInvitationClaimRequest',
  Type.Object(
    {
      inviteeUma: text('UMA address of whoever was invited; here, that of a customer of yours.', {
        minLength: 1,
      }),
    },
    { description: 'Who accepts an invitation.' },
  ),
);

const params = Type.Object({ invitationCode: text('Code of the invitation.') });

export const createInvitation = operation({
  operationId: 'createInvitation',
  method: 'POST',
  path: '/invitations',
  tag: TAG,
  summary: 'Invite somebody',
  description: 'Makes a code, and a page, for somebody who is to get a UMA address.',
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
  summary: 'Show an invitation',
  description: 'Any platform that was told the code may look at it.',
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
    'Once, by any platform, before it expires. The platform that made the invitation is told. No money ' +
    'moves: sending what was promised takes a quote.',
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
  description: 'Only the platform that made it may, and only while nobody has claimed it.',
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
    summary: 'An invitation was claimed',
    description: 'Sent to the platform that made the invitation, whoever claimed it.',
    events: [invitationClaimed],
  },
];
