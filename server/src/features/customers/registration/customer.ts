// A customer as the API shows it, what a change makes of one, and which event tells of its status. Pure.

import type { Static } from '@sinclair/typebox';
import { stamps } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { currenciesOf } from '../eligibility/index.ts';
import { type OwnerRow, presentOwner } from '../owners/index.ts';
import type { Customer, TermsConsent } from '../profiles/index.ts';
import { type CustomerRow, personalOf } from '../records/index.ts';
import { customerEvents, type updateCustomerById } from './contract.ts';

export type CustomerView = Static<typeof Customer>;
export type Change = Static<(typeof updateCustomerById)['body']>;

const unlessNull = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [N in K]?: V };

/**
 * The resource. `platform` is the one it belongs to, which says what unchosen currencies are; `owners` are
 * those of a business.
 */
export function presentCustomer(
  vault: Vault,
  row: CustomerRow,
  platform: PlatformRow,
  owners: readonly OwnerRow[],
): CustomerView {
  const { businessInfo, ...personal } = personalOf(vault, row).details;
  const common = {
    id: row.id,
    platformCustomerId: row.platform_customer_id,
    ...unlessNull('region', row.region),
    currencies: currenciesOf(platform, row),
    ...unlessNull('email', row.email),
    ...unlessNull('phoneNumber', row.phone),
    umaAddress: row.uma_address,
    ...unlessNull('endUserTermsConsent', row.terms_consent),
    ...unlessNull('contactVerification', row.contact_verification),
    ...stamps(row),
    isDeleted: row.deleted_at !== null,
  };
  if (row.type === 'INDIVIDUAL') {
    return { ...common, customerType: row.type, kycStatus: row.status, ...personal };
  }
  return {
    ...common,
    customerType: row.type,
    kybStatus: row.status,
    ...personal,
    // Only of one that was erased is there nothing.
    businessInfo: businessInfo ?? { legalName: 'erased' },
    beneficialOwners: owners.map((owner) => presentOwner(vault, row, owner)),
  };
}

/** The event about the status of a customer, or undefined for a status without an event. */
export function statusEvent({ type, status }: Pick<CustomerRow, 'type' | 'status'>) {
  if (status === 'UNVERIFIED' || status === 'HOLD') return undefined;
  return customerEvents[type][status];
}

/** A consent without what else came along. */
export const consentOf = ({
  acceptedAt,
  ipAddress,
  termsVersion,
  acceptanceMethod,
}: TermsConsent): TermsConsent => ({ acceptedAt, ipAddress, termsVersion, acceptanceMethod });
