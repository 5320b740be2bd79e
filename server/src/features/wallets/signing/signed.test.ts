// Signed retries as clients use them, with the order of the checks of the second request in the
// sandbox and in production. A signature authorizes one operation once.
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  generateKeys,
  signedHeaders,
  stampWith,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  createMarksTable,
  insertMark,
  type SignedTestOperation,
  signedTestOperation,
} from '../../../../test/kit/wallets/signed-operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { walletOf } from '../accounts/wallet.ts';
import { walletAuthorizations } from '../store.ts';

const MINUTE = 60_000;
const SANDBOX_SIGNATURE = 'sandbox-valid-signature';

const app = testApp();
beforeAll(async () => {
  await createMarksTable(app);
});

type SignedReply = { status: number; body: unknown };
const statusAndCodeOf = ({ status, body }: SignedReply) => [
  status,
  (body as { code?: string })?.code,
];
const reasonOf = ({ body }: SignedReply) => (body as { reason: string }).reason;
const unauthorizedWith = (code: string) => [401, code];

describe('a first request', () => {
  it('returns the exact text to sign, the request ID and the expiry', async () => {
    const operation = await signedTestOperation(app);
    const response = await operation.call();
    const { payloadToSign, requestId, expiresAt } = response.body as Record<string, string>;
    expect(response.status).toBe(202);
    expect(JSON.parse(payloadToSign as string)).toEqual({
      organizationId: operation.wallet.organization_id,
      parameters: { requestId, resourceId: operation.resourceId },
      timestampMs: String(app.effects.now()),
      type: 'ACTIVITY_TYPE_TEST',
    });
    expect(Date.parse(expiresAt as string)).toBe(app.effects.now() + 5 * MINUTE);
    const row = await operation.readRequest({ 'request-id': requestId as string });
    expect(JSON.stringify(row)).not.toContain('ACTIVITY_TYPE_TEST');
  });

  it('has no signature headers or empty ones, and receives a new request ID each time', async () => {
    const operation = await signedTestOperation(app);
    const emptyHeaders = { 'service-wallet-signature': '', 'request-id': '' };
    const ids = [
      await operation.requestSignature(),
      await operation.requestSignature(),
      await operation.requestSignature({ headers: emptyHeaders }),
    ];
    expect(new Set(ids.map(({ requestId }) => requestId)).size).toBe(3);
    expect(await operation.countMarks()).toBe(0);
  });
});

describe.each(['production', 'sandbox'] as const)('a second request in %s', (environment) => {
  const INVALID_SIGNATURE_CODE =
    environment === 'production' ? 'WALLET_SIGNATURE_INVALID' : 'UNAUTHORIZED';
  let platform: TestPlatform;
  let operation: SignedTestOperation;
  let keys: Awaited<ReturnType<SignedTestOperation['openSession']>>;
  beforeAll(async () => {
    platform = environment === 'production' ? app.production : app.platform;
    operation = await signedTestOperation(app, { platform });
    keys = await operation.openSession();
  });

  it('is executed once', async () => {
    const headers = await operation.signRequest(keys);
    expect(await operation.call({ headers })).toMatchObject({ status: 201 });
    const secondResponse = await operation.call({ headers });
    expect(statusAndCodeOf(secondResponse)).toEqual(unauthorizedWith('UNAUTHORIZED'));
    expect(reasonOf(secondResponse)).toMatch(/already used/);
    expect(await operation.countMarks()).toBe(1);
  });

  // Each case also violates all later checks, so the order is tested.
  const REJECTED_HEADERS: [
    string,
    (validHeaders: Record<string, string>) => Record<string, string>,
    string,
  ][] = [
    ['a Request-Id alone', () => ({ 'request-id': 'junk' }), 'WALLET_SIGNATURE_MISSING'],
    [
      'a Request-Id and an empty signature',
      () => ({ 'request-id': 'junk', 'service-wallet-signature': '' }),
      'WALLET_SIGNATURE_MISSING',
    ],
    ['a signature alone', () => ({ 'service-wallet-signature': '%' }), 'REQUEST_ID_MISSING'],
    [
      'a signature and an empty Request-Id',
      () => ({ 'service-wallet-signature': '%', 'request-id': '' }),
      'REQUEST_ID_MISSING',
    ],
    [
      'a signature that cannot be read',
      () => ({ 'service-wallet-signature': 'e30', 'request-id': 'junk' }),
      'WALLET_SIGNATURE_MALFORMED',
    ],
    [
      'a Request-Id that was never issued',
      (validHeaders) => ({ ...validHeaders, 'request-id': 'junk' }),
      'UNAUTHORIZED',
    ],
  ];
  it.each(REJECTED_HEADERS)('rejects %s', async (_, change, code) => {
    const otherKeyHeaders = await operation.signRequest(generateKeys());
    const body = { accountId: operation.accountId, note: 'another' };
    expect(
      statusAndCodeOf(await operation.call({ headers: change(otherKeyHeaders), body })),
    ).toEqual(unauthorizedWith(code));
  });

  it('rejects a request ID of another resource, operation or platform before the body', async () => {
    const headers = await operation.signRequest(generateKeys());
    const body = { accountId: operation.accountId, note: 'another' };
    const otherResourceResponse = await operation.call({ headers, body, of: 'other-resource' });
    const otherOperation = await signedTestOperation(app, {
      platform,
      operationId: 'markOther',
    });
    const otherOperationResponse = await operation.call({
      headers,
      body,
      operation: otherOperation.operation,
    });
    for (const response of [otherResourceResponse, otherOperationResponse]) {
      expect(statusAndCodeOf(response)).toEqual(unauthorizedWith('UNAUTHORIZED'));
      expect(reasonOf(response)).toMatch(/another request/);
    }
    const otherPlatformResponse = await operation.call({ headers, body, platform: app.other });
    expect(statusAndCodeOf(otherPlatformResponse)).toEqual(unauthorizedWith('UNAUTHORIZED'));
    expect(reasonOf(otherPlatformResponse)).toMatch(/is unknown/);
  });

  it('rejects another body before the signature', async () => {
    const body = { accountId: operation.accountId, note: { a: 1, b: [1, 2] } };
    const headers = await operation.signRequest(generateKeys(), { body });
    for (const note of [undefined, null, { a: 2, b: [1, 2] }, { a: 1, b: [2, 1] }, { a: 1 }]) {
      const response = await operation.call({ headers, body: { ...body, note } });
      expect(statusAndCodeOf(response)).toEqual(unauthorizedWith('WALLET_SIGNATURE_BODY_MISMATCH'));
    }
    expect((await operation.readRequest(headers)).wrong).toBe(0);
  });

  it('accepts the same body with different JSON formatting', async () => {
    const body = { a: 1, b: [1, 2], c: 'é' };
    const headers = await operation.signRequest(keys, {
      body: { accountId: operation.accountId, note: body },
    });
    const text = `{ "note": {"c":"\\u00e9", "b":[1.0, 2],\n "a":1e0}, "accountId":"${operation.accountId}"}`;
    expect(await operation.call({ headers, body: JSON.parse(text) })).toMatchObject({
      status: 201,
    });
  });

  it('rejects keys that may not sign', async () => {
    const endedSession = await operation.openSession();
    await endedSession.end();
    const otherWalletSession = await (await signedTestOperation(app, { platform })).openSession();
    for (const [name, signingKeys] of Object.entries({
      unknownKey: generateKeys(),
      endedSession,
      otherWalletSession,
    })) {
      const response = await operation.call({ headers: await operation.signRequest(signingKeys) });
      expect([name, ...statusAndCodeOf(response)]).toEqual([
        name,
        ...unauthorizedWith(INVALID_SIGNATURE_CODE),
      ]);
    }
  });

  it('rejects a signature of another text', async () => {
    const headers = await operation.signRequest(keys);
    const { payloadToSign } = await operation.requestSignature();
    const stamp = await stampWith(keys.privateKey, payloadToSign);
    const response = await operation.call({
      headers: { ...headers, 'service-wallet-signature': stamp },
    });
    expect(statusAndCodeOf(response)).toEqual(unauthorizedWith(INVALID_SIGNATURE_CODE));
    expect(await operation.call({ headers })).toMatchObject({ status: 201 });
  });

  it('rejects expired requests', async () => {
    const headers = await operation.signRequest(await operation.openSession());
    const start = app.effects.now();
    app.effects.set(start + 5 * MINUTE - 1);
    const otherSignedHeaders = await operation.signRequest(keys);
    expect(await operation.call({ headers })).toMatchObject({ status: 201 });
    app.effects.set(start + 10 * MINUTE - 1);
    const lateResponse = await operation.call({ headers: otherSignedHeaders });
    expect(statusAndCodeOf(lateResponse)).toEqual(unauthorizedWith('UNAUTHORIZED'));
    expect(reasonOf(lateResponse)).toMatch(/expired/);
    app.effects.set(start);
  });
});

describe('the fixed signature of the sandbox', () => {
  it('is accepted with an unexpired Request-Id only', async () => {
    const operation = await signedTestOperation(app);
    await operation.openSession();
    const stamp = { 'service-wallet-signature': SANDBOX_SIGNATURE };
    const { requestId } = await operation.requestSignature();
    const headers = { ...stamp, 'request-id': requestId };
    expect(statusAndCodeOf(await operation.call({ headers: stamp }))).toEqual(
      unauthorizedWith('REQUEST_ID_MISSING'),
    );
    const unknownHeaders = { ...stamp, 'request-id': 'Request:0' };
    expect(statusAndCodeOf(await operation.call({ headers: unknownHeaders }))).toEqual(
      unauthorizedWith('UNAUTHORIZED'),
    );
    const body = { accountId: operation.accountId, note: 1 };
    const changedReply = await operation.call({ headers, body });
    expect(statusAndCodeOf(changedReply)).toEqual(
      unauthorizedWith('WALLET_SIGNATURE_BODY_MISMATCH'),
    );
    expect(await operation.call({ headers })).toMatchObject({ status: 201 });
    expect(statusAndCodeOf(await operation.call({ headers }))).toEqual(
      unauthorizedWith('UNAUTHORIZED'),
    );
  });

  it('needs no session, and is recorded under an active session if one exists', async () => {
    const operation = await signedTestOperation(app);
    const readSessionIds = async () => {
      const rows = await app.runtime.db.find(walletAuthorizations, {
        account_id: operation.accountId,
      });
      return new Set(rows.map((row) => row.session_id));
    };
    const send = async () => {
      const { requestId } = await operation.requestSignature();
      const headers = { 'service-wallet-signature': SANDBOX_SIGNATURE, 'request-id': requestId };
      expect(await operation.call({ headers })).toMatchObject({ status: 201 });
    };
    await send();
    const { id } = await operation.openSession();
    await send();
    expect(await readSessionIds()).toEqual(new Set([null, id]));
    expect(await operation.countMarks()).toBe(2);
  });

  it('is invalid in production', async () => {
    const operation = await signedTestOperation(app, { platform: app.production });
    await operation.openSession();
    const { requestId } = await operation.requestSignature();
    const headers = { 'service-wallet-signature': SANDBOX_SIGNATURE, 'request-id': requestId };
    expect(statusAndCodeOf(await operation.call({ headers }))).toEqual(
      unauthorizedWith('WALLET_SIGNATURE_MALFORMED'),
    );
  });
});

describe('allowed signers', () => {
  it('can be a single session, or all sessions except those of one credential', async () => {
    const operation = await signedTestOperation(app);
    const [ownSession, otherSession] = [
      await operation.openSession(),
      await operation.openSession({ credential: 'Other' }),
    ];
    const callWithSigner = async (signer: object, keys: typeof ownSession) => {
      const begin = async () => ({
        signatureRequest: {
          wallet: await app.operate((ctx) => walletOf(ctx, operation.accountId)),
          payload: { type: 'TEST', parameters: {} },
          signer: { by: 'session' as const, accounts: [operation.accountId], ...signer },
        },
      });
      const testOperation = await signedTestOperation(app, { steps: { begin } });
      const response = await testOperation.call({ headers: await testOperation.signRequest(keys) });
      return response.status === 401 ? reasonOf(response) : response.status;
    };
    expect(await callWithSigner({ only: ownSession.id }, ownSession)).toBe(201);
    expect(await callWithSigner({ only: ownSession.id }, otherSession)).toMatch(
      /because the session that is refreshed must sign/,
    );
    expect(await callWithSigner({ except: 'Other' }, ownSession)).toBe(201);
    expect(await callWithSigner({ except: 'Other' }, otherSession)).toMatch(
      /because a session of another credential /,
    );
    const key = generateKeys();
    const keyAuthorizer = { by: 'key', publicKey: key.publicKey };
    expect(await callWithSigner(keyAuthorizer, key as never)).toBe(201);
    expect(await callWithSigner(keyAuthorizer, ownSession)).toMatch(/with a different key/);
    expect(await callWithSigner({ by: 'nobody' }, ownSession)).toMatch(
      /belongs to another request/,
    );
  });

  it('exclude a session that is revoked concurrently', async () => {
    const operation = await signedTestOperation(app);
    const keys = await operation.openSession();
    let attempts = 0;
    const testOperation = await signedTestOperation(app, {
      signer: { accounts: [operation.accountId] },
      steps: {
        async perform(ctx, { params }) {
          if (++attempts === 1) await keys.end();
          insertMark(ctx, params.id);
          return { status: 201, body: {} };
        },
      },
    });
    expect(
      statusAndCodeOf(
        await testOperation.call({ headers: await testOperation.signRequest(keys) }),
      )[0],
    ).toBe(401);
    expect([attempts, await testOperation.countMarks()]).toEqual([1, 0]);
  });
});

describe('limits', () => {
  it('drop a request after five invalid signatures, counted across processes', async () => {
    const operation = await signedTestOperation(app);
    const [keys, secondProcess] = [await operation.openSession(), openSecondProcess(app)];
    const signableRequest = await operation.requestSignature();
    const rejectedResponses = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        signedHeaders(signableRequest, generateKeys()).then((headers) =>
          operation.call({ headers, runtime: index % 2 ? secondProcess : app.runtime }),
        ),
      ),
    );
    expect(rejectedResponses.map(statusAndCodeOf)).toEqual(
      Array(4).fill(unauthorizedWith('UNAUTHORIZED')),
    );
    const validSignedHeaders = await signedHeaders(signableRequest, keys);
    expect(await operation.readRequest(validSignedHeaders)).toMatchObject({
      wrong: 4,
      status: 'PENDING',
    });
    await operation.call({ headers: await signedHeaders(signableRequest, generateKeys()) });
    expect(await operation.readRequest(validSignedHeaders)).toMatchObject({
      wrong: 5,
      status: 'DROPPED',
    });
    const lateResponse = await operation.call({ headers: validSignedHeaders });
    expect(statusAndCodeOf(lateResponse)).toEqual(unauthorizedWith('UNAUTHORIZED'));
    expect(reasonOf(lateResponse)).toMatch(/is invalid after too many newer requests/);
    expect(await operation.countMarks()).toBe(0);
    await secondProcess.close();
  });

  it('keep the ten latest requests of a wallet', async () => {
    const operation = await signedTestOperation(app);
    const keys = await operation.openSession();
    const allHeaders: Record<string, string>[] = [];
    for (let index = 0; index < 12; index++) {
      allHeaders.push(await operation.signRequest(keys));
      app.effects.set(app.effects.now() + 1);
    }
    const rows = await Promise.all(allHeaders.map(operation.readRequest));
    expect(rows.map(({ status }) => status)).toEqual([
      ...Array(2).fill('DROPPED'),
      ...Array(10).fill('PENDING'),
    ]);
    expect(statusAndCodeOf(await operation.call({ headers: allHeaders[1] ?? {} }))).toEqual(
      unauthorizedWith('UNAUTHORIZED'),
    );
    expect(await operation.call({ headers: allHeaders[2] ?? {} })).toMatchObject({ status: 201 });
    app.effects.set(app.effects.now() + 6 * MINUTE);
    await operation.requestSignature();
    const laterRows = await Promise.all(allHeaders.map(operation.readRequest));
    expect(laterRows.filter(({ status }) => status === 'PENDING')).toEqual([]);
  });
});

describe('one signature', () => {
  it('takes effect once if two requests send it concurrently', async () => {
    const operation = await signedTestOperation(app);
    const [keys, secondProcess] = [await operation.openSession(), openSecondProcess(app)];
    const headers = await operation.signRequest(keys);
    const responses = await Promise.all([
      operation.call({ headers }),
      operation.call({ headers, runtime: secondProcess }),
      operation.call({ headers }),
    ]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 401, 401]);
    expect(await operation.countMarks()).toBe(1);
    await secondProcess.close();
  });

  it('can be sent again after the operation has failed', async () => {
    let isBroken = true;
    const operation = await signedTestOperation(app, {
      steps: {
        async perform(ctx, { params }) {
          insertMark(ctx, params.id);
          if (isBroken) throw new Fault('CONFLICT', 'The operation is not possible now.');
          return { status: 201, body: {} };
        },
      },
    });
    const headers = await operation.signRequest(await operation.openSession());
    expect(statusAndCodeOf(await operation.call({ headers }))).toEqual([409, 'CONFLICT']);
    const accountFilter = { account_id: operation.accountId };
    expect(await app.runtime.db.find(walletAuthorizations, accountFilter)).toEqual([]);
    isBroken = false;
    expect(await operation.call({ headers })).toMatchObject({ status: 201 });
    expect(await operation.countMarks()).toBe(1);
  });

  it('is recorded with its signer', async () => {
    const operation = await signedTestOperation(app);
    const keys = await operation.openSession();
    const headers = await operation.signRequest(keys);
    await operation.call({ headers });
    const authorizations = await app.runtime.db.find(walletAuthorizations, {
      account_id: operation.accountId,
    });
    expect(authorizations).toMatchObject([
      {
        operation: 'markThing',
        subject: operation.resourceId,
        session_id: keys.id,
        public_key: keys.publicKey,
        stamp: headers['service-wallet-signature'],
      },
    ]);
    expect(authorizations[0]?.payload).not.toContain('ACTIVITY');
  });

  it('can lead to another challenge with its own request ID', async () => {
    let rounds = 0;
    const operation: SignedTestOperation = await signedTestOperation(app, {
      steps: {
        async perform(ctx, { params, body }) {
          if (++rounds > 2) {
            insertMark(ctx, params.id);
            return { status: 201, body: {} };
          }
          return {
            signatureRequest: {
              wallet: await walletOf(ctx, body.accountId),
              payload: { type: 'TEST', parameters: { round: rounds } },
              signer: { by: 'session', accounts: [body.accountId] },
            },
          };
        },
      },
    });
    const keys = await operation.openSession();
    // The request of this retry is the oldest of ten pending requests.
    const firstSignedHeaders = await operation.signRequest(keys);
    for (let index = 0; index < 9; index++) {
      app.effects.set(app.effects.now() + 1);
      await operation.requestSignature();
    }
    const secondReply = await operation.call({ headers: firstSignedHeaders });
    expect(secondReply.status).toBe(202);
    const challengeBody = secondReply.body as { payloadToSign: string; requestId: string };
    expect(challengeBody.requestId).not.toBe(firstSignedHeaders['request-id']);
    expect(statusAndCodeOf(await operation.call({ headers: firstSignedHeaders }))).toEqual(
      unauthorizedWith('UNAUTHORIZED'),
    );
    const thirdReply = await operation.call({ headers: await signedHeaders(challengeBody, keys) });
    expect([thirdReply.status, await operation.countMarks()]).toEqual([202, 0]);
    const lastBody = thirdReply.body as typeof challengeBody;
    const response = await operation.call({ headers: await signedHeaders(lastBody, keys) });
    expect([response.status, await operation.countMarks()]).toEqual([201, 1]);
  });
});
