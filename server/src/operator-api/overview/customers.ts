// Customers of all platforms, without personal data.
import { Type } from '@sinclair/typebox';
import { customerFeature, customerPages } from '../../features/customers/records/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { CHECK_STATUS_DESCRIPTION } from '../schemas.ts';
import { ListQuery, ModeFilter, SHORT_PAGES } from './schemas.ts';

const CHECK_STATUSES = Object.keys(customerFeature.states.check.transitions);
const TYPES = ['INDIVIDUAL', 'BUSINESS'] as const;
const optional = Type.Optional;

const Customer = named(
  'OperatorCustomer',
  Type.Object(
    {
      id: text('ID of the customer.'),
      platformId: text('Platform of the customer.'),
      type: oneOf(TYPES, { description: 'Type of the customer.' }),
      status: oneOf(CHECK_STATUSES, { description: CHECK_STATUS_DESCRIPTION }),
      region: nullable(text('Region of the customer, or null if there is none.')),
      isErased: Type.Boolean({ description: 'Whether the personal data was erased.' }),
      deletedAt: nullable(time('Time of the deletion, or null if it was not deleted.')),
      createdAt: time('Time of creation.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A customer without personal data.' },
  ),
);

const list = operation({
  operationId: 'listCustomersOfPlatforms',
  method: 'GET',
  path: '/customers',
  tag: 'Customers',
  summary: 'List customers',
  description: `Returns customers without personal data, newest first. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: [],
  query: Type.Object({
    ...ListQuery,
    ...ModeFilter,
    type: optional(oneOf(TYPES, { description: 'Return only customers of this type.' })),
    status: optional(
      oneOf(CHECK_STATUSES, { description: 'Return only customers with this status.' }),
    ),
    region: optional(text('Return only customers of this region.')),
    isDeleted: optional(
      Type.Boolean({ description: 'Filter by whether the customer was deleted.' }),
    ),
  }),
  replies: {
    200: named(
      'OperatorCustomerPage',
      page(Customer, { description: 'A page of customers without personal data, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

export const customerListOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await customerPages.byOperator(installation.runtime, query),
  })),
];
