// Whether a customer may move money and in which currencies, and whether it has to prove itself by a second
// factor. Pure: it judges a customer and its platform as they were read.
import { isOfferedIn, needsScaIn } from '../../../catalog/currencies/offers.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import { type CustomerRow, personalOf } from '../records/index.ts';

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

interface Located {
  region: string | null;
  details: CustomerDetails;
}

/** Where the customer belongs: the region it was given, else where it lives or is registered. */
const homeOf = ({ region, details }: Located): string | null =>
  region ?? details.address?.country ?? details.businessInfo?.country ?? null;

/** Whether e-mail address and telephone number must be proved before the identity check. */
export function mustProveContacts(platform: PlatformRow, of: Located): boolean {
  const home = homeOf(of);
  return platform.sca && home !== null && needsScaIn(home);
}

/**
 * Whether the customer's region and its platform ask for strong authentication of money that moves. Which
 * currencies it is asked for is another matter.
 */
export const isUnderSca = (vault: Vault, platform: PlatformRow, row: CustomerRow): boolean =>
  mustProveContacts(platform, { region: row.region, details: personalOf(vault, row).details });

/** The currencies a customer may use now: those chosen, else what its region leaves of the platform's. */
export function currenciesOf(
  platform: PlatformRow,
  row: { currencies: readonly string[] | null; region: string | null },
): string[] {
  if (row.currencies) return [...row.currencies];
  const all = platform.currencies.map((each) => each.currencyCode);
  const { region } = row;
  return region === null ? all : all.filter((code) => isOfferedIn(region, code));
}
