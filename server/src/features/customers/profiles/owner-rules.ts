// What must hold of somebody who owns or controls a business and a schema cannot state: names, countries,
// and identity numbers in the shape of their type. Pure, and forgiving about shapes, because a body that
// fails its schema is checked here too.
import { neededIdentifier } from '../../../catalog/identity/tax-identifiers.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import {
  addressRule,
  collect,
  countryRule,
  identifierRule,
  inside,
  isObject,
  isThere,
  type Json,
  nameRule,
  pairRule,
  type Say,
} from './rules.ts';

const MOST_LETTERS = 250;

const at = 'personalInfo.';
const NAMES = ['firstName', 'middleName', 'lastName'] as const;

function lengthRule(say: Say, info: Json): void {
  for (const name of NAMES) {
    const value = info[name];
    if (typeof value !== 'string') continue;
    if (value.trim() === '') say(at + name, 'must not be blank', { minLength: 1 });
    else if (value.length > MOST_LETTERS) {
      say(at + name, `must not be longer than ${MOST_LETTERS}`, { maxLength: MOST_LETTERS });
    }
  }
}

function infoRules(say: Say, body: Json): void {
  const info = inside(body, 'personalInfo');
  lengthRule(say, info);
  nameRule(say, info, at, NAMES);
  countryRule(say, info, at, ['nationality', 'countryOfIssuance']);
  addressRule(say, info, at);
  identifierRule(say, info, at);
}

/** A person needs a number unless the country of residence issues none. */
function neededRule(say: Say, info: Json): void {
  const residence = inside(info, 'address').country;
  if (neededIdentifier({ nationality: info.nationality, residence }) === 'NONE') return;
  for (const name of ['idType', 'identifier']) {
    if (!isThere(info[name])) say(at + name, 'is required');
  }
}

function wholeRules(say: Say, body: Json): void {
  if (!isObject(body.personalInfo)) return;
  neededRule(say, body.personalInfo);
  pairRule(say, body.personalInfo, at);
}

/** The first complaint about a field is the plainest. */
function firstOfEach(errors: readonly FieldError[]): FieldError[] {
  const known = new Set<string>();
  return errors.filter(({ field }) => !known.has(field) && known.add(field).size > 0);
}

/** Everything wrong with what a change says of an owner, whatever else is known. */
export const ownerBodyErrors = (body: unknown): FieldError[] =>
  firstOfEach(collect(body, [infoRules]));

/** Everything wrong with an owner, as a request describes it or as a change would leave it. */
export const wholeOwnerErrors = (body: unknown): FieldError[] =>
  firstOfEach(collect(body, [infoRules, wholeRules]));
