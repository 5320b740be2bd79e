// A customer of a platform, individual or business, and how far its identity check has come.

import { Fault } from '../../../kernel/fault.ts';
import type { Database, FindOptions } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { TermsConsent } from '../profiles/index.ts';
import { type CheckStatus, checkStates } from './states.ts';

type CustomerType = 'INDIVIDUAL' | 'BUSINESS';

/** How far each channel that must be proved has come. */
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
    type: col.word<CustomerType>(),
    /** `kycStatus` of an individual, `kybStatus` of a business. */
    status: col.word<CheckStatus>().mut,
    /** In small letters. */
    uma_address: col.text.mut,
    region: col.text.null,
    /** Null when nobody chose: then they are those of the platform, whatever these will be. */
    currencies: col.json<string[]>().null.mut,
    email: col.text.null.mut,
    phone: col.text.null.mut,
    /** Null where nothing must be proved before the identity check. */
    contact_verification: col.json<Channels>().null.mut,
    terms_consent: col.json<TermsConsent>().null.mut,
    /** Seals everything personal, itself sealed; null once it was forgotten. */
    data_key: col.text.null.mut,
    /** `Personal`, sealed. */
    personal: col.text.null.mut,
    /** Keyed hashes that an operator finds customers by. */
    email_digest: col.text.null.mut,
    phone_digest: col.text.null.mut,
    identifier_digest: col.text.null.mut,
    deleted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => row.status, states: checkStates }],
    unique: {
      customers_platform_customer_id: () =>
        new Fault('CONFLICT', 'Another customer of this platform has this platformCustomerId.'),
      customers_uma_address: () => new Fault('UMA_ADDRESS_EXISTS', 'This UMA address is taken.'),
    },
  },
);

export type CustomerRow = RowOf<typeof customers>;

/** One customer by id, read together with those that concurrent callers ask for. */
export const readCustomer = (reader: Reader, id: string): Promise<CustomerRow | undefined> =>
  reader.read(customers, id);

/** The commit fails if the customer changed since it was read. */
export const requireCustomer = (ctx: Ctx, row: CustomerRow): void => ctx.require(customers, row);

/** Customers whose columns equal all the given values. */
export const findCustomers = (
  db: Pick<Database, 'find'>,
  where: Partial<CustomerRow>,
  options?: FindOptions<typeof customers>,
): Promise<CustomerRow[]> => db.find(customers, where, options);

/** Of two change sets that decide about one customer, the second to commit decides again. */
export const touchCustomer = (ctx: Ctx, row: CustomerRow): CustomerRow =>
  ctx.update(customers, row, {});
