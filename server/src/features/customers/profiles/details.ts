// The fields of a customer's type after a change. Pure.
import { Address } from '../../../kernel/schema.ts';
import {
  type BusinessInfo,
  type CustomerDetails,
  firmCore,
  firmDetails,
  individualFields,
} from './fields.ts';

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

/**
 * The fields of its type after a change: an address as a whole, `businessInfo` field by field. Properties
 * that are no fields are left behind.
 */
export function detailsAfter(
  row: { type: 'INDIVIDUAL' | 'BUSINESS'; details: CustomerDetails },
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
