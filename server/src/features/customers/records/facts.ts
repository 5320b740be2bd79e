// Data of a customer under the field names that platforms and providers use for the parties of a
// payment. Unknown values are undefined.
import type { Facts } from '../../../catalog/accounts/field-names.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { personalOf } from './personal.ts';
import type { CustomerRow } from './store.ts';

export function factsOfCustomer(vault: Vault, row: CustomerRow): Facts {
  const { type, email, phone } = row;
  const { details } = personalOf(vault, row);
  const business = details.businessInfo;
  return {
    FULL_NAME: details.fullName ?? business?.legalName,
    COMPANY_LEGAL_NAME: business?.legalName,
    USER_TYPE: type,
    BIRTH_DATE: details.birthDate,
    NATIONALITY: details.nationality,
    EMAIL: email ?? undefined,
    PHONE_NUMBER: phone ?? undefined,
    POSTAL_ADDRESS: details.address,
    COUNTRY_OF_RESIDENCE: details.address?.country ?? business?.country,
    TAX_ID: business?.taxId,
    REGISTRATION_NUMBER: business?.registrationNumber,
    BUSINESS_TYPE: business?.businessType,
  };
}
