// Passkeys created by a real browser: Chromium with a virtual authenticator, on a platform's site
// whose backend relays the data of the page.
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';
import { base64url } from '../kit/wallets/authenticator.ts';
import {
  generateKeys,
  openSessionKey,
  type WalletFixture,
  walletFixture,
} from '../kit/wallets/embedded-wallets.ts';
import { browserPath, launch, type Visit, visit } from './browser.ts';

const TIMEOUT_MS = 60_000;

/** A page with passkey support. Only the field names relate to this API. */
const PAGE = `<!doctype html><title>Wallet</title><script>
  const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const bytes = (text) => Uint8Array.from(
    atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
  async function register({ challenge, attestation, userVerification }) {
    const credential = await navigator.credentials.create({ publicKey: {
      challenge: bytes(challenge), attestation, timeout: 10_000,
      rp: { id: 'localhost', name: 'Wallet' },
      user: { id: new Uint8Array(16), name: 'ada', displayName: 'Ada' },
      pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'preferred', userVerification } } });
    return {
      credentialId: text(credential.rawId),
      clientDataJson: text(credential.response.clientDataJSON),
      attestationObject: text(credential.response.attestationObject),
      transports: credential.response.getTransports() };
  }
  async function prove({ challenge, credentialId, userVerification }) {
    const assertion = await navigator.credentials.get({ publicKey: {
      challenge: new TextEncoder().encode(challenge), rpId: 'localhost', timeout: 10_000,
      allowCredentials: [{ type: 'public-key', id: bytes(credentialId) }], userVerification } });
    const { clientDataJSON, authenticatorData, signature, userHandle } = assertion.response;
    return {
      credentialId: text(assertion.rawId),
      clientDataJson: text(clientDataJSON),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      userHandle: userHandle && text(userHandle) };
  }
</script>`;

interface Site {
  server: Server;
  origin: string;
}

async function openSite(): Promise<Site> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, origin: `http://localhost:${port}` };
}

const app = testApp();
let fixture: WalletFixture;
let sites: [Site, Site];
let browser: Awaited<ReturnType<typeof launch>>;

/** A page of the site, with a device that does or does not verify its user. */
async function openTabWithDevice(isUserVerified: boolean): Promise<Visit> {
  const tab = await visit(browser, 'desktop', 'http://localhost:');
  const cdp = await tab.context.newCDPSession(tab.page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: isUserVerified ? 'internal' : 'usb',
      hasResidentKey: isUserVerified,
      hasUserVerification: isUserVerified,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
  await tab.page.goto(sites[0].origin);
  return tab;
}

const callInPage = <T>({ page }: Visit, name: 'register' | 'prove', input: object): Promise<T> =>
  page.evaluate(`${name}(${JSON.stringify(input)})`) as Promise<T>;

/** Registers a passkey of the page's device, signed by an e-mail session of the wallet. */
async function register(tab: Visit, ceremony: object) {
  const { accountId } = await fixture.createWalletCustomer();
  const session = await fixture.openEmailSession(accountId);
  const challenge = base64url(`challenge for ${accountId}`);
  const attestation = await callInPage<{ credentialId: string; transports: string[] }>(
    tab,
    'register',
    { challenge, ...ceremony },
  );
  const body = { type: 'PASSKEY', accountId, nickname: 'Chromium', challenge, attestation };
  const addedCredential = ok(
    await fixture.callSigned('POST', '/auth/credentials', body, session),
    201,
  );
  expect(addedCredential.credentialId).toBe(attestation.credentialId);
  return { addedCredential, attestation };
}

/** Proves possession of a passkey in the current page. */
async function prove(
  tab: Visit,
  { id, credentialId }: { id: string; credentialId: string },
  options: { clientPublicKey: string; userVerification: string },
) {
  const { clientPublicKey, userVerification } = options;
  const path = `/auth/credentials/${id}`;
  const challengeReply = ok(
    await fixture.call('POST', `${path}/challenge`, { clientPublicKey }),
    200,
  );
  const input = { challenge: challengeReply.challenge, credentialId, userVerification };
  const assertion = await callInPage<object>(tab, 'prove', input);
  const body = { type: 'PASSKEY', assertion };
  return fixture.call('POST', `${path}/verify`, body, { 'request-id': challengeReply.requestId });
}

describe.runIf(browserPath)('a passkey of a browser', () => {
  beforeAll(async () => {
    fixture = walletFixture(app);
    sites = [await openSite(), await openSite()];
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    for (const { server } of sites ?? []) server.close();
  });

  it.each([
    { isUserVerified: true, userVerification: 'required', attestation: 'none' },
    { isUserVerified: false, userVerification: 'discouraged', attestation: 'none' },
    { isUserVerified: false, userVerification: 'discouraged', attestation: 'direct' },
  ])(
    'opens a session: user verification $userVerification, attestation $attestation',
    async ({ isUserVerified, userVerification, attestation }) => {
      const tab = await openTabWithDevice(isUserVerified);
      const { addedCredential } = await register(tab, { attestation, userVerification });
      const keys = generateKeys();
      const request = { clientPublicKey: keys.uncompressedKey, userVerification };
      const session = ok(await prove(tab, addedCredential, request), 200);
      expect(session).toMatchObject({ type: 'PASSKEY', nickname: 'Chromium' });

      const signer = openSessionKey(session.encryptedSessionSigningKey, keys.privateKey);
      const path = `/auth/sessions/${session.id}`;
      expect((await fixture.callSigned('DELETE', path, undefined, signer)).status).toBe(204);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    TIMEOUT_MS,
  );

  it(
    'is rejected from another origin, although the browser permits it there',
    async () => {
      const tab = await openTabWithDevice(true);
      const userVerification = 'preferred';
      const { addedCredential } = await register(tab, { attestation: 'none', userVerification });
      await tab.page.goto(sites[1].origin);
      const request = { clientPublicKey: generateKeys().publicKey, userVerification };
      expect(await prove(tab, addedCredential, request)).toMatchObject({
        status: 401,
        body: {
          code: 'UNAUTHORIZED',
          reason: 'The assertion comes from an origin that is not allowed.',
        },
      });
      await tab.page.goto(sites[0].origin);
      expect((await prove(tab, addedCredential, request)).status).toBe(200);
      await tab.close();
    },
    TIMEOUT_MS,
  );
});
