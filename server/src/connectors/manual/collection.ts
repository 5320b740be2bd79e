// The operator's collection accounts, in a JSON file with a list per currency. Each entry has the
// API's form of payment instructions, without a reference. All errors are reported together at the
// start, because wrong account details would direct payers to another account.
import { readFileSync } from 'node:fs';
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import {
  hasReference,
  type PaymentInstructions,
} from '../../catalog/rails/payment-instructions.ts';
import type { CollectionAccounts } from './funding.ts';

/** Returns the errors in a value of payment instructions. */
type Validator = (value: unknown) => readonly { field: string; message: string }[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Placeholder for the reference of each account. */
const ANY_REFERENCE = 'RA0';

function entryProblems(entry: unknown, position: string, validate: Validator): string[] {
  if (!isObject(entry) || !isObject(entry.accountOrWalletInfo)) {
    return [`${position} must be an object with accountOrWalletInfo`];
  }
  const info = entry.accountOrWalletInfo;
  if ('reference' in info) return [`${position} must not contain a reference, which is generated`];
  const errors = validate({
    ...entry,
    accountOrWalletInfo: { ...info, reference: ANY_REFERENCE },
  });
  if (errors.length) return errors.map(({ field, message }) => `${position}.${field} ${message}`);
  const type = String(info.accountType);
  return hasReference(type)
    ? []
    : [`${position}: ${type} has no reference field, so its deposits could not be attributed`];
}

function problemsOf(content: unknown, validate: Validator): string[] {
  if (!isObject(content)) return ['must be an object with a list of accounts per currency'];
  return Object.entries(content).flatMap(([currency, entries]) => {
    if (!findCurrency(currency)) return [`${currency} is not a supported currency`];
    if (!Array.isArray(entries)) return [`${currency} must be a list`];
    return entries.flatMap((each, index) => entryProblems(each, `${currency}.${index}`, validate));
  });
}

/** Parses the collection accounts. Throws one error with all problems. */
export function parseCollectionAccounts(
  text: string,
  name: string,
  validate: Validator,
): CollectionAccounts {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON.`);
  }
  const problems = problemsOf(content, validate);
  if (problems.length) {
    throw new Error(`The collection accounts in ${name} cannot be used: ${problems.join('; ')}.`);
  }
  return content as Record<string, PaymentInstructions[]>;
}

export const readCollectionAccounts = (file: string, validate: Validator): CollectionAccounts =>
  parseCollectionAccounts(readFileSync(file, 'utf8'), file, validate);
