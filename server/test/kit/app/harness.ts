// A complete server in the test's process, on a separate copy of the migrated template database,
// with a clock that only tests advance. Requests use the real routes. Every reply is checked
// against its contract. Replies are recorded, so that declared statuses without a test can be
// listed.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPlatformWithToken, FIRST_CURRENCIES } from '../../../src/bootstrap.ts';
import { type Naming, namingFor } from '../../../src/catalog/naming.ts';
import { type App, compose } from '../../../src/compose.ts';
import {
  type ConnectorSettings,
  connectorRegistry,
  custodyKeysOf,
} from '../../../src/connectors/registry.ts';
import { systemCaller } from '../../../src/features/tenancy/platform/index.ts';
import type { RateLimits } from '../../../src/http/admission/rate-limit.ts';
import { type ErrorBody, OPERATION_CODES } from '../../../src/http/examples.ts';
import { errorSchema } from '../../../src/http/openapi.ts';
import { isListed } from '../../../src/http/operation/errors.ts';
import { BASE_PATH } from '../../../src/http/server.ts';
import type { Contract, Permission } from '../../../src/kernel/contract/operation.ts';
import { fieldErrors } from '../../../src/kernel/contract/validate.ts';
import type { Code } from '../../../src/kernel/fault.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import type { IdentityProviderSettings } from '../../../src/runtime/config/identity-provider.ts';
import { CONNECTION_LIMITS } from '../../../src/runtime/db/connections/limits.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';
import type { TracingSettings } from '../../../src/runtime/observability/tracing/settings.ts';
import type { Ctx } from '../../../src/runtime/operation/context.ts';
import { operate } from '../../../src/runtime/operation/operate.ts';
import { checkRequestEvents, commitRecorder, inRequest } from '../operator/event-checks.ts';
import { checkVerbs, postingsChecker } from '../operator/postings.ts';
import { expectBalancedBooks } from './books.ts';
import { createTestDatabase } from './database.ts';
import { clockOf, emittedEvents, testEffects } from './effects.ts';

export interface TestPlatform {
  id: string;
  environment: Mode;
  clientId: string;
  clientSecret: string;
}

export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  body: any;
  headers: Record<string, string | string[] | number | undefined>;
}

export interface CallOptions {
  platform?: TestPlatform | { clientId: string; clientSecret: string } | null | undefined;
  headers?: Record<string, string> | undefined;
}

/** The file that records replies, events and postings for the checks after the run. */
const REPLIES_FILE = process.env.RAILHEAD_REPLIES;

/** The code of an error, and its reason and details if each operation has an example of the code. */
function errorParts(hasExamples: boolean, code: Code | undefined, body: unknown): string[] {
  if (code === undefined) return [];
  if (!hasExamples || !OPERATION_CODES.includes(code)) return [code];
  const { reason, details } = body as ErrorBody;
  return [code, JSON.stringify({ reason, details })];
}

/**
 * Returns a function that records the status and code of every reply, and adds a problem for each
 * reply that violates its contract.
 */
export function contractChecker(
  problems: string[],
  serviceNamePrefix = 'Service',
  isRandom = false,
) {
  const naming = namingFor(serviceNamePrefix);
  const hasExamples = serviceNamePrefix === 'Service' && !isRandom;
  const neutralCode = (code: string) => naming.neutralName(code) as Code;
  return (contract: Contract, status: number, body: unknown): void => {
    const name = `${contract.operationId} ${status}`;
    checkRequestEvents(contract.operationId, problems, REPLIES_FILE);
    const code = status < 400 ? undefined : neutralCode((body as { code: string }).code);
    if (REPLIES_FILE)
      appendFileSync(REPLIES_FILE, `${[name, ...errorParts(hasExamples, code, body)].join(' ')}\n`);
    if (code ? !isListed(contract, code) : !(status in contract.replies)) {
      const rule = code ? `: neither its contract nor http/operation/errors.ts lists ${code}` : '';
      problems.push(`${name} is not declared${rule}`);
      return;
    }
    const schema =
      contract.replies[status] ?? (status >= 400 ? errorSchemaOf(status, naming) : null);
    if (!schema) {
      if (body !== undefined && body !== null) problems.push(`${name}: has a body`);
      return;
    }
    const jsonBody = JSON.parse(JSON.stringify(body)) as unknown;
    for (const error of fieldErrors(schema, jsonBody, 'body')) {
      problems.push(`${name}: ${error.field} ${error.message}`);
    }
  };
}

const errorCache = new Map<string, ReturnType<typeof errorSchema>>();
function errorSchemaOf(status: number, naming: Naming) {
  const key = `${naming.prefix} ${status}`;
  const schema = errorCache.get(key) ?? errorSchema(status, naming);
  errorCache.set(key, schema);
  return schema;
}

/** A body as sent: a `FormData` as multipart/form-data, and any other body as JSON. */
export async function wireOf(body: unknown): Promise<{ type: string; payload: string | Buffer }> {
  if (!(body instanceof FormData))
    return { type: 'application/json', payload: JSON.stringify(body) };
  const form = new Response(body);
  const type = form.headers.get('content-type') as string;
  return { type, payload: Buffer.from(await form.arrayBuffer()) };
}

const TEST_SETTINGS = {
  masterKey: Buffer.alloc(32, 7),
  // A documentation site built on this machine must not affect the tests.
  siteFolder: path.join(os.tmpdir(), 'no-site'),
  // Opening a connection costs more than most tests.
  connectionLimits: { ...CONNECTION_LIMITS, poolSize: 2 },
};

export type TestApp = Awaited<ReturnType<typeof startApp>>;

export interface AppOptions {
  /** Initial time of the clock, in milliseconds since 1970. */
  start?: number;
  /**
   * Seed of the random bytes. By default the seed of the run, the file and the number of the
   * server.
   */
  seed?: string;
  serviceNamePrefix?: string;
  /** The requests depend on the seed of the run, so their replies are no examples. */
  isRandom?: boolean;
  rateLimits?: Partial<RateLimits>;
  trustedProxies?: readonly string[] | undefined;
  connectors?: ConnectorSettings;
  walletRecoveryMs?: number;
  loopbackWebhooks?: boolean;
  publicUrl?: string;
  stalledMs?: number;
  operatorApi?: 'on' | 'off' | number;
  operatorOidc?: IdentityProviderSettings;
  tracing?: TracingSettings;
  console?: boolean;
}

/**
 * Starts a server with four platforms: two regulated, one unregulated and one production platform.
 * `testApp` starts and closes a server for a file. `startApp` is for a server that a single test
 * needs.
 */
export async function startApp(options: AppOptions = {}) {
  const database = await createTestDatabase();
  const effects = testEffects(options.start, options.seed);
  const problems: string[] = [];
  const lines: string[] = [];
  const log = createLog(effects, 'debug', (line) => lines.push(line));
  const { start: _, seed: _seed, isRandom, ...otherOptions } = options;
  const { serviceNamePrefix = 'Service' } = options;
  const settings = {
    ...otherOptions,
    serviceNamePrefix,
    databaseUrl: database.url,
    ...TEST_SETTINGS,
    files: { folder: mkdtempSync(path.join(os.tmpdir(), 'files-')) },
  };
  const checkReply = contractChecker(problems, serviceNamePrefix, isRandom);
  const app: App = await compose(settings, effects, log, checkReply);
  app.readiness.markStarted();
  const { runtime, server } = app;
  const { commit } = runtime.committer;
  const commitChecks = [postingsChecker, commitRecorder].map((each) =>
    each(problems, REPLIES_FILE),
  );
  runtime.committer = {
    async commit(set) {
      const outcome = await commit(set);
      if (outcome.ok) for (const check of commitChecks) check(set);
      return outcome;
    },
  };
  const registry = connectorRegistry(effects, {
    ...options.connectors,
    custodyKeys: custodyKeysOf(runtime.vault),
  });

  async function createPlatform(
    name: string,
    overrides: { environment?: Mode; regulated?: boolean; permissions?: Permission[] } = {},
  ): Promise<TestPlatform> {
    const environment = overrides.environment ?? 'sandbox';
    const createdPlatform = await createPlatformWithToken(runtime, {
      name,
      environment,
      regulated: overrides.regulated ?? true,
      documentsOptional: false,
      currencies: FIRST_CURRENCIES,
      fundingOf: (mode) => registry(mode).funding,
      permissions: overrides.permissions,
    });
    return { id: createdPlatform.platformId, environment, ...createdPlatform };
  }

  const tokensByName = new Map<string, { clientId: string; clientSecret: string }>();

  const mainPlatform = await createPlatform('Main');
  const otherPlatform = await createPlatform('Other');
  const unregulatedPlatform = await createPlatform('Unregulated', { regulated: false });
  const productionPlatform = await createPlatform('Production', {
    environment: 'production',
    regulated: false,
  });

  async function call(
    method: string,
    path: string,
    body?: unknown,
    { platform = mainPlatform, headers = {} }: CallOptions = {},
  ): Promise<ApiResponse> {
    const auth =
      platform && Buffer.from(`${platform.clientId}:${platform.clientSecret}`).toString('base64');
    const encodedBody = body === undefined ? undefined : await wireOf(body);
    const request = {
      method: method as 'GET',
      url: path.startsWith('/healthz') ? path : `${BASE_PATH}${path}`,
      headers: {
        ...(auth ? { authorization: `Basic ${auth}` } : {}),
        ...(encodedBody ? { 'content-type': encodedBody.type } : {}),
        ...headers,
      },
      ...(encodedBody ? { payload: encodedBody.payload } : {}),
    };
    const reply = await inRequest(async () => server.inject(request));
    if (problems.length)
      throw new Error(`a reply violates its contract: ${problems.splice(0).join('; ')}`);
    const text = reply.body;
    const isJson = text && String(reply.headers['content-type']).includes('json');
    return {
      status: reply.statusCode,
      body: isJson ? JSON.parse(text) : text,
      headers: reply.headers,
    };
  }

  const { settle, advance } = clockOf(app, effects);

  return {
    ...app,
    app,
    effects,
    connectorsOf: registry,
    fundingOf: (mode: Mode) => registry(mode).funding,
    log: lines,
    databaseUrl: database.url,
    filesFolder: settings.files.folder,
    platform: mainPlatform,
    other: otherPlatform,
    unregulated: unregulatedPlatform,
    production: productionPlatform,
    newPlatform: createPlatform,
    call,
    settle,
    advance,
    events: () => emittedEvents(runtime),
    /**
     * A token of the main platform with these permissions. Returns the same token for the same
     * name.
     */
    async tokenWith(permissions: Permission[], name = permissions.join('+')) {
      const token = tokensByName.get(name);
      if (token) return token;
      const { body } = await call('POST', '/tokens', { name, permissions });
      const { clientId, clientSecret } = body as { clientId: string; clientSecret: string };
      tokensByName.set(name, { clientId, clientSecret });
      return { clientId, clientSecret };
    },
    operate: <R>(
      work: (ctx: Ctx) => Promise<R>,
      platform: TestPlatform = mainPlatform,
    ): Promise<R> => operate(runtime, systemCaller(platform.id, platform.environment), work),
    /** Stops the server. The books must balance. Every reply must match its contract. */
    async close() {
      const checks = await Promise.allSettled([
        expectBalancedBooks({ runtime }),
        checkVerbs(runtime, problems, REPLIES_FILE),
      ]);
      await app.stop();
      await database.drop();
      rmSync(settings.files.folder, { recursive: true, force: true });
      for (const result of checks) if (result.status === 'rejected') throw result.reason;
      if (problems.length) throw new Error(`a reply violates its contract: ${problems.join('; ')}`);
    },
  };
}
