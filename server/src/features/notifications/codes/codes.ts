// One-time codes that prove access to a contact: uniformly random, stored as a keyed hash, and
// bound to the address they were sent to. Codes expire after a period and a number of failed
// attempts, both set by the caller. Attempts are counted in the row under an optimistic lock, so
// that parallel guesses are also counted.

import type { Effects } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { retentionSweep } from '../../../runtime/db/retention.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { changedRows } from '../../../runtime/operation/personal-data.ts';
import { constantTimeEqual } from '../../../runtime/security/crypto.ts';
import type { Vault } from '../../../runtime/security/vault.ts';

export interface CodeRules {
  length: number;
  /** Defaults to decimal digits. */
  alphabet?: string;
  validityMs: number;
  /** Maximum number of failed attempts. */
  maxAttempts: number;
  /** Minimum time between two codes. */
  resendAfterMs: number;
}

export interface CodePurpose {
  /** Purpose and subject. Only the latest code of an ID is valid. */
  id: string;
  /** Binding of the code, such as an address. A code sent to another address is invalid. */
  binding: string;
  rules: CodeRules;
  /** Sandbox code that replaces the random code. Also valid before `issueCode`. */
  fixedCode?: string | undefined;
}

const codes = table(
  'codes',
  {
    id: col.text,
    platform_id: col.text,
    digest: col.text.mut,
    wrong: col.int4.mut,
    sent_at: col.time.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['codes_pkey'] },
);

const DIGITS = '0123456789';

/** Digits and capital letters without the ambiguous 0, O, 1, I and L. */
export const LETTERS_AND_DIGITS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

const BYTE_VALUES = 2 ** 8;

/** A uniformly random code. */
export function generateCode(
  effects: Pick<Effects, 'random'>,
  { length, alphabet = DIGITS }: Pick<CodeRules, 'length' | 'alphabet'>,
): string {
  // Rejection sampling: bytes beyond the last multiple would make the first characters more likely.
  const limit = BYTE_VALUES - (BYTE_VALUES % alphabet.length);
  let code = '';
  while (code.length < length) {
    const bytes = [...effects.random(length - code.length)].filter((byte) => byte < limit);
    code += bytes.map((byte) => alphabet[byte % alphabet.length]).join('');
  }
  return code;
}

const digestOf = (vault: Vault, { id, binding }: CodePurpose, code: string): string =>
  vault.digest('code', JSON.stringify([id, binding, code]));

/**
 * Stages a new code that replaces the previous code. Throws RATE_LIMITED within `resendAfterMs`.
 */
export async function issueCode(ctx: Ctx, purpose: CodePurpose): Promise<string> {
  const { rules, fixedCode } = purpose;
  const previousCode = await ctx.read(codes, purpose.id);
  const waitMs = previousCode ? previousCode.sent_at + rules.resendAfterMs - ctx.now : 0;
  if (waitMs > 0) {
    const retryAfterS = Math.ceil(waitMs / 1000);
    const reason = 'A code was sent recently. Wait before requesting another code.';
    throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
  }
  const code = fixedCode ?? generateCode(ctx.effects, rules);
  const values = {
    digest: digestOf(ctx.vault, purpose, code),
    wrong: 0,
    sent_at: ctx.now,
    expires_at: ctx.now + rules.validityMs,
  };
  if (previousCode) ctx.update(codes, previousCode, values);
  else ctx.insert(codes, { id: purpose.id, platform_id: ctx.caller.platformId, ...values });
  return code;
}

/**
 * `none`: no code is pending, for example after its use, its expiry or too many failed attempts.
 */
type CodeResult = 'valid' | 'invalid' | 'none';

/**
 * Checks the code and stages its use or the failed attempt. A failed attempt must be committed, so
 * the caller rejects the request with `{ rejected }` and must not throw.
 */
export async function verifyCode(
  ctx: Ctx,
  purpose: CodePurpose,
  input: string,
): Promise<CodeResult> {
  const { rules, fixedCode } = purpose;
  const row = await ctx.read(codes, purpose.id);
  const digest = digestOf(ctx.vault, purpose, input);
  if (fixedCode !== undefined) {
    // A row with a different hash belongs to another binding.
    const expectedHash = digestOf(ctx.vault, purpose, fixedCode);
    if (row?.digest !== expectedHash)
      return constantTimeEqual(digest, expectedHash) ? 'valid' : 'invalid';
  }
  if (!row || row.wrong >= rules.maxAttempts || ctx.now >= row.expires_at) return 'none';
  if (constantTimeEqual(digest, row.digest)) {
    ctx.remove(codes, row);
    return 'valid';
  }
  ctx.update(codes, row, { wrong: row.wrong + 1 });
  return 'invalid';
}

/** Stages the removal of the pending code, if any. */
export async function revokeCode(ctx: Ctx, id: string): Promise<void> {
  const row = await ctx.read(codes, id);
  if (row) ctx.remove(codes, row);
}

const DAY_MS = 24 * 3_600_000;

const REMOVE_SQL = 'delete from codes where id = any($1::text[]) returning id';

/**
 * Removes codes by ID and returns their number. Erasures use it, because the keyed hash of a code
 * includes the address.
 */
export const eraseCodes = ({ db }: Runtime, ids: readonly string[]): Promise<number> =>
  changedRows(db, REMOVE_SQL, [ids]);

/** Deletes codes a day after they expired. */
export const codeSweep = () =>
  retentionSweep('codes.purge', [{ table: 'codes', time: 'expires_at', keepMs: DAY_MS }]);
