// The fixed wallet signature of the sandbox, on every operation that requires a signature. It is
// accepted with the correct Request-Id even without an open session. It is rejected with another
// Request-Id and in production.
import { describe, expect, it } from 'vitest';
import { agentFixture } from '../kit/agents/agents.ts';
import { createExternalAccount, fundAccount, ok, quoteBody } from '../kit/app/fixtures.ts';
import type { ApiResponse, TestPlatform } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import { delegatedFixture } from '../kit/cards/delegated-cards.ts';
import { document } from '../kit/http/requests.ts';
import {
  encryptOtp,
  generateKeys,
  passkeyBody,
  walletFixture,
} from '../kit/wallets/embedded-wallets.ts';

const MINUTE = 60_000;
const SIGNATURE_HEADER = { 'service-wallet-signature': 'sandbox-valid-signature' };
/** Error codes for the Request-Id of another request. */
const OTHER_REQUEST = /^(UNAUTHORIZED|WALLET_SIGNATURE_BODY_MISMATCH)$/;
const UNKNOWN_REQUEST_ID = 'Request:019b0000-0000-7000-8000-000000000000';

const app = testApp();

type Send = (headers?: Record<string, string>) => Promise<ApiResponse>;
interface Case {
  /**
   * Creates the resources of the operation. No session remains open, except one that the operation
   * changes.
   */
  prepare(platform: TestPlatform): Promise<Send>;
  /** Status of the last reply. */
  finalStatus: number;
  /** Number of signed requests. Default: 1. */
  signedRequests?: number;
  /**
   * Whether the operation can be prepared in production, which has no sandbox payments or cards.
   */
  production?: true;
}

const sender =
  (platform: TestPlatform, method: string, path: string, body?: unknown): Send =>
  (headers) =>
    app.call(method, path, body, { platform, ...(headers ? { headers } : {}) });

const createWallet = (platform: TestPlatform) =>
  walletFixture(app, { platform }).createWalletCustomer();

/** Adds a second credential with the fixed signature. */
async function addSecondCredential(platform: TestPlatform, accountId: string) {
  const add = sender(platform, 'POST', '/auth/credentials', passkeyBody(accountId));
  const { requestId } = ok(await add(), 202);
  return ok(await add({ ...SIGNATURE_HEADER, 'request-id': requestId }), 201);
}

async function prepareOtpVerification(platform: TestPlatform): Promise<Send> {
  const { credential } = await createWallet(platform);
  const bundle = await walletFixture(app, { platform }).requestOtpBundle(credential.id);
  const encryptedOtpBundle = await encryptOtp('000000', bundle, generateKeys().publicKey);
  const path = `/auth/credentials/${credential.id}/verify`;
  return sender(platform, 'POST', path, { type: 'EMAIL_OTP', encryptedOtpBundle });
}

/** Opens a session with the fixed signature. */
async function openSession(platform: TestPlatform): Promise<string> {
  const verify = await prepareOtpVerification(platform);
  const { requestId } = ok(await verify(), 202);
  return ok(await verify({ ...SIGNATURE_HEADER, 'request-id': requestId }), 200).id;
}

const TEN_USDB = 10_000_000;

async function createPayer(platform: TestPlatform) {
  const fundedWallet = await createWallet(platform);
  await fundAccount(app, fundedWallet.accountId, 10 * TEN_USDB, { platform });
  const target = await createExternalAccount(app, fundedWallet.customer.id, 'EUR', '000', {
    platform,
  });
  return { fundedWallet, body: quoteBody(fundedWallet.accountId, target.id, TEN_USDB) };
}

const CASES: Record<string, Case> = {
  createAuthCredential: {
    production: true,
    finalStatus: 201,
    prepare: async (platform) =>
      sender(
        platform,
        'POST',
        '/auth/credentials',
        passkeyBody((await createWallet(platform)).accountId),
      ),
  },
  revokeAuthCredential: {
    finalStatus: 204,
    async prepare(platform) {
      const { id } = await addSecondCredential(platform, (await createWallet(platform)).accountId);
      return sender(platform, 'DELETE', `/auth/credentials/${id}`);
    },
  },
  verifyAuthCredential: { finalStatus: 200, prepare: prepareOtpVerification },
  refreshAuthSession: {
    finalStatus: 201,
    async prepare(platform) {
      const clientPublicKey = generateKeys().uncompressedKey;
      return sender(platform, 'POST', `/auth/sessions/${await openSession(platform)}/refresh`, {
        clientPublicKey,
      });
    },
  },
  revokeAuthSession: {
    finalStatus: 204,
    prepare: async (platform) =>
      sender(platform, 'DELETE', `/auth/sessions/${await openSession(platform)}`),
  },
  updateInternalAccount: {
    production: true,
    finalStatus: 200,
    async prepare(platform) {
      const path = `/internal-accounts/${(await createWallet(platform)).accountId}`;
      return sender(platform, 'PATCH', path, { privateEnabled: true });
    },
  },
  exportInternalAccount: {
    production: true,
    finalStatus: 200,
    async prepare(platform) {
      const path = `/internal-accounts/${(await createWallet(platform)).accountId}/export`;
      return sender(platform, 'POST', path, { clientPublicKey: generateKeys().uncompressedKey });
    },
  },
  updateCustomerById: {
    production: true,
    finalStatus: 200,
    async prepare(platform) {
      const { customer } = await createWallet(platform);
      const email = `new-${customer.id.slice(-12)}@example.com`;
      const change = { customerType: 'INDIVIDUAL', email };
      return sender(platform, 'PATCH', `/customers/${customer.id}`, change);
    },
  },
  executeQuote: {
    finalStatus: 200,
    async prepare(platform) {
      const { body } = await createPayer(platform);
      const { id } = ok(await app.call('POST', '/quotes', body, { platform }), 201);
      return sender(platform, 'POST', `/quotes/${id}/execute`);
    },
  },
  createDelegatedKey: {
    finalStatus: 201,
    signedRequests: 2,
    async prepare(platform) {
      const fixture = delegatedFixture(app, { platform });
      const fundedWallet = await fixture.wallets.createWalletCustomer();
      const card = await fixture.cards.createCard(fundedWallet);
      const body = fixture.keyBody({ accountId: fundedWallet.accountId, card });
      return sender(platform, 'POST', '/auth/delegated-keys', body);
    },
  },
};

const signedOperationIds = Object.values(document.paths)
  .flatMap((item) => Object.values(item))
  .filter(({ parameters = [] }) =>
    (parameters as { name?: string }[]).some(({ name }) => /wallet-signature$/i.test(name ?? '')),
  )
  .map(({ operationId }) => operationId as string)
  .sort();

describe('sandbox-valid-signature', () => {
  it('has a case in this file for every signed operation of the API', () => {
    // The last test of this file covers agentExecuteQuote, which needs no Request-Id.
    expect([...Object.keys(CASES), 'agentExecuteQuote'].sort()).toEqual(signedOperationIds);
    const operationIds = app.operations.flatMap(({ contract }) =>
      contract.signedRetry ? [contract.operationId] : [],
    );
    expect(operationIds.sort()).toEqual(signedOperationIds);
  });

  it.each(Object.entries(CASES))(
    'completes %s without an open session',
    async (operationId, { prepare, finalStatus, signedRequests = 1 }) => {
      const send = await prepare(app.platform);
      const firstReply = ok(await send(), 202);
      const unknownReply = await send({ ...SIGNATURE_HEADER, 'request-id': UNKNOWN_REQUEST_ID });
      expect([unknownReply.status, unknownReply.body.code]).toEqual([401, 'UNAUTHORIZED']);
      let { requestId } = firstReply;
      for (let count = 1; count < signedRequests; count++) {
        requestId = ok(await send({ ...SIGNATURE_HEADER, 'request-id': requestId }), 202).requestId;
      }
      const lastReply = await send({ ...SIGNATURE_HEADER, 'request-id': requestId });
      expect([operationId, lastReply.status, lastReply.body]).toEqual([
        operationId,
        finalStatus,
        lastReply.body,
      ]);
      const secondResponse = await send({
        ...SIGNATURE_HEADER,
        'request-id': firstReply.requestId,
      });
      expect(secondResponse.status).toBeGreaterThanOrEqual(400);
    },
  );

  it.each(Object.entries(CASES))(
    'is rejected for %s with the Request-Id of another wallet or platform',
    async (_, { prepare, finalStatus, signedRequests = 1 }) => {
      const send = await prepare(app.platform);
      const ownRequestId = ok(await send(), 202).requestId;
      for (const platform of [app.platform, app.other]) {
        const { requestId } = ok(await (await prepare(platform))(), 202);
        const { status, body } = await send({ ...SIGNATURE_HEADER, 'request-id': requestId });
        expect([status, body.code]).toEqual([
          ...[401, platform === app.other ? 'UNAUTHORIZED' : expect.stringMatching(OTHER_REQUEST)],
        ]);
      }
      let requestId = ownRequestId;
      for (let count = 1; count < signedRequests; count++) {
        requestId = ok(await send({ ...SIGNATURE_HEADER, 'request-id': requestId }), 202).requestId;
      }
      expect((await send({ ...SIGNATURE_HEADER, 'request-id': requestId })).status).toBe(
        finalStatus,
      );
    },
  );

  it.each(Object.entries(CASES))(
    'completes %s once for several requests with one Request-Id',
    async (_, { prepare, finalStatus, signedRequests = 1 }) => {
      const send = await prepare(app.platform);
      let { requestId } = ok(await send(), 202);
      for (let count = 1; count < signedRequests; count++) {
        requestId = ok(await send({ ...SIGNATURE_HEADER, 'request-id': requestId }), 202).requestId;
      }
      const headers = { ...SIGNATURE_HEADER, 'request-id': requestId };
      const responses = await Promise.all([send(headers), send(headers), send(headers)]);
      const [firstStatus, ...rejectedStatuses] = responses.map(({ status }) => status).sort();
      expect(firstStatus).toBe(finalStatus);
      for (const status of rejectedStatuses) expect(status).toBeGreaterThanOrEqual(400);
    },
  );

  it.each(Object.entries(CASES))(
    'is rejected for %s with an expired Request-Id',
    async (_, { prepare }) => {
      const send = await prepare(app.platform);
      const { requestId } = ok(await send(), 202);
      app.effects.set(app.effects.now() + 5 * MINUTE);
      const lateResponse = await send({ ...SIGNATURE_HEADER, 'request-id': requestId });
      // A quote expires together with the request for its signature.
      expect(lateResponse.status === 401 || lateResponse.body.code === 'QUOTE_EXPIRED').toBe(true);
    },
  );

  it.each(Object.entries(CASES).filter(([, { production }]) => production))(
    'is rejected for %s in production',
    async (_, { prepare }) => {
      const platform = app.production;
      // The first credential of a wallet needs no signature, so each case has an e-mail credential
      // already.
      const send = await prepare(platform);
      const { requestId } = ok(await send(), 202);
      const { status, body } = await send({ ...SIGNATURE_HEADER, 'request-id': requestId });
      expect([status, body.code]).toEqual([401, 'WALLET_SIGNATURE_MALFORMED']);
    },
  );

  it('completes agentExecuteQuote without an open session', async () => {
    const { fundedWallet, body } = await createPayer(app.platform);
    const agent = await agentFixture(app).connectAgent(fundedWallet.customer.id);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const path = `/agents/me/quotes/${quote.id}/execute`;
    const response = await agent.call('POST', path, undefined, { headers: SIGNATURE_HEADER });
    expect(ok(response, 200).status).toBe('APPROVED');
  });
});
