// Rules for beneficial owners that a schema cannot express: names, countries and identity number
// formats. Pure. Inputs of any shape are accepted, because bodies that fail the schema are also
// validated here.
import { requiredTaxIdentifier } from '../../../catalog/identity/tax-identifiers.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import {
  addressRule,
  collectErrors,
  countryRule,
  identifierPairRule,
  identifierRule,
  isObject,
  isPresent,
  type Json,
  nameRule,
  objectAt,
  type Report,
} from './rules.ts';

const MAX_NAME_LENGTH = 250;

const PERSONAL_INFO = 'personalInfo.';
const NAME_FIELDS = ['firstName', 'middleName', 'lastName'] as const;

function lengthRule(report: Report, info: Json): void {
  for (const name of NAME_FIELDS) {
    const value = info[name];
    if (typeof value !== 'string') continue;
    if (value.trim() === '') report(PERSONAL_INFO + name, 'must not be blank', { minLength: 1 });
    else if (value.length > MAX_NAME_LENGTH) {
      report(PERSONAL_INFO + name, `must not be longer than ${MAX_NAME_LENGTH} characters`, {
        maxLength: MAX_NAME_LENGTH,
      });
    }
  }
}

function personalInfoRules(report: Report, body: Json): void {
  const info = objectAt(body, 'personalInfo');
  lengthRule(report, info);
  nameRule(report, info, PERSONAL_INFO, NAME_FIELDS);
  countryRule(report, info, PERSONAL_INFO, ['nationality', 'countryOfIssuance']);
  addressRule(report, info, PERSONAL_INFO);
  identifierRule(report, info, PERSONAL_INFO);
}

/** The number is required unless `requiredTaxIdentifier` returns NONE for the person. */
function identifierRequiredRule(report: Report, info: Json): void {
  const residence = objectAt(info, 'address').country;
  if (requiredTaxIdentifier({ nationality: info.nationality, residence }) === 'NONE') return;
  for (const name of ['idType', 'identifier']) {
    if (!isPresent(info[name])) report(PERSONAL_INFO + name, 'is required');
  }
}

function crossFieldRules(report: Report, body: Json): void {
  if (!isObject(body.personalInfo)) return;
  identifierRequiredRule(report, body.personalInfo);
  identifierPairRule(report, body.personalInfo, PERSONAL_INFO);
}

/** Keeps the first error of each field, because it is the most specific. */
function firstPerField(errors: readonly FieldError[]): FieldError[] {
  const fields = new Set<string>();
  return errors.filter(({ field }) => !fields.has(field) && fields.add(field).size > 0);
}

/** Errors of the fields in an update, independent of the stored data. */
export const ownerBodyErrors = (body: unknown): FieldError[] =>
  firstPerField(collectErrors(body, [personalInfoRules]));

/** Errors of a complete owner, from a request or after an update. */
export const ownerErrors = (body: unknown): FieldError[] =>
  firstPerField(collectErrors(body, [personalInfoRules, crossFieldRules]));
