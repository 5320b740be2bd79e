// Sending limits of platforms, and their settings for cards.
import { Type } from '@sinclair/typebox';
import {
  CARD_PROGRAM_MAXIMUM,
  changeCardProgram,
  removePaymentLimit,
  setPaymentLimit,
} from '../../features/tenancy/administration/index.ts';
import { cardProgramOf } from '../../features/tenancy/config/index.ts';
import { platformById } from '../../features/tenancy/platform/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, PositiveAmount, text, withDescription } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';
import { params } from './platforms.ts';

const TAG = 'Platforms';
const optional = Type.Optional;

const currencyPair = {
  currency: text('Code of the currency that is sent.'),
  to: optional(text('Code of the destination currency. Absent for any.')),
};
const amounts = {
  perPayment: optional(
    withDescription(
      PositiveAmount,
      'Maximum per payment, in minor units. Absent if only the day is limited.',
    ),
  ),
  perDay: optional(
    withDescription(
      PositiveAmount,
      'Maximum per UTC day, in minor units. Absent if only each payment is limited.',
    ),
  ),
};
const PaymentLimit = named(
  'PaymentLimit',
  Type.Object(
    { ...currencyPair, ...amounts },
    { description: 'Maximum amounts of payments in a currency, or of a conversion.' },
  ),
);
const PaymentLimits = named(
  'PaymentLimits',
  Type.Object(
    {
      platformId: text('ID of the platform.'),
      limits: Type.Array(PaymentLimit, {
        description: 'Limits. Every applicable limit is enforced.',
      }),
    },
    { description: 'All limits of a platform.' },
  ),
);

const listLimits = operation({
  operationId: 'listPaymentLimits',
  method: 'GET',
  path: '/platforms/{platformId}/limits',
  tag: TAG,
  summary: 'List the limits of a platform',
  description: 'Returns the maximum amounts of the payments of a platform.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: ['platform limits'],
  params,
  replies: { 200: PaymentLimits },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const setLimit = operation({
  operationId: 'setPaymentLimit',
  method: 'PUT',
  path: '/platforms/{platformId}/limits',
  tag: TAG,
  summary: 'Set the limits of a currency',
  description:
    'Sets the limits of a currency, or of a conversion, and returns all limits. The new limits ' +
    'replace those of the same currencies. At least one amount is required.',
  auth: 'operator',
  operatorPermission: 'limits.manage',
  commands: ['platform set-limit'],
  params,
  body: Type.Object({ ...currencyPair, ...amounts, ...OptionalReason }),
  replies: { 200: PaymentLimits },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const removeLimit = operation({
  operationId: 'removePaymentLimit',
  method: 'DELETE',
  path: '/platforms/{platformId}/limits',
  tag: TAG,
  summary: 'Remove the limits of a currency',
  description:
    'Removes the limits of a currency, or of a conversion, and returns the remaining limits.',
  auth: 'operator',
  operatorPermission: 'limits.manage',
  commands: ['platform remove-limit'],
  params,
  query: Type.Object({ ...currencyPair, ...OptionalReason }),
  replies: { 200: PaymentLimits },
  errors: ['NOT_FOUND'],
  notFound: 'PLATFORM_NOT_FOUND',
});

const program = {
  maxLive: Type.Integer({
    minimum: 0,
    maximum: CARD_PROGRAM_MAXIMUM.maxLive,
    description: 'Maximum number of open cards, 10,000 for a new platform.',
  }),
  maxLivePerHolder: Type.Integer({
    minimum: 0,
    maximum: CARD_PROGRAM_MAXIMUM.maxLivePerHolder,
    description: 'Maximum number of open cards per cardholder, 10 for a new platform.',
  }),
  frameOrigins: Type.Array(Type.String({ maxLength: 300 }), {
    maxItems: CARD_PROGRAM_MAXIMUM.frameOrigins,
    uniqueItems: true,
    description: 'Origins that may frame the page with a card number. The complete list.',
  }),
};
const CardProgram = named(
  'CardProgram',
  Type.Object(
    { platformId: text('ID of the platform.'), ...program },
    { description: 'The card settings of a platform.' },
  ),
);

const getProgram = operation({
  operationId: 'getCardProgram',
  method: 'GET',
  path: '/platforms/{platformId}/card-program',
  tag: TAG,
  summary: 'Get the card settings of a platform',
  description:
    'Returns the card limits and the origins that may frame the page with a card number.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: ['platform cards'],
  params,
  replies: { 200: CardProgram },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const updateProgram = operation({
  operationId: 'updateCardProgram',
  method: 'PATCH',
  path: '/platforms/{platformId}/card-program',
  tag: TAG,
  summary: 'Change the card settings of a platform',
  description: 'Changes the card settings in the request. Other settings are unchanged.',
  auth: 'operator',
  operatorPermission: 'platforms.manage',
  commands: ['platform set-cards'],
  params,
  body: Type.Object({
    maxLive: optional(program.maxLive),
    maxLivePerHolder: optional(program.maxLivePerHolder),
    frameOrigins: optional(program.frameOrigins),
    ...OptionalReason,
  }),
  replies: { 200: CardProgram },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

export const limitOperations = [
  operatorHandle(listLimits, async ({ installation }, { params: { platformId } }) => {
    const { limits } = await platformById(installation.runtime, platformId);
    return { status: 200, body: { platformId, limits: [...limits] } };
  }),
  operatorHandle(setLimit, async ({ installation }, { params: { platformId }, body }) => {
    const { reason: _, ...limit } = body;
    const limits = await setPaymentLimit(installation.runtime, platformId, limit);
    return { status: 200, body: { platformId, limits: [...limits] } };
  }),
  operatorHandle(removeLimit, async ({ installation }, { params: { platformId }, query }) => {
    const { reason: _, ...pair } = query;
    const limits = await removePaymentLimit(installation.runtime, platformId, pair);
    return { status: 200, body: { platformId, limits: [...limits] } };
  }),
  operatorHandle(getProgram, async ({ installation }, { params: { platformId } }) => {
    const platform = await platformById(installation.runtime, platformId);
    return { status: 200, body: { platformId, ...cardProgramOf(platform) } };
  }),
  operatorHandle(updateProgram, async ({ installation }, { params: { platformId }, body }) => {
    const { reason: _, ...change } = body;
    const changedProgram = await changeCardProgram(installation.runtime, platformId, change);
    return { status: 200, body: { platformId, ...changedProgram } };
  }),
];
