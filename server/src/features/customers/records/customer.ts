// A customer as the API shows it, what a change makes of one, and which event tells of its status. Pure.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { Address } from '../../../kernel/schema.ts';
import { stamps } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { type Customer, customerEvents, type updateCustomerById } from './contract.ts';
import { type OwnerRow, presentOwner } from './owners/owners.ts';
import { personalOf } from './personal.ts';
import { currenciesOf } from './registration/admission.ts';
import {
  type BusinessInfo,
  type CustomerDetails,
  firmCore,
  firmDetails,
  individualFields,
} from './registration/fields.ts';
import type { CustomerRow, TermsConsent } from './store.ts';

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

/** Whether the customer may move money as far as its identity check goes. */
export const isReady = (row: Pick<CustomerRow, 'status' | 'deleted_at'>): boolean =>
  row.status === 'APPROVED' && row.deleted_at === null;

/** Throws 403 for a customer whose identity check does not let them move money. */
export function checkReady(row: Pick<CustomerRow, 'status' | 'deleted_at'>): void {
  if (!isReady(row)) {
    throw new Fault('USER_NOT_READY', 'The customer is not approved to move money yet.');
  }
}

/** Whether the platform's customers get accounts and move money only after consenting to the terms. */
export const awaitsTerms = (
  platform: PlatformRow,
  row: Pick<CustomerRow, 'terms_consent'>,
): boolean => platform.terms_gate && !platform.regulated && row.terms_consent === null;

type Fields = Record<string, unknown>;

const PERSONAL = Object.keys(individualFields);
const FIRM = Object.keys({ ...firmCore, ...firmDetails });
const ADDRESS = Object.keys(Address.properties);

/** `was` with every one of `names` set, or taken out where the change says null. */
function withFields(was: Fields, change: Fields, names: readonly string[]): Fields {
  const after = { ...was };
  for (const name of names) {
    const value = change[name];
    if (value === null) delete after[name];
    else if (name === 'address' && value) after[name] = withFields({}, value as Fields, ADDRESS);
    else if (value !== undefined) after[name] = value;
  }
  return after;
}

/** A consent without what else came along. */
export const consentOf = ({
  acceptedAt,
  ipAddress,
  termsVersion,
  acceptanceMethod,
}: TermsConsent): TermsConsent => ({ acceptedAt, ipAddress, termsVersion, acceptanceMethod });

/**
 * The fields of its type after a change: an address as a whole, `businessInfo` field by field. Properties
 * that are no fields are left behind.
 */
export function detailsAfter(
  row: { type: CustomerRow['type']; details: CustomerDetails },
  change: Fields,
): CustomerDetails {
  const { businessInfo, ...personal } = row.details;
  if (row.type === 'BUSINESS') {
    const firm = withFields(businessInfo ?? {}, (change.businessInfo ?? {}) as Fields, FIRM);
    return {
      ...withFields(personal, change, ['address']),
      businessInfo: firm as BusinessInfo,
    };
  }
  return withIssuer(withFields(personal, change, PERSONAL), row.details.idType, change);
}

/** An issuer goes with its type of number; SSN and ITIN are issued by the US. */
function withIssuer(details: CustomerDetails, was: string | undefined, change: Fields) {
  const after = { ...details };
  const isNewType = was !== undefined && was !== after.idType;
  if (isNewType && change.countryOfIssuance === undefined) delete after.countryOfIssuance;
  const isOfUs = after.idType !== undefined && after.idType !== 'NON_US_TAX_ID';
  return isOfUs ? { countryOfIssuance: 'US', ...after } : after;
}
