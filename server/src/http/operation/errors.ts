// Error codes of operations. Codes that follow from the kind of operation are listed here only. A contract
// lists its other codes.

import { type Contract, idempotencyOf } from '../../kernel/contract/operation.ts';
import { type Code, STATUS_OF } from '../../kernel/fault.ts';

interface CommonError {
  readonly codes: readonly Code[];
  /** Whether an operation can return these codes. */
  appliesTo(contract: Contract): boolean;
}

const isAuthenticated = ({ permission, auth }: Contract) =>
  permission !== undefined || auth === 'operator';
const acceptsKey = (contract: Contract) => idempotencyOf(contract) !== 'none';

const COMMON_ERRORS: readonly CommonError[] = [
  // An empty idempotency key, or a query or body that cannot be read or does not match its schema.
  { codes: ['INVALID_INPUT'], appliesTo: () => true },
  { codes: ['UNAUTHORIZED'], appliesTo: isAuthenticated },
  { codes: ['LINK_ENDED'], appliesTo: ({ auth }) => auth === 'hosted' },
  // A token lacks the permission, or is a production token for a sandbox operation. Contracts of
  // agents list the code.
  {
    codes: ['FORBIDDEN'],
    appliesTo: ({ auth = 'token' }) => auth === 'token' || auth === 'operator',
  },
  // A resource of a platform that the operator may not access.
  {
    codes: ['NOT_FOUND'],
    appliesTo: ({ auth, wholeInstallation }) => auth === 'operator' && !wholeInstallation,
  },
  // A key that was used before with another request.
  { codes: ['CONFLICT'], appliesTo: (contract) => acceptsKey(contract) && !contract.money },
  {
    codes: ['DUPLICATE_PAY_REQUEST'],
    appliesTo: (contract) => acceptsKey(contract) && !!contract.money,
  },
  {
    codes: [
      'WALLET_SIGNATURE_MISSING',
      'WALLET_SIGNATURE_MALFORMED',
      'WALLET_SIGNATURE_BODY_MISMATCH',
      'WALLET_SIGNATURE_INVALID',
      'REQUEST_ID_MISSING',
    ],
    appliesTo: ({ signedRetry }) => signedRetry === true,
  },
  { codes: ['RATE_LIMITED'], appliesTo: () => true },
  { codes: ['INTERNAL_ERROR'], appliesTo: () => true },
  // The database or the file storage is not available, or too many requests contend for one row.
  { codes: ['SERVICE_UNAVAILABLE'], appliesTo: () => true },
];

/** Codes that the public contract names for an operation and this server never returns for it. */
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

/**
 * Returned for a path without an operation of the method. A caller of an operation never receives this
 * code.
 */
const PATH_CODES: readonly Code[] = ['METHOD_NOT_ALLOWED'];

/** Codes by kind of operation. */
export const commonCodesOf = (contract: Contract): readonly Code[] =>
  COMMON_ERRORS.filter((each) => each.appliesTo(contract)).flatMap(({ codes }) => codes);

/** Codes that the contract lists, including `notFound`. */
export const ownCodesOf = ({ errors, notFound }: Contract): readonly Code[] =>
  notFound === undefined ? errors : [notFound, ...errors];

const inOrder = (codes: readonly Code[]): readonly Code[] =>
  (Object.keys(STATUS_OF) as Code[]).filter((code) => codes.includes(code));

/** Every code that an operation can return, in the order of `STATUS_OF`. */
export const returnedCodesOf = (contract: Contract): readonly Code[] =>
  inOrder([...commonCodesOf(contract), ...ownCodesOf(contract)]);

/** Every code that the document names for an operation, in the order of `STATUS_OF`. */
export const documentedCodesOf = (contract: Contract): readonly Code[] =>
  inOrder([...returnedCodesOf(contract), ...(PUBLIC_CONTRACT[contract.operationId] ?? [])]);

/** Whether the contract allows a reply with this code. */
export const isListed = (contract: Contract, code: Code): boolean =>
  PATH_CODES.includes(code) ||
  commonCodesOf(contract).includes(code) ||
  ownCodesOf(contract).includes(code);
