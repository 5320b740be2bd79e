// An identity provider on this machine with the real protocol. The package oidc-provider implements
// it. The account that the test selects replaces the sign-in page.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

const CALLBACK = 'http://localhost:8080/operator/sign-in';
export const CLIENT = { id: 'railhead', secret: 'a-client-secret-of-the-tests-0123456789' };

export interface Account {
  groups?: readonly string[] | string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

const clientSettings = (client_id: string, callback: string) => ({
  client_id,
  client_secret: CLIENT.secret,
  redirect_uris: [callback],
  grant_types: ['authorization_code' as const],
  response_types: ['code' as const],
});

/** Location of the claims: in the ID token, or at the userinfo endpoint only. */
type Placement = 'id token' | 'userinfo';

const newKey = () => generateKeyPair('RS256', { extractable: true });
type Key = Awaited<ReturnType<typeof newKey>>;

interface ProviderOptions {
  issuer: string;
  accounts: Map<string, Account>;
  placement: Placement;
  key: Key;
  callback: string;
  /** Whether the provider shows its own pages for sign-in and consent. */
  hasPages: boolean;
}

async function createProvider({ issuer, accounts, placement, key, ...options }: ProviderOptions) {
  const { callback, hasPages } = options;
  const signingKey = {
    ...(await exportJWK(key.privateKey)),
    alg: 'RS256',
    use: 'sig',
    kid: 'test',
  };
  return new Provider(issuer, {
    jwks: { keys: [signingKey] },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    clients: [
      clientSettings(CLIENT.id, callback),
      clientSettings('another', callback),
      {
        ...clientSettings('public', callback),
        client_secret: undefined,
        token_endpoint_auth_method: 'none' as const,
      },
    ],
    claims: {
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    conformIdTokenClaims: placement === 'userinfo',
    features: { devInteractions: { enabled: hasPages } },
    cookies: { keys: ['key-of-the-tests'] },
    ...(hasPages ? {} : { interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` } }),
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, ...accounts.get(sub) }),
    }),
    // Every client has the consent of every account.
    async loadExistingGrant({ oidc }) {
      const { session, client: requestingClient } = oidc;
      const ids = { accountId: session?.accountId, clientId: requestingClient?.clientId };
      const grant = new oidc.provider.Grant(ids);
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });
}

interface Settings {
  /** Address to which the provider redirects the browser. */
  callback?: string;
  hasPages?: boolean;
}

export async function startIdentityProvider(
  placement: Placement = 'id token',
  { callback = CALLBACK, hasPages = false }: Settings = {},
) {
  const accounts = new Map<string, Account>();
  let selectedAccount = '';
  let claimsChange: { claims: object; isForged: boolean } | undefined;
  let tokenRequestCount = 0;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const [key, forgedKey] = await Promise.all([newKey(), newKey()]);
  const provider = await createProvider({ issuer, accounts, placement, key, callback, hasPages });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== '/token') return;
    tokenRequestCount += 1;
    const body = ctx.body as { id_token?: string };
    if (!claimsChange || !body.id_token) return;
    const [, content = ''] = body.id_token.split('.');
    const claims = JSON.parse(Buffer.from(content, 'base64url').toString());
    const { privateKey } = claimsChange.isForged ? forgedKey : key;
    const token = new SignJWT({ ...claims, ...claimsChange.claims });
    const id_token = await token.setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(privateKey);
    ctx.body = { ...body, id_token };
  });
  const serve = provider.callback();
  handle = (request, response) => {
    if (hasPages || !request.url?.startsWith('/interaction/')) return void serve(request, response);
    const result = { login: { accountId: selectedAccount } };
    const options = { mergeWithLastSubmission: false };
    void provider.interactionFinished(request, response, result, options);
  };

  /**
   * A browser without cookies that opens the address and signs in. Returns the callback address.
   */
  async function signIn(authorizationUrl: string, subject: string): Promise<string> {
    selectedAccount = subject;
    const cookies = new Map<string, string>();
    let url = authorizationUrl;
    for (let step = 0; step < 10 && !url.startsWith(CALLBACK); step += 1) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const reply = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of reply.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const location = reply.headers.get('location');
      if (location === null) throw new Error(`${reply.status}: ${await reply.text()}`);
      url = new URL(location, url).href;
    }
    return url;
  }

  return {
    issuer,
    accounts,
    signIn,
    tokenRequests: () => tokenRequestCount,
    /** Changes claims of the ID tokens from now on. Forged tokens are signed with another key. */
    change(change: typeof claimsChange) {
      claimsChange = change;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
