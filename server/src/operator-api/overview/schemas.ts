// Schemas and filters that the lists over all platforms share.
import { Type } from '@sinclair/typebox';
import { MODES } from '../../kernel/mode.ts';
import { Amount, nullable, oneOf, PageQuery, text, time } from '../../kernel/schema.ts';
import { PlatformFilter } from '../schemas.ts';

const optional = Type.Optional;

const CreatedFilter = {
  createdAfter: optional(time('Return only items created at or after this time.')),
  createdBefore: optional(time('Return only items created at or before this time.')),
};

/** Filters of every list, and its page. */
export const ListQuery = { ...PlatformFilter, ...CreatedFilter, ...PageQuery };

export const ModeFilter = {
  mode: optional(
    oneOf(MODES, { description: 'Return only items of platforms in this environment.' }),
  ),
};

export const CustomerFilter = {
  customerId: optional(text('Return only items of this customer.')),
};

/** Note about short pages of lists with filters. */
export const SHORT_PAGES =
  'With filters a page may be shorter than `limit`, or empty, although `hasMore` is true. Over all ' +
  'platforms, resources of sandbox platforms with their own clock are ordered by real time.';

export const Money = (description: string) =>
  Type.Object(
    { amount: Amount, currency: text('Currency code.') },
    { description: `${description}, in minor units.` },
  );

export const nullableMoney = (description: string) =>
  nullable(
    Type.Object(
      { amount: Amount, currency: text('Currency code.') },
      { description: `${description}, in minor units, or null if there is none.` },
    ),
  );
