// Names of customers for lists, which contain only IDs. Names are personal data, so each request is
// recorded.
import { Type } from '@sinclair/typebox';
import { factsOfCustomer, readCustomer } from '../../features/customers/records/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { isId } from '../../kernel/id.ts';
import { nullable, text } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';

/** Maximum number of customers per request, equal to the maximum page size of lists. */
const MAX_CUSTOMERS = 100;

const reveal = operation({
  operationId: 'revealCustomerNames',
  method: 'GET',
  path: '/customer-names',
  tag: 'Customers',
  summary: 'Get the names of customers',
  description:
    'Returns the names of customers, such as those of a list. Names are personal data, so this ' +
    'request is recorded. Unknown customers, and those of platforms that the operator may not ' +
    'access, are omitted.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: [],
  query: Type.Object({
    customerIds: Type.Array(text('ID of a customer.'), {
      minItems: 1,
      maxItems: MAX_CUSTOMERS,
      description: 'IDs of customers, separated by commas.',
    }),
  }),
  replies: {
    200: Type.Object({
      data: Type.Array(
        Type.Object({
          customerId: text('ID of the customer.'),
          platformId: text('Platform of the customer.'),
          name: nullable(
            text('Full or legal name, or null if there is none, or after an erasure.'),
          ),
        }),
        { description: 'Names in the order of the request.' },
      ),
    }),
  },
  errors: [],
});

export const customerNameOperations = [
  operatorHandle(reveal, async ({ installation, operator }, { query: { customerIds } }) => {
    const { db, vault } = installation.runtime;
    const ids = [...new Set(customerIds)].filter((id) => isId(id, 'Customer'));
    const rows = await Promise.all(ids.map((id) => readCustomer(db, id)));
    const data = rows.flatMap((row) => {
      const isVisible = operator.platformIds?.includes(row?.platform_id ?? '') ?? true;
      if (!row || !isVisible) return [];
      const name = factsOfCustomer(vault, row).FULL_NAME;
      return [
        { customerId: row.id, platformId: row.platform_id, name: name ? String(name) : null },
      ];
    });
    return { status: 200, body: { data } };
  }),
];
