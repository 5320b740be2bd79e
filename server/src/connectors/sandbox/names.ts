// What a bank says about a beneficiary's name, in the sandbox: the ending of the account's identifier
// decides, everything else matches. The table is the sandbox's documentation of these endings.
import { beneficiaryNameOf, sandboxSuffixOf } from '../../catalog/account-info.ts';
import type { NameCheck, NamePort } from '../ports.ts';

type Answer = (name: string) => NameCheck;

/** A name as a bank has it that knows the person by an initial: `Ada Lovelace` is `A. Lovelace`. */
function nearly(name: string): string {
  const [first = '', ...rest] = name.trim().split(/\s+/);
  return rest.length ? `${first.charAt(0)}. ${rest.join(' ')}` : `${first} Jr`;
}

const BY_SUFFIX: Readonly<Record<string, Answer>> = {
  '102': () => ({ status: 'NOT_MATCHED' }),
  '103': (name) => ({ status: 'PARTIAL_MATCH', fullName: nearly(name) }),
  '104': () => ({ status: 'PENDING' }),
  '105': () => ({ status: 'INVALID_ACCOUNT' }),
  '106': () => ({ status: 'UNSUPPORTED' }),
  '107': () => ({ status: 'CHECKED_BY_RECEIVING_FI' }),
};

const matched: Answer = (fullName) => ({ status: 'MATCHED', fullName });

export const sandboxNames: NamePort = {
  verify: async (account) =>
    (BY_SUFFIX[sandboxSuffixOf(account)] ?? matched)(beneficiaryNameOf(account) ?? ''),
};
