// Requests for the return of settled transfers.

import { type Static, Type } from '@sinclair/typebox';
import { named, oneOf, PositiveAmount, variant } from '../../../kernel/schema.ts';
import { RECALL_CAUSES, RECALL_REJECTIONS } from '../rail.ts';
import { CurrencyText, type ProviderCall, seconds, shortText } from './fields.ts';

const CheckAfter = seconds('Seconds until Railhead requests the state again. Default: 86400.');

const Recall = named(
  'Recall',
  Type.Object(
    {
      transferId: shortText('ID of the transfer, as in the call that sent it.'),
      amount: PositiveAmount,
      currency: CurrencyText,
      cause: oneOf(RECALL_CAUSES, { description: 'Reason for the request.' }),
    },
    { description: 'Requests the return of a settled transfer.' },
  ),
);

const DECISIONS = {
  accepted: Type.Object(
    {},
    {
      description:
        'The request is accepted. The transfer is reported as returned when the funds are back.',
    },
  ),
  rejected: Type.Object(
    { reason: oneOf(RECALL_REJECTIONS, { description: 'Reason for the rejection.' }) },
    { description: 'Final: the funds are not returned.' },
  ),
};

const RecallDecision = named(
  'RecallDecision',
  variant('state', DECISIONS, { description: 'Decision about the return of a transfer.' }),
);

export const RecallState = named(
  'RecallState',
  variant(
    'state',
    {
      ...DECISIONS,
      requested: Type.Object(
        { checkAfterSeconds: Type.Optional(CheckAfter) },
        {
          description: 'The bank of the beneficiary has not decided yet.',
        },
      ),
    },
    { description: 'State of the request for a return.' },
  ),
);
export type RecallState = Static<typeof RecallState>;

export const RECALL_MESSAGES = {
  'transfer.recall': Type.Object(
    {
      transferId: shortText('ID of the transfer, as in the call that sent it.'),
      recall: RecallDecision,
    },
    { description: 'The decision about the requested return of a transfer. No funds are posted.' },
  ),
};

export const RECALL_CALLS: Readonly<Record<string, ProviderCall>> = {
  '/transfers/recall': {
    operationId: 'recallTransfer',
    summary: 'Request the return of a settled transfer once, and return the state of the request',
    input: Recall,
    output: RecallState,
  },
};
