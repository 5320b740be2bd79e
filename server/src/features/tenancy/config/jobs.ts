// Jobs that a change of a platform stages. Their handlers are in features to the right of this one.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';

/** Opens the accounts of customers in currencies that were added; migration 0026 stages it too. */
export const BACKFILL_ACCOUNTS = defineJob(
  'accounts.backfill',
  Type.Object({
    platformId: Type.String(),
    currencies: Type.Array(Type.String()),
    /** The last customer that was served; absent on the first page. */
    after: Type.Optional(Type.Object({ createdAt: Type.Number(), id: Type.String() })),
  }),
);
