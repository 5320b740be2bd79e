// The country of an external account, from its type, its field `country` or `region`, its IBAN or
// its BIC. The first of these values that is a country applies.
import { isCountry } from '../identity/countries.ts';
import { ACCOUNT_TYPE_ROWS, isAccountType } from './account-types.ts';

/**
 * Country of an external account. Undefined if the details do not determine the country: a wallet,
 * or a refund to an unknown account.
 */
export function countryOfAccount(
  account: Readonly<Record<string, unknown>> & { accountType: string },
): string | undefined {
  const { accountType, country, region, iban, swiftCode } = account;
  const typeCountry = isAccountType(accountType)
    ? ACCOUNT_TYPE_ROWS[accountType].country
    : undefined;
  const bicCountry = typeof swiftCode === 'string' ? swiftCode.slice(4, 6) : undefined;
  const ibanCountry = typeof iban === 'string' ? iban.slice(0, 2) : undefined;
  return [typeCountry, country, region, ibanCountry, bicCountry].find(
    (each): each is string => typeof each === 'string' && isCountry(each),
  );
}
