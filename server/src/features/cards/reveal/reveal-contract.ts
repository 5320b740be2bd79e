// The operation that gives out a link to a card's number and code. The API itself never says either.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, Timestamp } from '../../../kernel/schema.ts';
import { CARDS_TAG } from '../contract.ts';

const CardRevealResponse = named(
  'CardRevealResponse',
  Type.Object(
    {
      panEmbedUrl: Type.String({
        format: 'uri',
        description:
          'Page that shows number, expiry and code to whoever opens it first, once. Secret.',
      }),
      expiresAt: described(Timestamp, 'Until when it may be opened.'),
    },
    { description: 'Where the cardholder sees the card.' },
  ),
);

export const revealCard = operation({
  operationId: 'revealCard',
  method: 'POST',
  path: '/cards/{id}/reveal',
  tag: CARDS_TAG,
  summary: "Get a link to a card's number and code",
  description:
    'The page may be framed by the origins that the operator has set for the platform, and by no other. ' +
    'It is for the cardholder: a platform that keeps the number of no card never asks for it itself. ' +
    'A new link each time, for five minutes and one look; who asked and when it was opened is kept. ' +
    'A card that is not issued yet, or closed, has nothing to show.',
  permission: 'MANAGE',
  params: Type.Object({ id: Type.String({ description: 'Id of the card.' }) }),
  replies: { 200: CardRevealResponse },
  errors: ['NOT_IMPLEMENTED'],
  notFound: 'NOT_FOUND',
  idempotency: 'none',
});
