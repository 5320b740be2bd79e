// Recovery codes for a lost authenticator app. Only a keyed hash of each code is stored.
import type { Effects } from '../../../../kernel/effects.ts';
import type { Vault } from '../../../../runtime/security/vault.ts';
import { generateCode, LETTERS_AND_DIGITS } from '../../../notifications/codes/index.ts';

const RECOVERY = { codes: 10, length: 12, group: 4 };

/** Ten single-use codes: XXXX-XXXX-XXXX. */
export const generateRecoveryCodes = (effects: Pick<Effects, 'random'>): string[] =>
  Array.from({ length: RECOVERY.codes }, () => {
    const code = generateCode(effects, { length: RECOVERY.length, alphabet: LETTERS_AND_DIGITS });
    return (code.match(new RegExp(`.{${RECOVERY.group}}`, 'g')) ?? []).join('-');
  });

/** Keyed hash of a recovery code, independent of case and grouping. */
export const recoveryDigest = (vault: Vault, factorId: string, code: string): string =>
  vault.digest(
    'recovery code',
    JSON.stringify([factorId, code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '')]),
  );
