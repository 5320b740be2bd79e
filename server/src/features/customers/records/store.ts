// Table of customers (individuals and businesses) with the status of their identity check.

import { Fault } from '../../../kernel/fault.ts';
import type { Database, FindOptions } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { TermsConsent } from '../profiles/index.ts';
import { type CheckStatus, checkStates } from './states.ts';

type CustomerType = 'INDIVIDUAL' | 'BUSINESS';

/** Verification status of the contact channels. */
interface Channels {
  email: 'PENDING' | 'VERIFIED';
  phone: 'PENDING' | 'VERIFIED';
}

export const customers = table(
  'customers',
  {
    id: col.text,
    platform_id: col.text,
    platform_customer_id: col.text.mut,
    type: col.enum<CustomerType>(),
    /** `kycStatus` of an individual, `kybStatus` of a business. */
    status: col.enum<CheckStatus>().mut,
    /** UMA address in lower case. */
    uma_address: col.text.mut,
    region: col.text.null,
    /** Null: the currencies of the platform apply, including later changes. */
    currencies: col.json<string[]>().null.mut,
    email: col.text.null.mut,
    phone: col.text.null.mut,
    /** Null if no channel must be verified before the identity check. */
    contact_verification: col.json<Channels>().null.mut,
    terms_consent: col.json<TermsConsent>().null.mut,
    /** Data key of the customer, encrypted with the master key, or null after erasure. */
    data_key: col.text.null.mut,
    /** `Personal`, encrypted with the data key, or null after erasure. */
    personal: col.text.null.mut,
    /** Keyed hashes by which an operator finds customers. */
    email_digest: col.text.null.mut,
    phone_digest: col.text.null.mut,
    identifier_digest: col.text.null.mut,
    /**
     * Digests of full names and their words, or null until they are computed, and after erasure.
     */
    name_digests: col.enums<string>().null.mut,
    deleted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: checkStates }],
    unique: {
      customers_platform_customer_id: () =>
        new Fault('CONFLICT', 'Another customer of the platform has this platformCustomerId.'),
      customers_uma_address: () =>
        new Fault('UMA_ADDRESS_EXISTS', 'The UMA address is already in use.'),
    },
  },
);

export type CustomerRow = RowOf<typeof customers>;

/** A customer by identifier. Concurrent reads are batched. */
export const readCustomer = (reader: Reader, id: string): Promise<CustomerRow | undefined> =>
  reader.read(customers, id);

/** The commit fails if the customer has changed since it was read. */
export const requireCustomer = (ctx: Ctx, row: CustomerRow): void => ctx.require(customers, row);

/** Customers that match all column values of `filter`. */
export const findCustomers = (
  db: Pick<Database, 'find'>,
  filter: Partial<CustomerRow>,
  options?: FindOptions<typeof customers>,
): Promise<CustomerRow[]> => db.find(customers, filter, options);

/** Serializes change sets about one customer: the second change set to commit runs again. */
export const touchCustomer = (ctx: Ctx, row: CustomerRow): CustomerRow =>
  ctx.update(customers, row, {});
