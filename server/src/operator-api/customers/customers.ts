// Data subject requests: search by personal data, export, and erasure.
import { Type } from '@sinclair/typebox';
import { SEARCH_FIELDS } from '../../features/customers/digests/index.ts';
import {
  beginErasure,
  eraseCustomerData,
  findCustomers,
  listErasures,
  openCustomerData,
  pageOfCustomerData,
} from '../../features/customers/privacy/index.ts';
import { customerFeature } from '../../features/customers/records/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { assertPlatform, operatorHandle } from '../handle.ts';
import { CHECK_STATUS_DESCRIPTION, listInput, PlatformFilter, Reason } from '../schemas.ts';

const CHECK_STATUSES = Object.keys(customerFeature.states.check.transitions);

const TAG = 'Customers';

const CUSTOMER = {
  customerId: text('ID of the customer.'),
  platformId: text('Platform of the customer.'),
};
const params = Type.Object({ customerId: text('ID of the customer.') });

const FoundCustomer = named(
  'OperatorFoundCustomer',
  Type.Object(
    {
      ...CUSTOMER,
      type: oneOf(['INDIVIDUAL', 'BUSINESS'], { description: 'Type of the customer.' }),
      status: oneOf(CHECK_STATUSES, { description: CHECK_STATUS_DESCRIPTION }),
      isDeleted: Type.Boolean({ description: 'Whether the customer was deleted.' }),
      ownerId: nullable(
        text('Beneficial owner with the value, or null if the value belongs to the customer.'),
      ),
      isWholeName: Type.Optional(
        Type.Boolean({
          description:
            'Whether the complete name matches. False if only its words match. Only in a search by name.',
        }),
      ),
    },
    { description: 'A matching customer, without personal data.' },
  ),
);

const search = operation({
  operationId: 'searchCustomers',
  method: 'POST',
  path: '/customers/search',
  tag: TAG,
  summary: 'Find customers by personal data',
  description:
    'Returns the customers and beneficial owners with the e-mail address, telephone number, identity ' +
    'or tax number, or all words of the name in `value`. Differences in case are ignored. In numbers, ' +
    'differences in punctuation are ignored. In names, differences in punctuation and accents are ' +
    'ignored. Only the first 16 words of a name are compared. The value is in the body, because ' +
    'URLs of requests are logged.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  oldestFirst: true,
  idempotency: 'none',
  commands: ['customers find'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  body: Type.Object({
    field: oneOf(SEARCH_FIELDS, { description: 'Type of the value.' }),
    value: text('Value to search for.', { minLength: 1, maxLength: 255 }),
  }),
  replies: {
    200: named(
      'OperatorFoundCustomerPage',
      page(FoundCustomer, {
        description: 'A page of customers and beneficial owners that match the search.',
      }),
    ),
  },
  errors: [],
});

const exportOne = operation({
  operationId: 'exportCustomerData',
  method: 'GET',
  path: '/customers/{customerId}/export',
  tag: TAG,
  summary: 'Export all data held about a customer',
  description:
    'Returns the rows about a customer in all tables, decrypted, in pages. Request further ' +
    'pages until `hasMore` is false. Erased data is absent. This request is recorded.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['customers export'],
  params,
  query: Type.Object(PageQuery),
  replies: {
    200: Type.Object({
      ...CUSTOMER,
      ...page(
        Type.Object({
          table: text('Name of the table that contains the row, or `events` for an event.'),
          row: Type.Record(Type.String(), Type.Unknown(), {
            description: 'Columns of the row.',
          }),
        }),
      ).properties,
    }),
  },
  errors: [],
  notFound: 'CUSTOMER_NOT_FOUND',
});

const Erasure = named(
  'OperatorErasure',
  Type.Object(
    {
      ...CUSTOMER,
      actor: text('Operator who requested the erasure.'),
      reason: nullable(text('Reason for the erasure, or null if none was stated.')),
      counts: Type.Record(Type.String(), Type.Integer(), {
        description: 'Number of rows that were emptied or removed, by table.',
      }),
      startedAt: time('Time at which the erasure started.'),
      finishedAt: nullable(time('Time at which the erasure was completed, or null until then.')),
    },
    { description: 'The erasure of the personal data of a customer.' },
  ),
);

const erase = operation({
  operationId: 'eraseCustomer',
  method: 'POST',
  path: '/customers/{customerId}/erasure',
  tag: TAG,
  summary: 'Erase the personal data of a customer',
  description:
    'Erases the personal data of a deleted customer, or resumes an erasure that was interrupted. ' +
    'The ledger is unchanged. An erasure cannot be undone.',
  auth: 'operator',
  operatorPermission: 'customers.erase',
  commands: ['customers erase'],
  params,
  body: Type.Object({
    confirm: oneOf(['ERASE'], { description: 'Confirms the erasure.' }),
    reason: Reason,
  }),
  replies: { 200: Erasure },
  // The customer was not deleted.
  errors: ['CONFLICT'],
  notFound: 'CUSTOMER_NOT_FOUND',
});

const list = operation({
  operationId: 'listErasures',
  method: 'GET',
  path: '/erasures',
  tag: TAG,
  summary: 'List erasures',
  description: 'Returns the erasures of personal data, newest first.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: ['customers erasures'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'OperatorErasurePage',
      page(Erasure, { description: 'A page of erasures of personal data, newest first.' }),
    ),
  },
  errors: [],
});

export const customerOperations = [
  operatorHandle(
    search,
    async ({ installation }, { query, body: { field: searchField, value } }) => ({
      status: 200,
      body: await findCustomers(installation.runtime, {
        ...listInput(query),
        by: searchField,
        value,
      }),
    }),
  ),
  operatorHandle(exportOne, async (call, { params: { customerId }, query }) => {
    const { installation, provisioning, operator } = call;
    const { runtime } = installation;
    const opener = await openCustomerData(runtime, customerId);
    assertPlatform(operator, opener.customer.platform_id);
    const deps = { db: runtime.db, personalData: provisioning.personalData };
    return { status: 200, body: await pageOfCustomerData(deps, opener, listInput(query)) };
  }),
  operatorHandle(erase, async (call, { params: { customerId }, body: { reason } }) => {
    const { installation, provisioning, operator } = call;
    const { customer } = await openCustomerData(installation.runtime, customerId);
    // The platform is checked here, because the erasure also empties tables outside its commits.
    assertPlatform(operator, customer.platform_id);
    const input = { customerId, actor: operator.name, reason };
    const allDefinitions = provisioning.personalData;
    await beginErasure(installation.runtime, customerId);
    return {
      status: 200,
      body: await eraseCustomerData(installation.runtime, allDefinitions, input),
    };
  }),
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await listErasures(installation.runtime, listInput(query)),
  })),
];
