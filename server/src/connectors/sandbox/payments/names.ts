// Scripted name checks of beneficiaries: the suffix of the account identifier selects the result,
// everything else matches. The table documents the suffixes. No state: a slow bank answers once
// enough time has passed since the first call.
import { beneficiaryNameOf, sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import type { BeneficiaryVerificationPort, NameCheck } from '../../ports/index.ts';

type Answer = (name: string, elapsedMs: number) => NameCheck;

const ANSWER_AFTER_MS = 5_000;

/** A name with an initial, as some banks store it: `Ada Lovelace` is `A. Lovelace`. */
function partialMatchOf(name: string): string {
  const [first = '', ...rest] = name.trim().split(/\s+/);
  return rest.length ? `${first.charAt(0)}. ${rest.join(' ')}` : `${first} Jr`;
}

const matched: Answer = (fullName) => ({ status: 'MATCHED', fullName });

const matchedLater: Answer = (name, elapsedMs) =>
  elapsedMs < ANSWER_AFTER_MS
    ? { status: 'PENDING', checkAfterMs: ANSWER_AFTER_MS - elapsedMs }
    : matched(name, elapsedMs);

export const NAME_CHECKS_BY_SUFFIX: Readonly<Record<string, Answer>> = {
  '102': () => ({ status: 'NOT_MATCHED' }),
  '103': (name) => ({ status: 'PARTIAL_MATCH', fullName: partialMatchOf(name) }),
  '104': matchedLater,
  '105': () => ({ status: 'INVALID_ACCOUNT' }),
  '106': () => ({ status: 'UNSUPPORTED' }),
  '107': () => ({ status: 'CHECKED_BY_RECEIVING_FI' }),
};

export const sandboxBeneficiaryVerification: BeneficiaryVerificationPort = {
  async verify(account, elapsedMs) {
    const response = NAME_CHECKS_BY_SUFFIX[sandboxSuffixOf(account)] ?? matched;
    return response(beneficiaryNameOf(account) ?? '', elapsedMs);
  },
};
