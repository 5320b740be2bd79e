// Search over all kinds of resources, by identifiers, references or personal data. Results contain no
// personal data.
import { Type } from '@sinclair/typebox';
import { searchCards } from '../../features/cards/index.ts';
import type { SearchField } from '../../features/customers/digests/index.ts';
import { findCustomers } from '../../features/customers/privacy/index.ts';
import { findCustomers as findCustomerRows } from '../../features/customers/records/index.ts';
import { listExternalAccounts } from '../../features/payees/external-accounts/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { invalidField } from '../../kernel/fault.ts';
import {
  Amount,
  DateOnly,
  named,
  nullable,
  oneOf,
  text,
  withDescription,
} from '../../kernel/schema.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';
import { hitsByAmount, hitsByBankReference, hitsById, hitsByReference } from './search-by-id.ts';
import {
  HIT_PERMISSIONS,
  type Hit,
  type HitKind,
  MATCHES,
  MAX_HITS,
  type MatchedBy,
  visibleHits,
} from './search-hits.ts';

const optional = Type.Optional;

const Result = named(
  'SearchHit',
  Type.Object(
    {
      kind: oneOf(Object.keys(HIT_PERMISSIONS) as HitKind[], {
        description: 'Kind of the resource.',
      }),
      id: text('ID of the resource.'),
      platformId: text('Platform of the resource.'),
      customerId: nullable(text('Customer of the resource, or null if there is none.')),
      title: text('Short description without personal data.'),
      matchedBy: oneOf(MATCHES, { description: 'Field in which the text was found.' }),
    },
    { description: 'A search result.' },
  ),
);

const search = operation({
  operationId: 'searchResources',
  method: 'POST',
  path: '/search',
  tag: 'Search',
  summary: 'Search',
  description:
    'Finds resources by ID. Payments and accounts are found by reference, such as the ' +
    'end-to-end ID at banks. Payments are also found by the bank reference of their deposit or ' +
    'result. Customers and owners are found by e-mail address, telephone number, identity or ' +
    'tax number, or the words of a name. Customers are also found by UMA address and ' +
    '`platformCustomerId`. External accounts are found by the full name of the beneficiary, the ' +
    'account number or its last four characters. Cards are found by the last four digits. ' +
    'Payments are found by amount and currency, and optionally by day, a few seconds after ' +
    'their execution. ' +
    `Returns at most ${MAX_HITS} resources that the operator may read, without personal data. The ` +
    'text is in the body, because URLs of requests are logged. Each search is recorded, without its ' +
    'text.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  idempotency: 'none',
  commands: [],
  query: Type.Object(PlatformFilter),
  body: Type.Object({
    query: optional(
      text('Text to search for. Required without `amount`.', { minLength: 1, maxLength: 255 }),
    ),
    amount: optional(
      withDescription(Amount, 'Amount of executed payments, in minor units of `currency`.'),
    ),
    currency: optional(text('Currency of `amount`. Required with `amount`.', { maxLength: 20 })),
    date: optional(withDescription(DateOnly, 'Day of creation of payments with the amount, UTC.')),
  }),
  replies: {
    200: Type.Object({
      data: Type.Array(Result, { description: 'Resources, exact identifiers first.' }),
      hasMore: Type.Boolean({ description: 'Whether further resources match.' }),
    }),
  },
  errors: ['NOT_FOUND'],
});

interface Search {
  query: string;
  platformId: string | undefined;
}

const LIMIT = MAX_HITS + 1;

/** Customers and owners by personal data. */
const byPersonalData =
  (field: SearchField, matchedBy: MatchedBy) =>
  async (runtime: Runtime, { query: value, platformId }: Search): Promise<Hit[]> => {
    const { data } = await findCustomers(runtime, { by: field, value, platformId, limit: LIMIT });
    return data.map(({ customerId, ownerId, ...match }) => ({
      kind: ownerId === null ? 'CUSTOMER' : 'BENEFICIAL_OWNER',
      id: ownerId ?? customerId,
      platformId: match.platformId,
      customerId,
      title: ownerId === null ? `${match.type} customer, ${match.status}` : 'Beneficial owner',
      matchedBy: match.isWholeName ? 'FULL_NAME' : matchedBy,
    }));
  };

const searchByWords = byPersonalData('name', 'WORDS_OF_NAME');

/** Customers and owners by the words of a name. Exact matches precede names with further words. */
async function byName(runtime: Runtime, search: Search): Promise<Hit[]> {
  const hits = await searchByWords(runtime, search);
  return hits.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const rankOf = ({ matchedBy }: Hit) => (matchedBy === 'FULL_NAME' ? 0 : 1);

/** Customers by an unencrypted column. */
const byColumn =
  (column: 'uma_address' | 'platform_customer_id', matchedBy: MatchedBy) =>
  async ({ db }: Runtime, { query, platformId }: Search): Promise<Hit[]> => {
    const value = column === 'uma_address' ? query.toLowerCase() : query;
    const platformFilter = platformId === undefined ? {} : { platform_id: platformId };
    const rows = await findCustomerRows(
      db,
      { ...platformFilter, [column]: value },
      { limit: LIMIT },
    );
    return rows.map((row) => ({
      kind: 'CUSTOMER',
      id: row.id,
      platformId: row.platform_id,
      customerId: row.id,
      title: `${row.type} customer, ${row.status}`,
      matchedBy,
    }));
  };

/** External accounts by a filter of their list. */
const byAccount =
  (filter: 'accountNumber' | 'beneficiary', matchedBy: MatchedBy) =>
  async (runtime: Runtime, { query, platformId }: Search): Promise<Hit[]> => {
    const input = { [filter]: query, platformId, limit: LIMIT };
    const { data } = await listExternalAccounts(runtime, input);
    return data.map((each) => ({
      kind: 'EXTERNAL_ACCOUNT',
      id: each.accountId,
      platformId: each.platformId,
      customerId: each.customerId,
      title: `${each.accountType}, ${each.status}`,
      matchedBy,
    }));
  };

async function byCardNumber(runtime: Runtime, { query, platformId }: Search): Promise<Hit[]> {
  const { data } = await searchCards(runtime, { last4: query, platformId, limit: LIMIT });
  return data.map((each) => ({
    kind: 'CARD',
    id: each.cardId,
    platformId: each.platformId,
    customerId: each.customerId,
    title: `Card, ${each.state}`,
    matchedBy: 'CARD_NUMBER',
  }));
}

/** Searches for each format of text, in the order of the results. */
const SOURCES: readonly {
  form: RegExp;
  find(runtime: Runtime, search: Search): Promise<Hit[]>;
}[] = [
  { form: /^/, find: (runtime, { query }) => hitsById(runtime, query) },
  { form: /^/, find: (runtime, { query }) => hitsByReference(runtime, query) },
  { form: /^/, find: (runtime, { query }) => hitsByBankReference(runtime, query, LIMIT) },
  { form: /^\$[^@\s]+@\S+$/, find: byColumn('uma_address', 'UMA_ADDRESS') },
  { form: /^[^@\s]+@\S+$/, find: byPersonalData('email', 'EMAIL') },
  { form: /^\+?[\d\s().-]{6,24}$/, find: byPersonalData('phone', 'PHONE') },
  { form: /^(?=.*\d)[\p{L}\p{N}\s./-]{4,40}$/u, find: byPersonalData('identifier', 'IDENTIFIER') },
  { form: /^\d{4}$/, find: byCardNumber },
  {
    form: /^[A-Za-z0-9][A-Za-z0-9\s@._-]{3,90}$/,
    find: byAccount('accountNumber', 'ACCOUNT_NUMBER'),
  },
  { form: /^/, find: byColumn('platform_customer_id', 'PLATFORM_CUSTOMER_ID') },
  { form: /^(?!.*@)(?=.*\p{L})/u, find: byName },
  { form: /\p{L}/u, find: byAccount('beneficiary', 'BENEFICIARY_NAME') },
];

export const searchOperations = [
  operatorHandle(search, async ({ installation, operator }, { query: { platformId }, body }) => {
    const { runtime } = installation;
    const { query = '', amount, currency, date } = body;
    if ((amount === undefined) !== (currency === undefined)) {
      throw invalidField('currency', 'is required with `amount`, and must be absent without it');
    }
    if (query.trim() === '' && amount === undefined) throw invalidField('query', 'is required');
    const input = { query: query.trim(), platformId };
    const matchingSources = SOURCES.filter(
      ({ form }) => input.query !== '' && form.test(input.query),
    );
    const results = await Promise.all([
      ...matchingSources.map(({ find }) => find(runtime, input)),
      amount === undefined || currency === undefined
        ? []
        : hitsByAmount(runtime, { amount, currency, date, platformId, limit: LIMIT }),
    ]);
    const hits = visibleHits(operator, platformId, results.flat());
    const data = hits.slice(0, MAX_HITS);
    return { status: 200, body: { data, hasMore: hits.length > MAX_HITS } };
  }),
];
