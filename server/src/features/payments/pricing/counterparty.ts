// The counterparty information of a payment: the known values of the fields that the platform requires for
// the received currency. The values are read from the beneficiary of an external account or the owner of an
// internal account. The functions are pure.
import type { CounterpartyFieldName, Facts } from '../../../catalog/accounts/field-names.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { type CustomerRow, factsOfCustomer } from '../../customers/records/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { Payee, Payer } from './parties.ts';

type Fields = Record<string, unknown>;

function factsOfBeneficiary(beneficiary: Fields): Facts {
  return {
    FULL_NAME: beneficiary.fullName ?? beneficiary.legalName,
    COMPANY_LEGAL_NAME: beneficiary.legalName,
    USER_TYPE: beneficiary.beneficiaryType,
    BIRTH_DATE: beneficiary.birthDate,
    NATIONALITY: beneficiary.nationality,
    EMAIL: beneficiary.email,
    PHONE_NUMBER: beneficiary.phoneNumber,
    POSTAL_ADDRESS: beneficiary.address,
    COUNTRY_OF_RESIDENCE: beneficiary.countryOfResidence,
    TAX_ID: beneficiary.taxId,
    REGISTRATION_NUMBER: beneficiary.registrationNumber,
  };
}

/** The facts that the platform requires, or null if there are none. */
function requiredFacts(platform: PlatformRow, currency: string, facts: Facts): Fields | null {
  const setting = platform.currencies.find((each) => each.currencyCode === currency);
  const information = (setting?.requiredCounterpartyFields ?? []).flatMap(({ name }) => {
    const value = facts[name as CounterpartyFieldName];
    return value === undefined ? [] : [[name, value] as const];
  });
  return information.length ? Object.fromEntries(information) : null;
}

/**
 * Information about the owner of an internal account: the customer, or the platform. Null if no
 * required value is known.
 */
export const ownerInformation = (
  vault: Vault,
  platform: PlatformRow,
  currency: string,
  owner: CustomerRow | null,
): Fields | null =>
  requiredFacts(
    platform,
    currency,
    owner ? factsOfCustomer(vault, owner) : { FULL_NAME: platform.name, USER_TYPE: 'BUSINESS' },
  );

/**
 * Information about the payee. Null for the payer's own internal accounts, for receivers at a UMA
 * provider, and if no required value is known.
 */
export function payeeInformation(
  vault: Vault,
  platform: PlatformRow,
  payer: Payer,
  payee: Payee,
): Fields | null {
  if (payee.kind === 'uma') return null;
  if (payee.kind === 'external') {
    const beneficiary = payee.account.info.beneficiary as Fields | undefined;
    return requiredFacts(platform, payee.currency, factsOfBeneficiary(beneficiary ?? {}));
  }
  const payerId = payer.kind === 'internal' ? payer.account.customer_id : payer.customer?.id;
  if (payee.account.customer_id === (payerId ?? null)) return null;
  return ownerInformation(vault, platform, payee.currency, payee.owner);
}
