// Scripted name checks of beneficiaries: the suffix of the account identifier selects the result,
// and other suffixes match. The table documents the suffixes. Stateless: a delayed result depends
// on the time since the first call.
import { beneficiaryNameOf, sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import type { BeneficiaryVerificationPort, NameCheck } from '../../ports/index.ts';

type NameCheckScript = (name: string, elapsedMs: number) => NameCheck;

const RESULT_DELAY_MS = 5_000;

/**
 * A name with an initial, as some banks store it: `Ada Lovelace` is `A. Lovelace`. A single name
 * has the suffix `Jr`.
 */
function partialMatchOf(name: string): string {
  const [firstName = '', ...otherNames] = name.trim().split(/\s+/);
  return otherNames.length ? `${firstName.charAt(0)}. ${otherNames.join(' ')}` : `${firstName} Jr`;
}

const matchedName: NameCheckScript = (fullName) => ({ status: 'MATCHED', fullName });

const matchedLater: NameCheckScript = (name, elapsedMs) =>
  elapsedMs < RESULT_DELAY_MS
    ? { status: 'PENDING', checkAfterMs: RESULT_DELAY_MS - elapsedMs }
    : matchedName(name, elapsedMs);

export const NAME_CHECKS_BY_SUFFIX: Readonly<Record<string, NameCheckScript>> = {
  '102': () => ({ status: 'NOT_MATCHED' }),
  '103': (name) => ({ status: 'PARTIAL_MATCH', fullName: partialMatchOf(name) }),
  '104': matchedLater,
  '105': () => ({ status: 'INVALID_ACCOUNT' }),
  '106': () => ({ status: 'UNSUPPORTED' }),
  '107': () => ({ status: 'CHECKED_BY_RECEIVING_FI' }),
};

export const sandboxBeneficiaryVerification: BeneficiaryVerificationPort = {
  async verify(account, elapsedMs) {
    const script = NAME_CHECKS_BY_SUFFIX[sandboxSuffixOf(account)] ?? matchedName;
    return script(beneficiaryNameOf(account) ?? '', elapsedMs);
  },
};
