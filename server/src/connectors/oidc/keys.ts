// Signing keys of identity providers, found by OpenID Connect Discovery and kept for five minutes.
// For an unknown key they are fetched again; the number of fetches is limited, so that invented key
// ids cannot make this server flood a provider. After a failure a provider is not called for a
// moment.
import { type CompactVerifyGetKey, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Effects, Time } from '../../kernel/effects.ts';
import { isLoopbackHost } from '../../kernel/net/endpoint.ts';
import { readUrl } from '../../kernel/net/url.ts';

/** Maximum time of each request, while a client waits. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const KEPT_MS = 5 * 60_000;
/** Minimum interval between two fetches for unknown keys. */
const REFETCH_MS = 30_000;
const RETRY_MS = 5_000;

export interface ProviderKeys {
  /** The current keys. Throws if the provider is unavailable. */
  known(): Promise<CompactVerifyGetKey>;
  /** Fetches the keys again, if the interval allows it. */
  renewed(): Promise<CompactVerifyGetKey | undefined>;
}

interface Fetched {
  keys: CompactVerifyGetKey;
  at: Time;
}

/** Only https, except for a provider on this machine. */
function isSafe(url: unknown, issuer: string): url is string {
  const read = typeof url === 'string' ? readUrl(url) : undefined;
  if (!read) return false;
  const { protocol, hostname } = read;
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
    // The operator chose the provider; it may be in the operator's own network.
    publicOnly: false,
  });
  if (reply.status !== 200) throw new Error(`an identity provider answers ${reply.status}`);
  const parsed: unknown = JSON.parse(reply.body);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('not an object');
  return parsed as Record<string, unknown>;
}

async function fetchKeys(effects: Effects, issuer: string): Promise<CompactVerifyGetKey> {
  const base = issuer.replace(/\/$/, '');
  const found = await jsonAt(effects, `${base}/.well-known/openid-configuration`);
  if (found.issuer !== issuer) throw new Error('the document is of another issuer');
  const url = found.jwks_uri;
  if (!isSafe(url, issuer)) throw new Error('the address of the keys cannot be used');
  // The library validates the set.
  return createLocalJWKSet((await jsonAt(effects, url)) as unknown as JSONWebKeySet);
}

/** The keys of one provider. `note` receives a description of a problem. */
export function providerKeys(
  effects: Effects,
  issuer: string,
  note: (problem: string) => void,
): ProviderKeys {
  let held: Fetched | undefined;
  let failedAt: Time | undefined;
  let fetching: Promise<Fetched> | undefined;

  async function request(): Promise<Fetched> {
    try {
      held = { keys: await fetchKeys(effects, issuer), at: effects.now() };
      failedAt = undefined;
      return held;
    } catch (cause) {
      failedAt = effects.now();
      note(`The identity provider ${issuer} does not give its keys.`);
      throw new Error('an identity provider is unavailable', { cause });
    } finally {
      fetching = undefined;
    }
  }

  function fetched(): Promise<Fetched> {
    if (!fetching && failedAt !== undefined && effects.now() - failedAt < RETRY_MS) {
      throw new Error('an identity provider could not be asked a moment ago');
    }
    fetching ??= request();
    return fetching;
  }

  return {
    async known() {
      if (held && effects.now() - held.at < KEPT_MS) return held.keys;
      return (await fetched()).keys;
    },
    async renewed() {
      if (held && effects.now() - held.at < REFETCH_MS) return undefined;
      return (await fetched()).keys;
    },
  };
}
