// Error codes of operations: those that the contract lists, and those that follow from the kind of
// operation, which are listed here only.

import { type Contract, idempotencyOf } from '../kernel/contract/operation.ts';
import { type Code, STATUS_OF } from '../kernel/fault.ts';

interface CommonError {
  readonly codes: readonly Code[];
  /** Operations with these codes. */
  of(contract: Contract): boolean;
}

const isAuthenticated = ({ permission, auth }: Contract) =>
  permission !== undefined || auth === 'operator';
const acceptsKey = (contract: Contract) => idempotencyOf(contract) !== 'none';

const COMMON_ERRORS: readonly CommonError[] = [
  // An empty idempotency key, a query or body that cannot be read or does not fit its schema.
  { codes: ['INVALID_INPUT'], of: () => true },
  { codes: ['UNAUTHORIZED'], of: isAuthenticated },
  { codes: ['LINK_ENDED'], of: ({ auth }) => auth === 'hosted' },
  // A token lacks the permission, or is not a sandbox token. For agents the policy decides.
  { codes: ['FORBIDDEN'], of: ({ auth = 'token' }) => auth === 'token' || auth === 'operator' },
  // A resource of a platform that the operator may not access.
  {
    codes: ['NOT_FOUND'],
    of: ({ auth, wholeInstallation }) => auth === 'operator' && !wholeInstallation,
  },
  // A key that was used before with another request.
  { codes: ['CONFLICT'], of: (contract) => acceptsKey(contract) && !contract.money },
  { codes: ['DUPLICATE_PAY_REQUEST'], of: (contract) => acceptsKey(contract) && !!contract.money },
  {
    codes: [
      'WALLET_SIGNATURE_MISSING',
      'WALLET_SIGNATURE_MALFORMED',
      'WALLET_SIGNATURE_BODY_MISMATCH',
      'WALLET_SIGNATURE_INVALID',
      'REQUEST_ID_MISSING',
    ],
    of: ({ signedRetry }) => signedRetry === true,
  },
  { codes: ['RATE_LIMITED'], of: () => true },
  { codes: ['INTERNAL_ERROR'], of: () => true },
  // The database or the file storage is not available, or too many requests contend for one row.
  { codes: ['SERVICE_UNAVAILABLE'], of: () => true },
];

/**
 * Codes of statuses that the public contract names for an operation, which does not return them
 * here.
 */
const PUBLIC_CONTRACT: Readonly<Record<string, readonly Code[]>> = {
  createCustomer: ['METHOD_NOT_ALLOWED'],
  listCustomers: ['METHOD_NOT_ALLOWED'],
  // Accounts at another provider are found by UMA address only.
  lookupExternalAccount: [
    'UNSUPPORTED_UMA_VERSION',
    'COUNTERPARTY_PUBKEY_FETCH_ERROR',
    'NO_COMPATIBLE_UMA_VERSION',
    'LNURLP_REQUEST_FAILED',
  ],
  // Credentials without access to the account are reported as a failed verification.
  linkStablecoinProviderAccount: ['STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND'],
};

/** Returned instead of any operation of a path. A caller of the operation never receives it. */
const OF_PATHS: readonly Code[] = ['METHOD_NOT_ALLOWED'];

/** Codes by kind of operation. */
export const commonCodesOf = (contract: Contract): readonly Code[] =>
  COMMON_ERRORS.filter((each) => each.of(contract)).flatMap(({ codes }) => codes);

/** Codes of the contract. */
export const ownCodesOf = ({ errors, notFound }: Contract): readonly Code[] =>
  notFound === undefined ? errors : [notFound, ...errors];

/** Every code that the document names for an operation, in the order of the vocabulary. */
export function documentedCodesOf(contract: Contract): readonly Code[] {
  const codes = new Set([
    ...commonCodesOf(contract),
    ...ownCodesOf(contract),
    ...(PUBLIC_CONTRACT[contract.operationId] ?? []),
  ]);
  return (Object.keys(STATUS_OF) as Code[]).filter((code) => codes.has(code));
}

/** Whether the contract allows a reply with this code. */
export const isListed = (contract: Contract, code: Code): boolean =>
  OF_PATHS.includes(code) ||
  commonCodesOf(contract).includes(code) ||
  ownCodesOf(contract).includes(code);
