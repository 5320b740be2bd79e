// A customer of a platform, individual or business, and how far its identity check has come.
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/table.ts';
import type { CustomerDetails } from './fields.ts';

export type CustomerType = 'INDIVIDUAL' | 'BUSINESS';
export type CustomerStatus = 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED' | 'HOLD';

/** How far each channel that must be proved has come. */
export interface Channels {
  email: 'PENDING' | 'VERIFIED';
  phone: 'PENDING' | 'VERIFIED';
}

export interface TermsConsent {
  acceptedAt: string;
  ipAddress: string;
  termsVersion: string;
  acceptanceMethod: 'CHECKBOX' | 'CLICK_TO_ACCEPT';
}

export const customers = table(
  'customers',
  {
    id: col.text,
    platform_id: col.text,
    platform_customer_id: col.text,
    type: col.word<CustomerType>(),
    /** `kycStatus` of an individual, `kybStatus` of a business. */
    status: col.word<CustomerStatus>().mut,
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
    /** Number of an individual's `idType`, sealed. */
    identifier: col.text.null.mut,
    /** The fields of its type, named as the API names them. */
    details: col.json<CustomerDetails>().mut,
    deleted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      customers_platform_customer_id: () =>
        new Fault('CONFLICT', 'Another customer of this platform has this platformCustomerId.'),
      customers_uma_address: () => new Fault('UMA_ADDRESS_EXISTS', 'This UMA address is taken.'),
    },
  },
);

export type CustomerRow = RowOf<typeof customers>;
