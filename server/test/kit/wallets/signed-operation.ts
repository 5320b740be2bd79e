// A signed operation whose only effect is a row, to test signed retries without the rules of real
// operations. A test can replace each step.
import { type Static, Type } from '@sinclair/typebox';
import { type WalletDeps, walletOf } from '../../../src/features/wallets/accounts/wallet.ts';
import {
  type SignedOperation,
  type Steps,
  signedOperation,
} from '../../../src/features/wallets/signing/signed.ts';
import {
  type Signer,
  type WalletRow,
  walletRequests,
  walletSessions,
  wallets,
} from '../../../src/features/wallets/store.ts';
import { perform } from '../../../src/http/bind.ts';
import { operation } from '../../../src/kernel/contract/operation.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { col, type RowOf, table } from '../../../src/runtime/db/table.ts';
import type { Ctx } from '../../../src/runtime/operation/context.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';
import { ok } from '../app/fixtures.ts';
import type { TestApp, TestPlatform } from '../app/harness.ts';
import { generateKeys, type Keys, signedHeaders, walletFixture } from './embedded-wallets.ts';

const contract = operation({
  operationId: 'markThing',
  method: 'POST',
  path: '/things/{id}',
  tag: 'Test',
  summary: 'Insert a mark',
  permission: 'TRANSACT',
  signedRetry: true,
  params: Type.Object({ id: Type.String() }),
  body: Type.Object({ accountId: Type.String(), note: Type.Optional(Type.Unknown()) }),
  replies: { 200: null, 201: null, 202: null },
  errors: [],
});
type TestContract = typeof contract;

const marks = table('marks', { id: col.text, resource_id: col.text, version: col.int4 });

/** Creates the table of the effects. */
export const createMarksTable = (app: TestApp) =>
  app.runtime.db.query(
    'create table marks (id text primary key, resource_id text not null, version integer not null)',
    [],
  );

/** Stages the only effect of the operation. */
export const insertMark = (ctx: Ctx, resourceId: string): void =>
  void ctx.insert(marks, { id: ctx.id('Mark'), resource_id: resourceId });

interface CallInput {
  body?: unknown | undefined;
  headers?: Record<string, string | undefined>;
  platform?: TestPlatform | undefined;
  runtime?: Runtime | undefined;
  operation?: SignedOperation | undefined;
  of?: string | undefined;
}

type RequestRow = RowOf<typeof walletRequests>;
type Body = Static<TestContract['body']>;

/** The operation, with a separate wallet. */
export async function signedTestOperation(
  app: TestApp,
  {
    platform = app.platform,
    steps = {},
    signer,
    operationId = contract.operationId,
  }: {
    platform?: TestPlatform;
    steps?: Partial<Steps<TestContract>>;
    signer?: Partial<Signer>;
    operationId?: string;
  } = {},
) {
  const { accountId } = await walletFixture(app, { platform }).createWalletCustomer();
  const wallet = (await app.runtime.db.read(wallets, accountId)) as WalletRow;
  const resourceId = `resource-${accountId}`;
  const deps: WalletDeps = { connectors: app.connectorsOf };
  const boundOperation = signedOperation({ ...contract, operationId } as TestContract, deps, {
    resourceId: ({ params }) => params.id,
    async begin(ctx, { params, body }) {
      return {
        signatureRequest: {
          wallet: await walletOf(ctx, (body as Body).accountId),
          payload: { type: 'TEST', parameters: { resourceId: params.id } },
          boundData: { resourceId: params.id },
          signer: { by: 'session', accounts: [accountId], ...signer } as Signer,
        },
      };
    },
    async perform(ctx, { params }) {
      insertMark(ctx, params.id);
      return { status: 201, body: { done: params.id } };
    },
    ...steps,
  });

  async function call(input: CallInput = {}) {
    const { body = { accountId }, headers = {}, of = resourceId } = input;
    const caller = {
      platformId: (input.platform ?? platform).id,
      environment: (input.platform ?? platform).environment,
      tokenId: null,
      permissions: [],
    };
    const request = { params: { id: of }, query: {}, headers, body, rawBody: JSON.stringify(body) };
    const toBody = ({ code, message }: Fault) => ({ code, reason: message });
    try {
      const runtime = input.runtime ?? app.runtime;
      return await perform(runtime, caller, input.operation ?? boundOperation, request, toBody);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { status: error.status, body: toBody(error) };
    }
  }

  /** A session of the wallet with a known private key. */
  async function openSession(
    owner: { accountId?: string; credential?: string } = {},
  ): Promise<Keys & { id: string; end(): Promise<void> }> {
    const keys = generateKeys();
    const row = await app.operate(
      async (ctx) =>
        ctx.insert(walletSessions, {
          id: ctx.id('Session'),
          platform_id: platform.id,
          account_id: owner.accountId ?? accountId,
          customer_id: wallet.customer_id,
          credential_id: owner.credential ?? 'AuthMethod:test',
          status: 'ACTIVE',
          public_key: keys.publicKey,
          client_key: keys.publicKey,
          api_key_id: 'key',
          authenticated_at: ctx.now,
          expires_at: ctx.now + 15 * 60_000,
          created_at: ctx.now,
          updated_at: ctx.now,
        }),
      platform,
    );
    const endSession = () =>
      app.operate(async (ctx) => {
        const session = await ctx.read(walletSessions, row.id);
        if (session)
          ctx.update(walletSessions, session, { status: 'REVOKED', updated_at: ctx.now });
      }, platform);
    return { ...keys, id: row.id, end: endSession };
  }

  /** Sends the first request. Returns the challenge. */
  const send = async (
    input: CallInput = {},
  ): Promise<{ payloadToSign: string; requestId: string }> =>
    ok({ headers: {}, ...(await call(input)) } as never, 202);

  return {
    platform,
    accountId,
    resourceId,
    wallet,
    operation: boundOperation,
    call,
    openSession,
    requestSignature: send,
    /** Sends the first request. Returns the headers of the signed retry. */
    async signRequest(keys: Keys, input: CallInput = {}): Promise<Record<string, string>> {
      return signedHeaders(await send(input), keys);
    },
    /** Number of effects. */
    async countMarks(): Promise<number> {
      const sql = 'select count(*)::int as count from marks where resource_id = $1';
      const [row] = await app.runtime.db.query(sql, [resourceId]);
      return row?.count as number;
    },
    readRequest: async (headers: Record<string, string>): Promise<RequestRow> =>
      (await app.runtime.db.read(walletRequests, headers['request-id'] as string)) as RequestRow,
  };
}
export type SignedTestOperation = Awaited<ReturnType<typeof signedTestOperation>>;
