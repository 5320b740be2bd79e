// The identity provider of a company (OpenID Connect, authorization code flow with PKCE, state and
// nonce). The library is loaded with the first sign-in. `Effects` sends its requests.
import type { AuthorizationCodeGrantChecks, Configuration, CustomFetch } from 'openid-client';
import type { Effects, Time } from '../../../../kernel/effects.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { IdentityProviderSettings } from '../../../../runtime/config/identity-provider.ts';
import type { RoleName } from '../../roles/index.ts';

/** Timeout of one request to the provider. A sign-in usually makes four requests. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;
/** Maximum age of the provider's metadata. */
const METADATA_MS = 3_600_000;
const RETRY_AFTER_S = 10;
const MAX_NAME_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;

/** Verified claims of the provider about a person. */
export interface ProvidedPerson {
  issuer: string;
  subject: string;
  name: string;
  /**
   * Undefined if the provider has not verified it or if it exceeds `MAX_EMAIL_LENGTH` characters.
   */
  email: string | undefined;
  /** Roles of the person's groups. */
  roles: readonly RoleName[];
}

const unavailableFault = (reason: string, nextStep: string, cause?: unknown): Fault =>
  new Fault('SERVICE_UNAVAILABLE', `The identity provider ${reason}. ${nextStep}`, undefined, {
    retryAfterS: RETRY_AFTER_S,
    cause,
  });

const BEGIN_AGAIN = 'Begin the sign-in again.';
const CORRECT_SETTINGS = 'Ask an administrator to correct the settings of the identity provider.';

const rejectedFault = (): Fault =>
  new Fault(
    'UNAUTHORIZED',
    `The response of the identity provider was not accepted. ${BEGIN_AGAIN}`,
  );

/**
 * Makes the requests of the library. Throws SERVICE_UNAVAILABLE if there is no response, or a 5xx.
 */
const requestThrough =
  (effects: Effects): CustomFetch =>
  async (url, { method, headers, body }) => {
    const request = {
      url,
      method: method === 'POST' ? ('POST' as const) : ('GET' as const),
      headers,
      ...(body ? { body: String(body) } : {}),
      ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, publicOnly: false },
    };
    const reply = await effects.http(request).catch((error: unknown) => {
      throw unavailableFault('does not respond', BEGIN_AGAIN, error);
    });
    if (reply.status >= 500)
      throw unavailableFault(`returned HTTP status ${reply.status}`, BEGIN_AGAIN);
    const isEmpty = [101, 204, 205, 304].includes(reply.status);
    return new Response(isEmpty ? null : reply.body, {
      status: reply.status,
      headers: reply.headers,
    });
  };

/** The fault that an error of the library wraps, or undefined. */
function faultIn(error: unknown): Fault | undefined {
  let each = error;
  while (each instanceof Error && !(each instanceof Fault)) each = each.cause;
  return each instanceof Fault ? each : undefined;
}

/** Rejections caused by the configuration of this server. */
const CONFIGURATION_ERRORS = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type'];

/**
 * The fault of a failed exchange. The error of the library is discarded, because it may contain
 * tokens.
 */
function faultOf(error: unknown): Fault {
  const knownFault = faultIn(error);
  if (knownFault) return knownFault;
  const code = (error as { error?: unknown }).error;
  return CONFIGURATION_ERRORS.some((each) => each === code)
    ? unavailableFault(`rejects the client ID or secret of this server (${code})`, CORRECT_SETTINGS)
    : rejectedFault();
}

type Claims = Readonly<Record<string, unknown>>;

const textIn = (claims: Claims, name: string): string | undefined => {
  const value = claims[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};

function personOf(
  claims: Claims,
  { roles, groupsClaim }: IdentityProviderSettings,
): ProvidedPerson {
  const [issuer, subject] = [textIn(claims, 'iss'), textIn(claims, 'sub')];
  if (issuer === undefined || subject === undefined) throw rejectedFault();
  const address = textIn(claims, 'email');
  const isUsable = claims.email_verified === true && (address?.length ?? 0) <= MAX_EMAIL_LENGTH;
  const name = textIn(claims, 'name') ?? textIn(claims, 'preferred_username') ?? address ?? subject;
  const groups = [claims[groupsClaim] ?? []].flat();
  const groupRoles = groups.flatMap(
    (group) => (typeof group === 'string' && roles.get(group)) || [],
  );
  return {
    ...{ issuer, subject, name: name.slice(0, MAX_NAME_LENGTH) },
    email: isUsable ? address : undefined,
    roles: [...new Set(groupRoles)],
  };
}

interface DiscoveredServer {
  config: Configuration;
  readAt: Time;
}

/** The metadata of the provider. */
async function discover(
  effects: Effects,
  { issuer, clientId, clientSecret }: IdentityProviderSettings,
): Promise<DiscoveredServer> {
  const client = await import('openid-client');
  const clientAuth = clientSecret === undefined ? client.None() : undefined;
  const isPlain = new URL(issuer).protocol === 'http:';
  const options = {
    [client.customFetch]: requestThrough(effects),
    // Verifies the signature of the ID token, which the library omits by default. The settings
    // allow plain HTTP for a provider on the same machine.
    execute: [
      client.enableNonRepudiationChecks,
      ...(isPlain ? [client.allowInsecureRequests] : []),
    ],
  };
  try {
    const server = new URL(issuer);
    const config = await client.discovery(server, clientId, clientSecret, clientAuth, options);
    return { config, readAt: effects.now() };
  } catch (error) {
    const reason = 'has no valid metadata at its issuer';
    throw faultIn(error) ?? unavailableFault(reason, CORRECT_SETTINGS, error);
  }
}

/** State of a sign-in between its two requests. */
export interface PendingSignIn {
  redirectUri: string;
  state: string;
  nonce: string;
  verifier: string;
}

/**
 * The identity provider of these settings. The functions of the result throw SERVICE_UNAVAILABLE.
 */
export function identityProvider(effects: Effects, settings: IdentityProviderSettings) {
  let discoveredServer: DiscoveredServer | undefined;
  let pendingDiscovery: Promise<DiscoveredServer> | undefined;

  async function configuration(): Promise<Configuration> {
    if (!discoveredServer || discoveredServer.readAt + METADATA_MS <= effects.now()) {
      pendingDiscovery ??= discover(effects, settings).finally(() => {
        pendingDiscovery = undefined;
      });
      discoveredServer = await pendingDiscovery;
    }
    return discoveredServer.config;
  }

  /** Claims of the ID token. Missing claims are read from the userinfo endpoint. */
  async function claimsOf(
    config: Configuration,
    callback: URL,
    checks: AuthorizationCodeGrantChecks,
  ) {
    const client = await import('openid-client');
    const tokens = await client.authorizationCodeGrant(config, callback, checks);
    const claims = tokens.claims();
    if (!claims) throw rejectedFault();
    const isComplete = [settings.groupsClaim, 'email', 'name'].every((each) => each in claims);
    if (isComplete || !config.serverMetadata().userinfo_endpoint) return claims;
    const userInfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...userInfo, ...claims };
  }

  return {
    /** The address to which the browser navigates. */
    async authorizationUrl({
      redirectUri,
      state,
      nonce,
      verifier,
    }: PendingSignIn): Promise<string> {
      const config = await configuration();
      const client = await import('openid-client');
      const { scopes_supported: supportedScopes = [] } = config.serverMetadata();
      const scopes = ['openid', 'profile', 'email', settings.groupsClaim];
      const parameters = {
        redirect_uri: redirectUri,
        // Some providers reject unknown scopes.
        scope: scopes
          .filter((each, index) => index < 3 || supportedScopes.includes(each))
          .join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...{ state, nonce },
      };
      return client.buildAuthorizationUrl(config, parameters).href;
    },

    /** The person whom the provider signed in. Throws UNAUTHORIZED. */
    async person(
      callback: URL,
      pendingSignIn: Omit<PendingSignIn, 'redirectUri'>,
    ): Promise<ProvidedPerson> {
      const config = await configuration();
      const { state, nonce, verifier } = pendingSignIn;
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      try {
        return personOf(await claimsOf(config, callback, checks), settings);
      } catch (error) {
        throw faultOf(error);
      }
    },
  };
}

export type IdentityProvider = ReturnType<typeof identityProvider>;
