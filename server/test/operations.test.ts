// What holds for every operation alike, made from the contracts: a new operation is covered the moment it
// exists. Nobody without credentials gets anything, nobody without the permission, nobody sees another
// platform's things, and a fault of ours says nothing about us.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namingFor } from '../src/catalog/naming.ts';
import { publishedDocument } from '../src/document.ts';
import { imports } from '../src/features/imports/index.ts';
import { systemCaller } from '../src/features/platform/index.ts';
import { createServer } from '../src/http/server.ts';
import type { Contract } from '../src/kernel/operation.ts';
import { createLog } from '../src/runtime/log.ts';
import { createMetrics } from '../src/runtime/metrics.ts';
import {
  accountInfos,
  customer,
  externalAccount,
  fund,
  internalAccount,
  ok,
  quoteBody,
} from './fixtures.ts';
import { startApp, type TestApp, type TestPlatform, watcher, wireOf } from './harness.ts';
import { ownerBody, ownerDesk } from './owners.ts';
import { paperForm, pdfFile } from './papers.ts';
import { sample } from './sample.ts';
import { drawKeys, walletDesk } from './wallet-desk.ts';

type Json = Record<string, unknown>;

/** A UMA address is public, and whoever was told the code of an invitation may use it. */
const OPEN_TO_ALL = ['lookupUma', 'getInvitation', 'claimInvitation', 'cancelInvitation'];

const document = publishedDocument() as { paths: Record<string, Record<string, Json>> };

let app: TestApp;
/** A server with little patience. */
let limited: TestApp;
let foreign: Record<string, string>;

/** Bodies that the plain sample cannot guess. */
const BODIES: Record<string, () => Json> = {
  createTransferOut: () => ({
    source: { accountId: 'x' },
    destination: { accountId: 'y' },
    amount: 1,
  }),
  createTransferIn: () => ({
    source: { accountId: 'x' },
    destination: { accountId: 'y' },
    amount: 1,
  }),
  sandboxReceive: () => ({
    senderUmaAddress: '$a@b',
    customerId: 'x',
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 1,
  }),
  updateCustomerById: () => ({ customerType: 'INDIVIDUAL' }),
  createBeneficialOwner: () => ownerBody('x'),
  uploadDocument: () => ({ documentHolder: 'x', documentType: 'OTHER', country: 'US' }),
  replaceDocument: () => ({ documentType: 'OTHER', country: 'US' }),
  updateBeneficialOwner: () => ({ ownershipPercentage: 5 }),
  createCustomerExternalAccount: () => ({
    currency: 'USD',
    accountInfo: accountInfos.USD?.('000'),
  }),
  estimateCryptoWithdrawalFee: () => ({
    internalAccountId: 'x',
    currency: 'USDC',
    cryptoNetwork: 'BASE',
    amount: 1,
    destinationAddress: `0x${'1'.repeat(40)}`,
  }),
  updateInternalAccount: () => ({ privateEnabled: true }),
  exportInternalAccount: () => ({ clientPublicKey: drawKeys().wholeKey }),
  refreshAuthSession: () => ({ clientPublicKey: drawKeys().publicKey }),
  createPlatformExternalAccount: () => ({
    currency: 'USD',
    accountInfo: accountInfos.USD?.('000'),
  }),
};

function sampleOf(contract: Contract): unknown {
  const item = document.paths[contract.path]?.[contract.method.toLowerCase()] as Json;
  const request = item.requestBody as { content: Record<string, { schema: Json }> };
  const [content] = Object.values(request.content);
  return sample(content?.schema as Json, document as unknown as Json);
}

function bodyOf(contract: Contract): unknown {
  if (!contract.body) return undefined;
  const fields = BODIES[contract.operationId]?.() ?? sampleOf(contract);
  if (!contract.upload) return fields;
  const { file: _, ...texts } = fields as Record<string, string>;
  return paperForm(texts, { bytes: pdfFile() });
}

/** Queries that must not be missing. */
const QUERIES: Record<string, string> = {
  listBeneficialOwners: '?customerId=x',
  getCustomerKycLink: '?platformCustomerId=x',
  listAuthCredentials: '?accountId=x',
  listAuthSessions: '?accountId=x',
};

/** What `{id}` is the id of, where it is not an account. */
const IDS: Record<string, string> = {
  revokeAuthCredential: 'credentialId',
  challengeAuthCredential: 'credentialId',
  verifyAuthCredential: 'credentialId',
  refreshAuthSession: 'sessionId',
  revokeAuthSession: 'sessionId',
};

const fill = (contract: Contract, value: (name: string) => string) =>
  contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    value(name === 'id' ? (IDS[contract.operationId] ?? name) : name),
  ) + (QUERIES[contract.operationId] ?? '');

/** An import of customers as it stands when its file has come. */
async function importOf(as: TestPlatform): Promise<string> {
  const rest = { columns: [], problem: null, total: 1, next_byte: 0n, successful: 0, failed: 0 };
  const row = await app.operate(async (ctx) => {
    const id = ctx.id('BulkCustomerImportJob');
    const of = { id, platform_id: as.id, status: 'PENDING', created_at: ctx.now } as const;
    return ctx.insert(imports, { ...of, ...rest });
  }, as);
  return row.id;
}

async function documentOf(documentHolder: string, as: TestPlatform): Promise<string> {
  const form = paperForm(
    { documentHolder, documentType: 'OTHER', country: 'US' },
    { bytes: pdfFile() },
  );
  return ok(await app.call('POST', '/documents', form, { as }), 201).id;
}

/** One of each resource, owned by `as`, by the name of the path parameter that names it. */
async function oneOfEach(as: TestPlatform): Promise<Record<string, string>> {
  const options = { as };
  const person = await customer(app, options);
  const account = await internalAccount(app, person.id, 'USD', options);
  await fund(app, account.id, 1_000_00, options);
  const outside = await externalAccount(app, person.id, 'EUR', '000', options);
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, outside.id, 100_00), options),
    201,
  );
  const someone = await customer(app, options, { fullName: 'Ada Lovelace 003' });
  const submission = { customerId: someone.id };
  const verification = ok(await app.call('POST', '/verifications', submission, options), 200);
  const token = ok(
    await app.call('POST', '/tokens', { name: 'theirs', permissions: ['VIEW'] }, options),
    201,
  );
  const wallets = walletDesk(app, { as });
  const { accountId: walletId, credential } = await wallets.customerWithWallet();
  const { session } = await wallets.emailSession(walletId);
  return {
    customerId: person.id,
    receiverUmaAddress: person.umaAddress,
    accountId: account.id,
    id: account.id,
    credentialId: credential.id,
    sessionId: session.id,
    externalAccountId: outside.id,
    quoteId: quote.id,
    transactionId: quote.transactionId,
    tokenId: token.id,
    beneficialOwnerId: (await ownerDesk(app).made({}, {}, as)).id,
    jobId: await importOf(as),
    verificationId: verification.id,
    documentId: await documentOf(person.id, as),
  };
}

beforeAll(async () => {
  app = await startApp();
  limited = await startApp({ rateLimits: { requests: 2, costly: 1, refused: 0 } });
  foreign = await oneOfEach(app.other);
});
afterAll(() => Promise.all([app.close(), limited.close()]));

// Read from the published document so that the list is there before any server is.
const contracts = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, each]) => ({
    path,
    method: method.toUpperCase(),
    operationId: each.operationId as string,
  })),
);

const contractOf = (operationId: string): Contract => {
  const found = app.operations.find((each) => each.contract.operationId === operationId);
  if (!found) throw new Error(`${operationId} is published but not served`);
  return found.contract;
};

describe.each(contracts)('$operationId', ({ operationId, path }) => {
  it('wants credentials', async () => {
    const contract = contractOf(operationId);
    const target = fill(contract, (name) => foreign[name] ?? 'x');
    const wrong = { ...app.platform, clientSecret: 'wrong' };
    const answers = [
      await app.call(contract.method, target, bodyOf(contract), { as: null }),
      await app.call(contract.method, target, bodyOf(contract), { as: wrong }),
      await app.call(contract.method, target, bodyOf(contract), {
        as: null,
        headers: { authorization: 'Bearer abc' },
      }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(answer.body).toEqual(answers[0]?.body);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('wants its permission', async () => {
    const contract = contractOf(operationId);
    const others = (['VIEW', 'TRANSACT', 'MANAGE'] as const).filter(
      (p) => p !== contract.permission,
    );
    const token = await app.tokenWith(others);
    const target = fill(contract, (name) => foreign[name] ?? 'x');
    const answer = await app.call(contract.method, target, bodyOf(contract), { as: token });
    expect([answer.status, answer.body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('tells a token that asks too often when to come back', async () => {
    const contract = contractOf(operationId);
    const tight = limited.operations.find((each) => each.contract.operationId === operationId);
    const target = fill(contract, (name) => foreign[name] ?? 'x');
    const ask = () => limited.call(contract.method, target, bodyOf(contract));
    limited.world.set(limited.world.now() + 10_000);
    for (let spent = 0; spent < (tight?.contract.costly ? 2 : 4); spent++) {
      expect((await ask()).status).not.toBe(429);
    }
    const answer = await ask();
    expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.headers['ratelimit-remaining']).toBe('0');
  });

  // What is public or known by a code is shown to other platforms too; its own tests say how far.
  if (path.includes('{') && !OPEN_TO_ALL.includes(operationId)) {
    it("answers another platform's id like an unknown one", async () => {
      const contract = contractOf(operationId);
      const unknown = (name: string) => {
        const id = foreign[name];
        if (!id) throw new Error(`oneOfEach has no ${name}: add one for ${operationId}`);
        return id.replace(/[0-9a-f]{12}$/, '0123456789ab');
      };
      const ask = (value: (name: string) => string) =>
        app.call(contract.method, fill(contract, value), bodyOf(contract));
      const theirs = await ask((name) => foreign[name] as string);
      const random = await ask(unknown);
      const malformed = await ask(() => 'no-such-thing');
      expect(theirs.status).toBe(404);
      expect(theirs.body.code).toBe(contract.notFound);
      expect(theirs.body).toEqual(random.body);
      expect(theirs.body).toEqual(malformed.body);
      const encoded = await ask((name) => encodeURIComponent(foreign[name] as string));
      expect(encoded.body).toEqual(theirs.body);
    });

    it('answers an id with a NUL in it likewise, under a key too', async () => {
      const contract = contractOf(operationId);
      const target = fill(contract, () => '%00');
      for (const headers of [undefined, { 'idempotency-key': 'zero' }]) {
        const answer = await app.call(contract.method, target, bodyOf(contract), { headers });
        expect([answer.status, answer.body.code]).toEqual([404, contract.notFound]);
      }
    });
  }

  it('hides what went wrong inside', async () => {
    const contract = contractOf(operationId);
    let broken = false;
    const { runtime, files, operations, platform } = app;
    const lines: string[] = [];
    const server = createServer({
      files,
      runtime: {
        ...runtime,
        world: {
          ...runtime.world,
          now() {
            if (broken) throw new Error('the clock fell off the wall');
            return runtime.world.now();
          },
        },
      },
      operations,
      async authenticate() {
        broken = true;
        return systemCaller(platform.id, platform.environment);
      },
      naming: namingFor('Service'),
      log: createLog(runtime.world, 'error', (line) => lines.push(line)),
      metrics: createMetrics(),
      watch: watcher([]),
    });
    const body = bodyOf(contract);
    const wire = body === undefined ? undefined : await wireOf(body);
    const reply = await server.inject({
      method: contract.method,
      url: `/2025-10-13${fill(contract, (name) => foreign[name] ?? 'x')}`,
      ...(wire ? { payload: wire.payload, headers: { 'content-type': wire.type } } : {}),
    });
    await server.close();
    expect(reply.statusCode).toBe(500);
    expect(reply.json().code).toBe('INTERNAL_ERROR');
    expect(reply.body).not.toContain('clock');
    expect(lines.join('')).toContain('the clock fell off the wall');
    expect(lines.join('')).toContain(String(reply.headers['x-request-id']));
  });
});

describe('operations that judge half a request', () => {
  it('ask nobody outside, since what they do then is thrown away', () => {
    const judging = app.operations.filter(({ contract }) => contract.judges);
    expect(judging.length).toBeGreaterThan(4);
    expect(judging.filter(({ contract }) => contract.talks || contract.upload)).toEqual([]);
  });
});

describe('paths and methods', () => {
  it('answers an unknown path in JSON', async () => {
    const answer = await app.call('GET', '/nothing/here');
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('answers a wrong method in JSON and says which are right', async () => {
    const answer = await app.call('PUT', '/customers');
    expect([answer.status, answer.body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.allow).toContain('POST');
    expect((await app.call('GET', '/quotes')).status).toBe(405);
  });

  it('reads ids raw or percent-encoded', async () => {
    const person = await customer(app);
    const raw = await app.call('GET', `/customers/${person.id}`);
    const encoded = await app.call('GET', `/customers/${encodeURIComponent(person.id)}`);
    expect(raw.body).toEqual(encoded.body);
    expect(raw.status).toBe(200);
  });

  it('refuses a body that is not JSON, is too large, or is missing', async () => {
    const headers = { 'content-type': 'application/json' };
    const login = `${app.platform.clientId}:${app.platform.clientSecret}`;
    const send = (payload: string) =>
      app.server.inject({
        method: 'POST',
        url: '/2025-10-13/quotes',
        headers: {
          ...headers,
          authorization: `Basic ${Buffer.from(login).toString('base64')}`,
        },
        payload,
      });
    for (const payload of [
      '{"a":"\\u0000"}',
      '{',
      'x'.repeat(1_100_000),
      '',
      'null',
      '[]',
      '"text"',
    ]) {
      const reply = await send(payload);
      expect([payload.slice(0, 9), reply.statusCode]).toEqual([payload.slice(0, 9), 400]);
      expect(reply.json().code).toBe('INVALID_INPUT');
    }
  });
});
