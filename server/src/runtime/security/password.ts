// Hashes of passwords, by scrypt with the parameters that OWASP recommends for 32 MiB of memory. One hash
// is computed at a time, so that payments have memory and processor time during many attempts.
import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Effects } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';

const compute = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

const NAME = 'scrypt';
const COST = { N: 32_768, r: 8, p: 3 };
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Maximum waiting computations. With more, a sign-in would wait for seconds. */
const MAX_WAITING = 20;
const RETRY_S = 10;

let lastHash: Promise<unknown> = Promise.resolve();
let waitingCount = 0;

async function deriveHash(password: string, salt: Uint8Array, cost: typeof COST): Promise<Buffer> {
  if (waitingCount >= MAX_WAITING) {
    const reason = 'Too many sign-ins by password are in progress. Try again.';
    throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: RETRY_S });
  }
  waitingCount += 1;
  // The text is normalized, because equal characters can be different sequences of code points.
  const text = password.normalize('NFKC');
  const nextHash = lastHash.then(() =>
    compute(text, salt, HASH_BYTES, { ...cost, maxmem: MAX_MEMORY_BYTES }),
  );
  lastHash = nextHash.catch(() => undefined);
  return nextHash.finally(() => {
    waitingCount -= 1;
  });
}

/** The hash of a password with its parameters: `scrypt$N$r$p$salt$hash`, base64url. */
export async function passwordHash(
  effects: Pick<Effects, 'random'>,
  password: string,
): Promise<string> {
  const salt = effects.random(SALT_BYTES);
  const hash = await deriveHash(password, salt, COST);
  const { N, r, p } = COST;
  const parts = [salt, hash].map((each) => Buffer.from(each).toString('base64url'));
  return [NAME, N, r, p, ...parts].join('$');
}

/** Hash for the comparison without a password, so that both cases have the same duration. */
const ABSENT_HASH = [
  ...[NAME, COST.N, COST.r, COST.p],
  ...[SALT_BYTES, HASH_BYTES].map((bytes) => Buffer.alloc(bytes).toString('base64url')),
].join('$');

/**
 * Whether a password has this hash. False without a hash, after the same duration. Throws RATE_LIMITED if
 * `MAX_WAITING` computations wait.
 */
export async function matchesPassword(
  password: string,
  storedHash: string | null,
): Promise<boolean> {
  const [name, N, r, p, salt = '', hash = ''] = (storedHash ?? ABSENT_HASH).split('$');
  if (name !== NAME) throw new Error('the stored password hash is not a scrypt hash');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const actualHash = await deriveHash(password, Buffer.from(salt, 'base64url'), cost);
  const expectedHash = Buffer.from(hash, 'base64url');
  return (
    storedHash !== null &&
    actualHash.length === expectedHash.length &&
    timingSafeEqual(actualHash, expectedHash)
  );
}
