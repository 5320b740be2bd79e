// Eligibility of a customer: whether it may pay and be paid, in which currencies, and whether its
// payments require strong customer authentication. Pure functions of a customer and its platform.
import { isOfferedIn, requiresSca } from '../../../catalog/currencies/offers.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import { type CustomerRow, personalOf } from '../records/index.ts';

/** Whether the identity check allows the customer to pay and be paid. */
export const isReady = (row: Pick<CustomerRow, 'status' | 'deleted_at'>): boolean =>
  row.status === 'APPROVED' && row.deleted_at === null;

/** Throws USER_NOT_READY (403) if the identity check of the customer does not allow payments. */
export function checkReady(row: Pick<CustomerRow, 'status' | 'deleted_at'>): void {
  if (!isReady(row)) {
    throw new Fault(
      'USER_NOT_READY',
      'The customer is not approved for payments. Complete its verification first.',
    );
  }
}

/** Whether accounts and payments of the customer require acceptance of the end-user terms first. */
export const requiresTermsConsent = (
  platform: PlatformRow,
  row: Pick<CustomerRow, 'terms_consent'>,
): boolean => platform.terms_required && !platform.regulated && row.terms_consent === null;

interface CustomerLocation {
  region: string | null;
  details: CustomerDetails;
}

/**
 * Jurisdiction of the customer: its region if set, otherwise its country of residence or
 * registration.
 */
const jurisdictionOf = ({ region, details }: CustomerLocation): string | null =>
  region ?? details.address?.country ?? details.businessInfo?.country ?? null;

/**
 * Whether the e-mail address and the telephone number must be verified before the identity check.
 */
export function requiresContactVerification(
  platform: PlatformRow,
  location: CustomerLocation,
): boolean {
  const jurisdiction = jurisdictionOf(location);
  return platform.sca && jurisdiction !== null && requiresSca(jurisdiction);
}

/**
 * Whether the jurisdiction of the customer and its platform require strong customer authentication.
 * The affected currencies are determined by the caller.
 */
export const isUnderSca = (vault: Vault, platform: PlatformRow, row: CustomerRow): boolean =>
  requiresContactVerification(platform, {
    region: row.region,
    details: personalOf(vault, row).details,
  });

/**
 * Currencies of the customer: the selected currencies, otherwise the currencies of the platform
 * that are offered in the region. Without a region, all currencies of the platform.
 */
export function currenciesOf(
  platform: PlatformRow,
  row: { currencies: readonly string[] | null; region: string | null },
): string[] {
  if (row.currencies) return [...row.currencies];
  const platformCurrencies = platform.currencies.map((each) => each.currencyCode);
  const { region } = row;
  return region === null
    ? platformCurrencies
    : platformCurrencies.filter((code) => isOfferedIn(region, code));
}
