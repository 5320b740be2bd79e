// Passwords of people: scrypt with the parameters that OWASP recommends for 32 MiB of memory. One
// hash is computed at a time, so that many attempts leave memory and processor time to payments.
import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Effects } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';

const compute = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

const NAME = 'scrypt';
const COST = { N: 32_768, r: 8, p: 3 };
const MAX_MEMORY = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** More computations than this would keep a person waiting for seconds. */
const MAX_WAITING = 20;
const RETRY_S = 10;

let last: Promise<unknown> = Promise.resolve();
let waitingCount = 0;

async function derived(password: string, salt: Uint8Array, cost: typeof COST): Promise<Buffer> {
  if (waitingCount >= MAX_WAITING) {
    const reason = 'Too many sign-ins by password are in progress. Try again.';
    throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: RETRY_S });
  }
  waitingCount += 1;
  // Equal characters may be typed as different sequences of code points.
  const text = password.normalize('NFKC');
  const next = last.then(() => compute(text, salt, HASH_BYTES, { ...cost, maxmem: MAX_MEMORY }));
  last = next.catch(() => undefined);
  return next.finally(() => {
    waitingCount -= 1;
  });
}

/** The hash of a password with its parameters: `scrypt$N$r$p$salt$hash`, base64url. */
export async function passwordHash(
  effects: Pick<Effects, 'random'>,
  password: string,
): Promise<string> {
  const salt = effects.random(SALT_BYTES);
  const hash = await derived(password, salt, COST);
  const { N, r, p } = COST;
  const parts = [salt, hash].map((each) => Buffer.from(each).toString('base64url'));
  return [NAME, N, r, p, ...parts].join('$');
}

/** Compared with if there is no password, so that both take the same time. */
const ABSENT = [
  ...[NAME, COST.N, COST.r, COST.p],
  ...[SALT_BYTES, HASH_BYTES].map((bytes) => Buffer.alloc(bytes).toString('base64url')),
].join('$');

/** Whether a password has this hash. False without a hash, after the same time. */
export async function matchesPassword(password: string, stored: string | null): Promise<boolean> {
  const [name, N, r, p, salt = '', hash = ''] = (stored ?? ABSENT).split('$');
  if (name !== NAME) throw new Error('a password hash of an unknown kind');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const actual = await derived(password, Buffer.from(salt, 'base64url'), cost);
  const expected = Buffer.from(hash, 'base64url');
  return stored !== null && actual.length === expected.length && timingSafeEqual(actual, expected);
}
