// Fields of a customer type after an update. The functions are pure.
import { Address } from '../../../kernel/schema.ts';
import {
  type BusinessInfo,
  businessCore,
  businessDetails,
  type CustomerDetails,
  individualFields,
} from './fields.ts';

type Fields = Record<string, unknown>;

const INDIVIDUAL_FIELDS = Object.keys(individualFields);
const BUSINESS_FIELDS = Object.keys({ ...businessCore, ...businessDetails });
const ADDRESS_FIELDS = Object.keys(Address.properties);

/** Applies the changes of the fields `names` to the previous fields. Null removes a field. */
function withFields(previousFields: Fields, change: Fields, names: readonly string[]): Fields {
  const fields = { ...previousFields };
  for (const name of names) {
    const value = change[name];
    if (value === null) delete fields[name];
    else if (name === 'address' && value)
      fields[name] = withFields({}, value as Fields, ADDRESS_FIELDS);
    else if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/**
 * Fields of the customer type after an update. An address is replaced completely, `businessInfo`
 * field by field. Unknown properties are dropped.
 */
export function detailsAfter(
  row: { type: 'INDIVIDUAL' | 'BUSINESS'; details: CustomerDetails },
  change: Fields,
): CustomerDetails {
  const { businessInfo, ...personal } = row.details;
  if (row.type === 'BUSINESS') {
    const business = withFields(
      businessInfo ?? {},
      (change.businessInfo ?? {}) as Fields,
      BUSINESS_FIELDS,
    );
    return {
      ...withFields(personal, change, ['address']),
      businessInfo: business as BusinessInfo,
    };
  }
  return withIssuer(withFields(personal, change, INDIVIDUAL_FIELDS), row.details.idType, change);
}

/** A new type of number clears the issuer. SSN and ITIN are issued by the US. */
function withIssuer(details: CustomerDetails, previousType: string | undefined, change: Fields) {
  const detailsWithIssuer = { ...details };
  const isNewType = previousType !== undefined && previousType !== detailsWithIssuer.idType;
  if (isNewType && change.countryOfIssuance === undefined)
    delete detailsWithIssuer.countryOfIssuance;
  const isIssuedByUs =
    detailsWithIssuer.idType !== undefined && detailsWithIssuer.idType !== 'NON_US_TAX_ID';
  return isIssuedByUs ? { countryOfIssuance: 'US', ...detailsWithIssuer } : detailsWithIssuer;
}
