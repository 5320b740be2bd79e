// What must hold of somebody who owns or controls a business and a schema cannot state: names, countries,
// and identity numbers in the shape of their type. Pure, and forgiving about shapes, because a body that
// fails its schema is checked here too.
import type { FieldError } from '../../kernel/fault.ts';
import {
  addressRule,
  collect,
  countryRule,
  ID_SHAPES,
  inside,
  type Json,
  nameRule,
  type Say,
  US_ONLY,
} from './rules.ts';

const MOST_LETTERS = 250;

const SHAPES = {
  ...ID_SHAPES,
  EIN: { pattern: '^\\d{2}-\\d{7}$' },
  /** Also keeps out the asterisks of a number that came from a reply. */
  NON_US_TAX_ID: { pattern: "^(?=.{1,64}$)[\\p{L}\\p{N}][\\p{L}\\p{N} .,'&/_-]*$" },
};

export type OwnerIdType = keyof typeof SHAPES;

const isIdType = (text: unknown): text is OwnerIdType =>
  typeof text === 'string' && Object.hasOwn(SHAPES, text);

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

/** An identity number, its type and who issued it; one that is not there is not judged. */
function numberRule(say: Say, info: Json): void {
  const { idType, identifier, countryOfIssuance: issuer } = info;
  if (!isIdType(idType)) return;
  const shape = SHAPES[idType];
  if (typeof identifier === 'string' && !new RegExp(shape.pattern, 'u').test(identifier)) {
    say(`${at}identifier`, `is not a well-formed ${idType}`, shape);
  }
  if (typeof issuer !== 'string') return;
  const isAmerican = idType !== 'NON_US_TAX_ID';
  if (isAmerican && issuer !== 'US') say(`${at}countryOfIssuance`, 'must be US', US_ONLY);
  if (!isAmerican && issuer === 'US') {
    say(`${at}countryOfIssuance`, 'must not be US for a number from elsewhere');
  }
}

function infoRules(say: Say, body: Json): void {
  const info = inside(body, 'personalInfo');
  lengthRule(say, info);
  nameRule(say, info, at, NAMES);
  countryRule(say, info, at, ['nationality', 'countryOfIssuance']);
  addressRule(say, info, at);
  numberRule(say, info);
}

/** Everything wrong with what a request says of an owner, or with an owner as a change would leave it. */
export const ownerBodyErrors = (body: unknown): FieldError[] => {
  const known = new Set<string>();
  // Of several complaints about one field the first is the plainest.
  return collect(body, [infoRules]).filter(
    ({ field }) => !known.has(field) && known.add(field).size > 0,
  );
};
