// What is told about the other end of a payment: of what a platform asks for in the currency that is
// received, as much as is known. Pure; for an account outside it is the beneficiary, for one inside its
// owner.
import type { CounterpartyFieldName, Facts } from '../../../catalog/accounts/field-names.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { type CustomerRow, factsOfCustomer } from '../../customers/records/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { Payee, Payer } from './parties.ts';

type Fields = Record<string, unknown>;

/** Of the beneficiary of an external account, individual or business. */
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

/** Of those facts, what the platform asks for; null where that is nothing. */
function asked(platform: PlatformRow, currency: string, facts: Facts): Fields | null {
  const setting = platform.currencies.find((each) => each.currencyCode === currency);
  const known = (setting?.requiredCounterpartyFields ?? []).flatMap(({ name }) => {
    const value = facts[name as CounterpartyFieldName];
    return value === undefined ? [] : [[name, value] as const];
  });
  return known.length ? Object.fromEntries(known) : null;
}

/** Of the owner of an internal account at the other end; without a customer it is the platform's own. */
export const aboutOwner = (
  vault: Vault,
  platform: PlatformRow,
  currency: string,
  owner: CustomerRow | null,
): Fields | null =>
  asked(
    platform,
    currency,
    owner ? factsOfCustomer(vault, owner) : { FULL_NAME: platform.name, USER_TYPE: 'BUSINESS' },
  );

/** Of whoever receives; null where that is the sender, or where their own provider knows them. */
export function aboutPayee(
  vault: Vault,
  platform: PlatformRow,
  payer: Payer,
  payee: Payee,
): Fields | null {
  if (payee.kind === 'uma') return null;
  if (payee.kind === 'external') {
    const beneficiary = payee.account.info.beneficiary as Fields | undefined;
    return asked(platform, payee.currency, factsOfBeneficiary(beneficiary ?? {}));
  }
  const payerId = payer.kind === 'internal' ? payer.account.customer_id : payer.customer?.id;
  if (payee.account.customer_id === (payerId ?? null)) return null;
  return aboutOwner(vault, platform, payee.currency, payee.owner);
}
