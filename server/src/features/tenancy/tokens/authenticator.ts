// Authenticates requests by HTTP Basic. A lookup costs two reads, so only valid credentials are
// cached, for two seconds. Every rejection has the same message. An unknown client ID costs the
// same reads as a wrong secret, so no rejection discloses whether a client ID exists.
import type { Caller } from '../../../kernel/caller.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { constantTimeEqual, sha256Hex } from '../../../runtime/security/crypto.ts';
import { readPlatform } from '../platform/index.ts';
import { tokens } from './store.ts';

/** Maximum time for which another process accepts a deleted token. */
const CACHE_MS = 2_000;
const MAX_CACHED = 10_000;
/**
 * Longer than any commit. During this time a token that is being deleted is read on every request.
 */
const DELETION_MS = 60_000;
/** Maximum header length in characters. Longer headers are rejected without parsing. */
const MAX_HEADER_LENGTH = 2_048;

export interface Authenticator {
  /** The caller of an `Authorization` header. Throws `UNAUTHORIZED`. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /**
   * Whether this process accepted the header among its last `MAX_CACHED` headers. Grants no access.
   */
  wasValid(authorization: string | undefined): boolean;
  /**
   * Removes a token that is being deleted from the cache, for the maximum duration of its deletion.
   */
  drop(tokenId: string): void;
}

interface CachedCaller {
  caller: Caller;
  until: Time;
}

const invalidCredentialsFault = () =>
  new Fault('UNAUTHORIZED', 'The API credentials are missing or invalid.');

/** Parses `Basic base64(id:secret)`. Returns null for anything else. */
export function readBasic(header: string | undefined): { id: string; secret: string } | null {
  if (!header || header.length > MAX_HEADER_LENGTH) return null;
  const encodedCredentials = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1];
  if (!encodedCredentials) return null;
  const text = Buffer.from(encodedCredentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || text.includes('\0')) return null;
  return { id: text.slice(0, colon), secret: text.slice(colon + 1) };
}

const NO_HASH = sha256Hex('');

/** The caller of a token whose secret was verified. */
type TokenCaller = Caller & { tokenId: string };

async function findToken(db: Database, id: string, secret: string): Promise<TokenCaller> {
  const [token] = await db.find(tokens, { client_id: id });
  const isSecretValid = constantTimeEqual(sha256Hex(secret), token?.secret_hash ?? NO_HASH);
  const platform = await readPlatform(db, token?.platform_id ?? '');
  if (!token || !isSecretValid || !platform) throw invalidCredentialsFault();
  return {
    platformId: platform.id,
    environment: platform.environment,
    tokenId: token.id,
    tokenName: token.name,
    requestBodiesUntil: platform.request_bodies_until,
    permissions: token.permissions,
  };
}

/** `now` is the clock of the cache. */
export function authenticator(db: Database, now: () => Time): Authenticator {
  // Keyed by a hash of the header, so that no secret remains in memory.
  const cachedCallers = new Map<string, CachedCaller>();
  const pendingLookups = new Map<string, Promise<Caller>>();
  const tokensInDeletion = new Map<string, Time>();
  /** IDs of tokens by the hash of a header that was valid once. */
  const tokensByHeaderHash = new Map<string, string>();

  function cacheCaller(key: string, caller: TokenCaller, readAt: Time): void {
    const { tokenId } = caller;
    if ((tokensInDeletion.get(tokenId) ?? 0) > now()) return;
    if (tokensByHeaderHash.size >= MAX_CACHED)
      tokensByHeaderHash.delete(tokensByHeaderHash.keys().next().value as string);
    tokensByHeaderHash.set(key, tokenId);
    if (cachedCallers.size >= MAX_CACHED)
      cachedCallers.delete(cachedCallers.keys().next().value as string);
    cachedCallers.set(key, { caller, until: readAt + CACHE_MS });
  }

  async function find(key: string, header: string | undefined): Promise<Caller> {
    const credentials = readBasic(header);
    if (!credentials) throw invalidCredentialsFault();
    const readAt = now();
    const caller = await findToken(db, credentials.id, credentials.secret);
    cacheCaller(key, caller, readAt);
    return caller;
  }

  return {
    async authenticate(authorization) {
      const key = sha256Hex(authorization ?? '');
      const cachedCaller = cachedCallers.get(key);
      if (cachedCaller && cachedCaller.until > now()) return cachedCaller.caller;
      cachedCallers.delete(key);
      const pendingLookup = pendingLookups.get(key);
      if (pendingLookup) return pendingLookup;
      const lookup = find(key, authorization).finally(() => pendingLookups.delete(key));
      pendingLookups.set(key, lookup);
      return lookup;
    },
    wasValid: (authorization) =>
      tokensByHeaderHash.size > 0 && tokensByHeaderHash.has(sha256Hex(authorization ?? '')),
    drop(tokenId) {
      const time = now();
      for (const [id, until] of tokensInDeletion) if (until <= time) tokensInDeletion.delete(id);
      tokensInDeletion.set(tokenId, time + DELETION_MS);
      for (const [key, provenTokenId] of tokensByHeaderHash)
        if (provenTokenId === tokenId) tokensByHeaderHash.delete(key);
      for (const [key, each] of cachedCallers)
        if (each.caller.tokenId === tokenId) cachedCallers.delete(key);
    },
  };
}
