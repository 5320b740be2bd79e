// The operation that returns a link to the number and security code of a card. The API returns
// neither the number nor the code.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, Timestamp, withDescription } from '../../../kernel/schema.ts';
import { CARDS_TAG } from '../contract.ts';

const CardRevealResponse = named(
  'CardRevealResponse',
  Type.Object(
    {
      panEmbedUrl: Type.String({
        format: 'uri',
        description:
          'Page that shows number, expiry and security code once. Secret, because the link alone ' +
          'opens the page.',
      }),
      expiresAt: withDescription(Timestamp, 'Time at which the link expires.'),
    },
    { description: 'Link to the details of a card.' },
  ),
);

export const revealCard = operation({
  operationId: 'revealCard',
  method: 'POST',
  path: '/cards/{id}/reveal',
  tag: CARDS_TAG,
  summary: 'Reveal the details of a card',
  description:
    'Returns a link to a hosted page with number, expiry and security code, for the cardholder ' +
    'only. Each request returns a new link. The link is valid for five minutes and can be opened ' +
    'once. Requests and openings are recorded. Only the origins that the operator has set for ' +
    'the platform can embed the page in a frame. Not available for a card that is not issued yet ' +
    'or is closed.',
  permission: 'MANAGE',
  params: Type.Object({ id: Type.String({ description: 'ID of the card.' }) }),
  replies: { 200: CardRevealResponse },
  errors: ['NOT_IMPLEMENTED'],
  notFound: 'NOT_FOUND',
  idempotency: 'none',
});
