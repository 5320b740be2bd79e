// Maps a customer row to the API resource, and a status to its event. The functions are pure.

import type { Static } from '@sinclair/typebox';
import { timestamps } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { currenciesOf } from '../eligibility/index.ts';
import { type OwnerRow, presentOwner } from '../owners/index.ts';
import type { Customer, TermsConsent } from '../profiles/index.ts';
import { type CustomerRow, personalOf } from '../records/index.ts';
import { customerEvents, type updateCustomerById } from './contract.ts';

export type CustomerView = Static<typeof Customer>;
export type Change = Static<(typeof updateCustomerById)['body']>;

const fieldUnlessNull = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [N in K]?: V };

/**
 * API resource of a customer. `platform` is its platform and provides the default currencies.
 * `owners` are the beneficial owners of a business.
 */
export function presentCustomer(
  vault: Vault,
  row: CustomerRow,
  platform: PlatformRow,
  owners: readonly OwnerRow[],
): CustomerView {
  const { businessInfo, ...personal } = personalOf(vault, row).details;
  const commonFields = {
    id: row.id,
    platformCustomerId: row.platform_customer_id,
    ...fieldUnlessNull('region', row.region),
    currencies: currenciesOf(platform, row),
    ...fieldUnlessNull('email', row.email),
    ...fieldUnlessNull('phoneNumber', row.phone),
    umaAddress: row.uma_address,
    ...fieldUnlessNull('endUserTermsConsent', row.terms_consent),
    ...fieldUnlessNull('contactVerification', row.contact_verification),
    ...timestamps(row),
    isDeleted: row.deleted_at !== null,
  };
  if (row.type === 'INDIVIDUAL') {
    return { ...commonFields, customerType: row.type, kycStatus: row.status, ...personal };
  }
  return {
    ...commonFields,
    customerType: row.type,
    kybStatus: row.status,
    ...personal,
    // Absent for erased customers only.
    businessInfo: businessInfo ?? { legalName: 'erased' },
    beneficialOwners: owners.map((owner) => presentOwner(vault, row, owner)),
  };
}

/** Event for the status of a customer, or undefined if the status has none. */
export function statusEvent({ type, status }: Pick<CustomerRow, 'type' | 'status'>) {
  if (status === 'UNVERIFIED' || status === 'HOLD') return undefined;
  return customerEvents[type][status];
}

/** Copies the known fields of a consent. */
export const consentOf = ({
  acceptedAt,
  ipAddress,
  termsVersion,
  acceptanceMethod,
}: TermsConsent): TermsConsent => ({ acceptedAt, ipAddress, termsVersion, acceptanceMethod });
