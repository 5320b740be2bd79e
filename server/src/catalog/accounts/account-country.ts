// The country of an external account: by its type, its fields, or its IBAN.
import { isCountry } from '../identity/countries.ts';
import { ACCOUNT_TYPE_ROWS, isAccountType } from './account-types.ts';

/** Undefined if the details do not determine it: a wallet, or a refund to an unknown account. */
export function countryOfAccount(
  account: Readonly<Record<string, unknown>> & { accountType: string },
): string | undefined {
  const { accountType, country, region, iban, swiftCode } = account;
  const ofType = isAccountType(accountType) ? ACCOUNT_TYPE_ROWS[accountType].country : undefined;
  const bic = typeof swiftCode === 'string' ? swiftCode.slice(4, 6) : undefined;
  const ofIban = typeof iban === 'string' ? iban.slice(0, 2) : undefined;
  return [ofType, country, region, ofIban, bic].find(
    (each): each is string => typeof each === 'string' && isCountry(each),
  );
}
