// Signing keys of identity providers, found by OpenID Connect Discovery and cached for five
// minutes. For an unknown key ID the keys are fetched again, at most every 30 seconds, so that
// invented key IDs cannot cause many requests. After a failure a provider is not called for five
// seconds.
import { type CompactVerifyGetKey, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Effects, Time } from '../../kernel/effects.ts';
import { isLoopbackHost } from '../../kernel/net/endpoint.ts';
import { readUrl } from '../../kernel/net/url.ts';

/** Maximum time of each request, while a client waits. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const CACHE_MS = 5 * 60_000;
/** Minimum interval between two fetches for unknown keys. */
const REFETCH_MS = 30_000;
const RETRY_MS = 5_000;

export interface ProviderKeys {
  /** The current keys. Throws if the provider is unavailable. */
  current(): Promise<CompactVerifyGetKey>;
  /** Fetches the keys again. Undefined if the keys were fetched less than 30 seconds ago. */
  refetch(): Promise<CompactVerifyGetKey | undefined>;
}

interface FetchedKeys {
  keys: CompactVerifyGetKey;
  at: Time;
}

/** Whether the URL is https, or http on this machine for an issuer with http. */
function isSafe(url: unknown, issuer: string): url is string {
  const parsedUrl = typeof url === 'string' ? readUrl(url) : undefined;
  if (!parsedUrl) return false;
  const { protocol, hostname } = parsedUrl;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && issuer.startsWith('http:') && isLoopbackHost(hostname);
}

async function jsonAt(effects: Effects, url: string): Promise<Record<string, unknown>> {
  const reply = await effects.http({
    url,
    method: 'GET',
    headers: { accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    // The operator configured the provider, which may be in a private network.
    publicOnly: false,
  });
  if (reply.status !== 200) throw new Error(`an identity provider responded with ${reply.status}`);
  const document: unknown = JSON.parse(reply.body);
  if (typeof document !== 'object' || document === null)
    throw new Error('the response is not an object');
  return document as Record<string, unknown>;
}

async function fetchKeys(effects: Effects, issuer: string): Promise<CompactVerifyGetKey> {
  const base = issuer.replace(/\/$/, '');
  const discovery = await jsonAt(effects, `${base}/.well-known/openid-configuration`);
  if (discovery.issuer !== issuer) throw new Error('the document is of another issuer');
  const url = discovery.jwks_uri;
  if (!isSafe(url, issuer)) throw new Error('the address of the keys is not an https URL');
  // The library validates the set.
  return createLocalJWKSet((await jsonAt(effects, url)) as unknown as JSONWebKeySet);
}

/** The keys of one provider. `reportProblem` receives a description of a problem. */
export function providerKeys(
  effects: Effects,
  issuer: string,
  reportProblem: (problem: string) => void,
): ProviderKeys {
  let cachedKeys: FetchedKeys | undefined;
  let failedAt: Time | undefined;
  let pendingFetch: Promise<FetchedKeys> | undefined;

  async function request(): Promise<FetchedKeys> {
    try {
      cachedKeys = { keys: await fetchKeys(effects, issuer), at: effects.now() };
      failedAt = undefined;
      return cachedKeys;
    } catch (cause) {
      failedAt = effects.now();
      reportProblem(`The identity provider ${issuer} does not return its keys.`);
      throw new Error('an identity provider is unavailable', { cause });
    } finally {
      pendingFetch = undefined;
    }
  }

  function fetchOnce(): Promise<FetchedKeys> {
    if (!pendingFetch && failedAt !== undefined && effects.now() - failedAt < RETRY_MS) {
      throw new Error('an identity provider was unavailable less than 5 s ago');
    }
    pendingFetch ??= request();
    return pendingFetch;
  }

  return {
    async current() {
      if (cachedKeys && effects.now() - cachedKeys.at < CACHE_MS) return cachedKeys.keys;
      return (await fetchOnce()).keys;
    },
    async refetch() {
      if (cachedKeys && effects.now() - cachedKeys.at < REFETCH_MS) return undefined;
      return (await fetchOnce()).keys;
    },
  };
}
