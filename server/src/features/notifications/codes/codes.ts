// One-time codes that somebody has to tell us to show that a message reached them: drawn evenly, kept as a
// keyed hash, good for a while, for a few wrong tries, and for exactly what they were sent to. Tries are
// counted in the row, so guessing from many sides at once wins nothing: of two tries that read the same
// row only one is taken and the other is judged anew. How long and how often is the caller's to say.

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
  /** What it is made of; decimal digits unless said. */
  alphabet?: string;
  livesMs: number;
  /** This many wrong tries end it. */
  tries: number;
  /** Another is not sent sooner. */
  againAfterMs: number;
}

export interface CodePurpose {
  /** Who has to show what: one code is good for it at a time, the newest. */
  id: string;
  /** What the code shows, such as an address: one that was sent elsewhere is none. */
  proves: string;
  rules: CodeRules;
  /** In place of a drawn code, where nothing is sent; then it is good before it was asked for, too. */
  fixed?: string | undefined;
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

/** Digits and capital letters without those that are taken for one another: 0 and O, 1, I and L. */
export const LETTERS_AND_DIGITS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** The draws of one byte. */
const DRAWS = 2 ** 8;

/** A code of this length, each as likely as any other. */
export function drawCode(
  effects: Pick<Effects, 'random'>,
  { length, alphabet = DIGITS }: Pick<CodeRules, 'length' | 'alphabet'>,
): string {
  // Draws beyond the last whole round would make the first characters likelier: they are left out.
  const limit = DRAWS - (DRAWS % alphabet.length);
  let code = '';
  while (code.length < length) {
    const draws = [...effects.random(length - code.length)].filter((draw) => draw < limit);
    code += draws.map((draw) => alphabet[draw % alphabet.length]).join('');
  }
  return code;
}

const digestOf = (vault: Vault, { id, proves }: CodePurpose, code: string): string =>
  vault.digest('code', JSON.stringify([id, proves, code]));

/** Stages a new code in place of the one before; RATE_LIMITED right after that one. */
export async function issueCode(ctx: Ctx, purpose: CodePurpose): Promise<string> {
  const { rules, fixed } = purpose;
  const before = await ctx.read(codes, purpose.id);
  const waitMs = before ? before.sent_at + rules.againAfterMs - ctx.now : 0;
  if (waitMs > 0) {
    const retryAfterS = Math.ceil(waitMs / 1000);
    const reason = 'A code was sent a moment ago. Wait before requesting another one.';
    throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
  }
  const code = fixed ?? drawCode(ctx.effects, rules);
  const fresh = {
    digest: digestOf(ctx.vault, purpose, code),
    wrong: 0,
    sent_at: ctx.now,
    expires_at: ctx.now + rules.livesMs,
  };
  if (before) ctx.update(codes, before, fresh);
  else ctx.insert(codes, { id: purpose.id, platform_id: ctx.caller.platformId, ...fresh });
  return code;
}

/** `none`: nothing that was sent for it may still be handed in, whatever was given. */
type CodeVerdict = 'right' | 'wrong' | 'none';

/**
 * Whether this is the code; stages that it was used, or the wrong try. Commit either: a refusal is answered
 * as `{ rejected }`, not thrown.
 */
export async function takeCode(
  ctx: Ctx,
  purpose: CodePurpose,
  given: string,
): Promise<CodeVerdict> {
  const { rules, fixed } = purpose;
  const row = await ctx.read(codes, purpose.id);
  const digest = digestOf(ctx.vault, purpose, given);
  if (fixed !== undefined) {
    // A row with another hash is of a code that was sent elsewhere.
    const expected = digestOf(ctx.vault, purpose, fixed);
    if (row?.digest !== expected) return constantTimeEqual(digest, expected) ? 'right' : 'wrong';
  }
  if (!row || row.wrong >= rules.tries || ctx.now >= row.expires_at) return 'none';
  if (constantTimeEqual(digest, row.digest)) {
    ctx.remove(codes, row);
    return 'right';
  }
  ctx.update(codes, row, { wrong: row.wrong + 1 });
  return 'wrong';
}

/** Stages that the code that was sent for it, if any, is none any more. */
export async function dropCode(ctx: Ctx, id: string): Promise<void> {
  const row = await ctx.read(codes, id);
  if (row) ctx.remove(codes, row);
}

const DAY_MS = 24 * 3_600_000;

const REMOVE = 'delete from codes where id = any($1::text[]) returning id';

/**
 * Removes codes by what they are for; answers how many there were. Erasures use it: the keyed hash of a code
 * covers where it was sent.
 */
export const eraseCodes = ({ db }: Runtime, ids: readonly string[]): Promise<number> =>
  changedRows(db, REMOVE, [ids]);

/** Deletes codes that ran out long ago: many are for something that happens once. */
export const codeSweep = () =>
  retentionSweep('codes.forget', [{ table: 'codes', time: 'expires_at', keepMs: DAY_MS }]);
