// The composition: the features, connectors, jobs and loops of the server. It is the only file that
// references all of them. The process (serve.ts) and the tests use it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { prepareDatabase } from './bootstrap.ts';
import { type Naming, namingFor } from './catalog/naming.ts';
import {
  type BuiltInConnector,
  type ConnectorRegistry,
  type ConnectorSettings,
  connectorRegistry,
  custodyKeysOf,
  type StorageSettings,
} from './connectors/registry.ts';
import { agentBearers } from './features/agents/index.ts';
import { type CardDeps, cardNetworkHandler } from './features/cards/index.ts';
import {
  linkAuthenticator,
  verificationPage,
} from './features/customers/hosted-verification/index.ts';
import { createDeliverer, type Deliverer } from './features/notifications/webhooks/index.ts';
import type { ProviderDirectory } from './features/providers/index.ts';
import type { RetentionOptions } from './features/retention/index.ts';
import type { ClockWork, SandboxWorldDeps } from './features/sandbox/index.ts';
import { operatorAuthenticator } from './features/staff/users/index.ts';
import { createRequestRecorder } from './features/tenancy/requests/index.ts';
import { authenticator } from './features/tenancy/tokens/index.ts';
import {
  depsOf,
  handlersOf,
  operationsOf,
  PAGES,
  RESET_RULES,
  stageClockWork,
  sweepsOf,
  webhookContracts,
} from './features.ts';
import { createLimiter, type RateLimits } from './http/admission/rate-limit.ts';
import { createSlots, type Slots } from './http/admission/slots.ts';
import { type Operation, perform } from './http/bind.ts';
import { type DrainOptions, drainConnections } from './http/connection/connection-close.ts';
import { listeningOrigin } from './http/connection/listen.ts';
import { type Examples, readExamples } from './http/examples.ts';
import { openApiSteps } from './http/openapi.ts';
import { addHostedApp } from './http/pages/hosted.ts';
import { addPages, originOf } from './http/pages/pages.ts';
import { addWebhookKeys } from './http/pages/webhook-keys.ts';
import type { Watch } from './http/server.ts';
import { addHealth, addSite } from './http/site.ts';
import { idempotencyOf } from './kernel/contract/operation.ts';
import { bodyErrors, compileSchemas } from './kernel/contract/validate.ts';
import type { Effects } from './kernel/effects.ts';
import type { Fault } from './kernel/fault.ts';
import { uuid7 } from './kernel/id.ts';
import { MODES } from './kernel/mode.ts';
import { runInSteps } from './kernel/steps.ts';
import {
  committerOf,
  ledgerCheckOf,
  metricsFor,
  metricsOf,
  type ProcessSettings,
  watchInstallation,
} from './observability/metrics.ts';
import { openTracing, tracedEffects } from './observability/tracing.ts';
import type { OperatorApiSetting } from './operator-api/mount.ts';
import { createClocks } from './runtime/clocks/clocks.ts';
import { pressureOn } from './runtime/committer/pressure.ts';
import { platformReset } from './runtime/committer/reset.ts';
import type { IdentityProviderSettings } from './runtime/config/identity-provider.ts';
import { ROLES, type Role } from './runtime/config/roles.ts';
import type { ConnectionLimits } from './runtime/db/connections/limits.ts';
import { openDatabase } from './runtime/db/database.ts';
import { connectLane } from './runtime/db/lane.ts';
import { type Files, fileJobs, fileReset, fileSweep } from './runtime/files/files.ts';
import { reportedCircuits } from './runtime/jobs/circuit-report.ts';
import { measuredWorker } from './runtime/jobs/job-metrics.ts';
import type { Worker } from './runtime/jobs/jobs.ts';
import type { Log } from './runtime/observability/log.ts';
import type { Metrics } from './runtime/observability/metrics.ts';
import { createReadiness, type Readiness } from './runtime/observability/readiness.ts';
import { UNKNOWN_PATH, UNSUPPORTED_METHOD } from './runtime/observability/request-record.ts';
import type { TracingSettings } from './runtime/observability/tracing/settings.ts';
import { attemptsSweep } from './runtime/operation/attempt-limiter.ts';
import { idempotencyReset, idempotencyRetention } from './runtime/operation/idempotency.ts';
import type { Runtime } from './runtime/operation/operate.ts';
import { createDataKeys } from './runtime/security/data-keys.ts';
import type { KeyRing, SigningKeys } from './runtime/security/key-ring.ts';
import { createVault } from './runtime/security/vault.ts';
import { preconditionOf } from './sample/preconditions.ts';
import { sampleReference } from './sample/reference.ts';
import {
  addMessagesOfProviders,
  type OpenRequests,
  openRequests,
  operatorDepsOf,
  operatorUrlOf,
  providersOf,
  serversOf,
} from './servers.ts';
import { stopServer } from './shutdown.ts';
import { fileDepsOf } from './startup.ts';

export interface Settings extends RetentionOptions {
  databaseUrl: string;
  /** Limits of connections to the database. Default `CONNECTION_LIMITS`. */
  connectionLimits?: ConnectionLimits | undefined;
  masterKey: Uint8Array;
  serviceNamePrefix: string;
  /** Roles of the server. Default: all. */
  roles?: readonly Role[] | undefined;
  /** The server as one of several processes that share a port. */
  process?: ProcessSettings | undefined;
  /** Configuration of connectors. Default: only connectors that require no settings. */
  connectors?: ConnectorSettings | undefined;
  /** Storage of files. */
  files: StorageSettings;
  /** Absent: no limits. */
  rateLimits?: Partial<RateLimits> | undefined;
  /** Proxies whose X-Forwarded-For header is trusted. Default: none. */
  trustedProxies?: readonly string[] | undefined;
  /** Base URL for clients. Default: the listening address. */
  publicUrl?: string | undefined;
  /** Folder of the built documentation site. Default `site/dist`. */
  siteFolder?: string | undefined;
  /** Maximum idle time of a connection. Default 90 s. */
  stalledMs?: number | undefined;
  /** Whether sandbox platforms may use webhook endpoints on this machine. Default true. */
  loopbackWebhooks?: boolean | undefined;
  /** Waiting period of an account recovery. Absent: disabled. */
  walletRecoveryMs?: number | undefined;
  /** Time between two verifications of the ledger. Default 0: none. */
  ledgerCheckMs?: number | undefined;
  /** Retention of messages of providers. Default 400 days. */
  providerMessageRetentionMs?: number | undefined;
  /** `on`: the operator API is on the same port (default). `off`, or a separate port. */
  operatorApi?: OperatorApiSetting | undefined;
  /** Whether operators have the console. Default false. */
  console?: boolean | undefined;
  /** Address at which operators sign in. Default: the public URL. */
  operatorUrl?: string | undefined;
  /** Collector of traces. Absent: none. */
  tracing?: TracingSettings | undefined;
  /** Identity provider of operators. Absent: none. */
  operatorOidc?: IdentityProviderSettings | undefined;
}

const DAY_MS = 86_400_000;

export interface App {
  server: FastifyInstance;
  runtime: Runtime;
  files: Files;
  operations: readonly Operation[];
  keys: SigningKeys;
  /** The providers and routes. */
  providers(): Promise<ProviderDirectory>;
  /** The connectors that are part of the server. */
  builtIn(): readonly BuiltInConnector[];
  worker: Worker;
  deliverer: ReturnType<typeof createDeliverer>;
  openApi(): Promise<unknown>;
  readiness: Readiness;
  /** Starts to accept requests. Returns the address. */
  listen(at: { host: string; port: number }): Promise<{ port: number; origin: string }>;
  /** Closes each connection with its next reply. Call `stop` afterwards. */
  drain(options: DrainOptions): Promise<void>;
  /** Starts the loops of the roles. `keysChanged` is called after a change of the signing key. */
  start(keysChanged?: () => void): void;
  /**
   * Compiles the schemas of the operations in steps between requests. Without the role `api`, it
   * compiles none.
   */
  compileSchemas(): Promise<void>;
  /** Finishes work in progress, aborts it after a timeout, and closes the database. */
  stop(): Promise<void>;
}

/** Statement timeout of a reset, because a platform may have many rows. */
const RESET_TIMEOUT_MS = 60_000;

/** Functions of the whole server for the operations that reset and fill a sandbox platform. */
function sandboxWorldOf(
  { databaseUrl }: Settings,
  runtime: Runtime,
  operations: () => readonly Operation[],
): Pick<SandboxWorldDeps, 'runtime' | 'operations' | 'perform' | 'removePlatformRows'> {
  const rules = [...RESET_RULES, fileReset, idempotencyReset];
  const connect = () =>
    connectLane(databaseUrl, { name: 'railhead reset', statementTimeoutMs: RESET_TIMEOUT_MS });
  return {
    runtime: () => runtime,
    operations,
    removePlatformRows: platformReset({ connect, db: runtime.db, rules }),
    async perform(actingRuntime, caller, operation, request) {
      let rejection: Fault | undefined;
      const needsKey = idempotencyOf(operation.contract) === 'required';
      const headers: Record<string, string> = needsKey
        ? { 'idempotency-key': uuid7(actingRuntime.effects) }
        : {};
      const completeRequest = { ...request, headers, rawBody: '' };
      const { status, body } = await perform(
        actingRuntime,
        caller,
        operation,
        completeRequest,
        (fault) => {
          rejection = fault;
          return fault.message;
        },
      );
      if (status >= 400 && rejection) throw rejection;
      return body;
    },
  };
}

/** The configured connectors. Problems of their sources are logged. */
const connectorsOf = (
  { connectors, circuits }: Pick<ConnectorSettings, 'circuits'> & Pick<Settings, 'connectors'>,
  { effects, vault }: Runtime,
  log: Log,
) =>
  connectorRegistry(tracedEffects(effects), {
    ...connectors,
    circuits,
    custodyKeys: custodyKeysOf(vault),
    reportProblem: (problem) => log.warn({ problem }, 'a connector has a problem'),
  });

/** Connects each issuer with the handler of authorization requests. */
function connectIssuers(runtime: Runtime, deps: CardDeps): void {
  for (const environment of MODES) {
    const { issuer } = deps.connectors(environment);
    issuer?.connect?.(cardNetworkHandler(runtime, deps, environment));
  }
}

interface RecorderDeps extends Pick<Settings, 'databaseUrl' | 'connectionLimits'> {
  effects: Effects;
  log: Log;
  metrics: Metrics;
}

/**
 * Records requests on a connection whose commits do not wait for the disk. `ports` is for the
 * feature of recorded requests. The operations are a function, because they are created after the
 * features.
 */
function recorderOf(deps: RecorderDeps, operations: () => readonly Operation[]) {
  const { databaseUrl, connectionLimits, effects, log, metrics } = deps;
  const recorder = createRequestRecorder({
    async connect() {
      const client = await connectLane(databaseUrl, {
        name: 'railhead requests',
        ...connectionLimits,
      });
      await client.query('set synchronous_commit = off');
      return client;
    },
    now: effects.now,
    contracts: () => operations().map(({ contract }) => contract),
    log,
  });
  const { dropped, waiting, flush } = recorder;
  metrics.watch(
    'railhead_requests_waiting',
    'Recorded requests that are not written yet.',
    waiting,
  );
  metrics.watch('railhead_requests_dropped', 'Requests not recorded since the start.', dropped);
  const isOperation = (id: string) =>
    [UNKNOWN_PATH, UNSUPPORTED_METHOD].includes(id) ||
    operations().some((each) => each.contract.operationId === id);
  return { ...recorder, ports: { flushRequests: flush, isOperation } };
}

/** Readiness of the process, added to the metrics of the installation. */
function readinessOf(
  { databaseUrl: url }: Settings,
  watchedDeps: Omit<Parameters<typeof watchInstallation>[0], 'readiness'>,
): Readiness {
  const hasLane = () => watchedDeps.committer.stats().lanes > 0;
  const readiness = createReadiness({ url, hasLane });
  watchInstallation({ ...watchedDeps, readiness });
  return readiness;
}

interface Wakeable {
  wake(): void;
}

interface Loops {
  events: readonly Wakeable[];
  jobs: Wakeable;
}

/** Wakes the loops that wait for events and for jobs. The loops are created after the runtime. */
const wakeOf = (loops: () => Loops): Runtime['wake'] => ({
  events() {
    for (const each of loops().events) each.wake();
  },
  jobs: () => loops().jobs.wake(),
});

/** Completes requests that follow events, and closes each connection with its next reply. */
function drainAll(server: FastifyInstance, openRequestSet: OpenRequests, options: DrainOptions) {
  openRequestSet.close();
  return drainConnections(server, options);
}

const depsOfSettings = (settings: Settings, { followers }: OpenRequests) => {
  const { eventRetentionMs = 30 * DAY_MS, providerMessageRetentionMs = 400 * DAY_MS } = settings;
  const ledgerCheck = ledgerCheckOf(settings);
  const { walletRecoveryMs } = settings;
  return { followers, eventRetentionMs, providerMessageRetentionMs, ledgerCheck, walletRecoveryMs };
};

interface PublicPages {
  /** The public keys that verify webhooks. */
  publishedKeys: KeyRing['publishedKeys'];
  runtime: Runtime;
  deps: ReturnType<typeof depsOf>;
  operations: readonly Operation[];
  bearers: ReturnType<typeof linkAuthenticator>;
  limiter: ReturnType<typeof createLimiter> | undefined;
  slots: Slots;
  log: Log;
  openApi: () => Promise<object>;
  siteFolder: string | undefined;
  directory: ProviderDirectory;
  naming: Naming;
  publicUrl?: string | undefined;
}

/**
 * Adds the routes of the role `api` that are not operations: the keys of webhooks, the messages of
 * providers, the documentation and the hosted pages.
 */
function addPublicPages(server: FastifyInstance, options: PublicPages): void {
  const { runtime, deps, operations, bearers, limiter, log, openApi, siteFolder } = options;
  addWebhookKeys(server, options.publishedKeys);
  addMessagesOfProviders(server, { publicUrl: undefined, ...options });
  const { naming } = options;
  let examples: Examples | undefined;
  const sample = sampleReference(runtime, operations, () => {
    examples ??= naming.toApiNames(readExamples()) as Examples;
    return examples;
  });
  const apiName = (operationId: string) => naming.toApiNames(operationId) as string;
  const reference = { ...sample, preconditionOf, apiName };
  addSite(server, { openApi, siteFolder, reference });
  const pages = PAGES.map((page) => page(runtime, deps));
  addPages(server, pages, limiter);
  addHostedApp(server, verificationPage(runtime), { bearers, limiter, log });
}

const limiterOf = ({ rateLimits }: Settings, { now }: Effects, { recordRateLimit }: Metrics) =>
  rateLimits && createLimiter(rateLimits, now, recordRateLimit);

const networkOf = ({ trustedProxies, publicUrl, stalledMs }: Settings) => ({
  trustedProxies,
  publicUrl,
  stalledMs,
});

const allProviders = (directory: ProviderDirectory, { builtIn }: ConnectorRegistry) => ({
  providers: async () => directory,
  builtIn,
});

/** Resolves the credentials of links, agents and operators, and limits requests. */
const admissionOf = (runtime: Runtime, settings: Settings, metrics: Metrics) => ({
  limiter: limiterOf(settings, runtime.effects, metrics),
  slots: createSlots(),
  bearers: linkAuthenticator(runtime),
  agents: agentBearers(runtime),
  operators: operatorAuthenticator(runtime, operatorUrlOf(settings)),
});

/** The work that becomes due when a clock is advanced. */
const clockWorkOf = (
  { kinds, run }: Pick<Worker, 'kinds' | 'run'>,
  { heldPlatform }: Pick<Deliverer, 'heldPlatform'>,
): ClockWork => ({
  kinds,
  runJob: run,
  deliveries: heldPlatform,
  stage: stageClockWork,
});

/** Composes a server on a migrated database. `listen` and `start` of the server begin its work. */
export async function compose(
  settings: Settings,
  effects: Effects,
  log: Log,
  watch?: Watch,
): Promise<App> {
  const { roles = ROLES, loopbackWebhooks = true } = settings;
  const metrics = metricsFor(settings, roles);
  const naming = namingFor(settings.serviceNamePrefix);
  const db = openDatabase({ url: settings.databaseUrl, ...settings.connectionLimits });
  const committer = committerOf(settings, metrics);
  const wake = wakeOf(() => ({ events: [deliverer, followers], jobs: worker }));
  const dataKeys = createDataKeys({ db, effects, masterKey: () => settings.masterKey });
  const vault = createVault(effects, dataKeys);
  const clocks = createClocks(db, effects);
  const { tracer, ...tracing } = openTracing(settings, effects, log);
  const runtime: Runtime = { effects, db, vault, clocks, committer, wake, tracer };
  const followers = openRequests(runtime, log, metrics);
  const keyRing = await prepareDatabase(runtime, dataKeys, log);
  const circuits = reportedCircuits(effects, log, metrics);
  const builtIn = connectorsOf({ ...settings, circuits }, runtime, log);
  const { connectors, directory } = await providersOf(runtime, builtIn, circuits, log, metrics);
  const { storage, files, retention } = fileDepsOf(settings, runtime, circuits);
  const tokens = authenticator(db, effects.now);
  const webhooks = { keys: keyRing.keys, naming, metrics, loopbackWebhooks };
  const origin = () => settings.publicUrl ?? listeningOrigin(server) ?? originOf(server);
  const reportProblem = (problem: string) => log.warn({ problem }, 'a card has a problem');
  const pressure = pressureOn(committer);
  const recorder = recorderOf({ ...settings, effects, log, metrics }, () => operations);
  const commonDeps = { connectors, tokens, webhooks, files, storage, origin, reportProblem, log };
  const clockWork = () => ({ runtime, work: clockWorkOf(worker, deliverer) });
  const world = { ...sandboxWorldOf(settings, runtime, () => operations), clockWork };
  const ports = { ...world, ...pressure, ...recorder.ports, directory, retention, bodyErrors };
  const deps = depsOf({ ...commonDeps, ...ports, ...depsOfSettings(settings, followers) });
  const operations: Operation[] = operationsOf(deps);
  const deliverer = createDeliverer({ ...runtime, ...pressure, ...webhooks, log });
  const handlers = [...handlersOf(deps, operations), ...fileJobs({ storage })];
  const sweeps = [...sweepsOf(deps), idempotencyRetention(), attemptsSweep(), fileSweep()];
  const worker = measuredWorker({ runtime, handlers, sweeps, log, metrics });
  const contracts = operations.map((each) => each.contract);
  const openApi = () =>
    runInSteps(openApiSteps(contracts, webhookContracts, naming, readExamples()), nextTurn);
  const admission = { ...admissionOf(runtime, settings, metrics), ...tokens };
  const isApi = roles.includes('api');
  const operator = operatorDepsOf(settings, followers, { circuits, committer, world, builtIn });
  const installation = { runtime, files, connectors, directory, retention, ...operator };
  const hooks = { naming, log, metrics, record: recorder.add, watch, ...networkOf(settings) };
  const routes = { runtime, files, operations, ...admission, ...hooks };
  const { server, listen } = serversOf(settings, isApi, installation, routes);
  const readiness = readinessOf(settings, { metrics, runtime, committer });
  addHealth(server, { readiness: readiness.check, metrics: metricsOf(metrics, settings.process) });
  connectIssuers(runtime, deps);
  const web = { ...keyRing, ...admission, log, openApi, siteFolder: settings.siteFolder };
  if (isApi) addPublicPages(server, { runtime, deps, operations, directory, ...web, ...hooks });
  const loops = { keyRing, directory, worker, deliverer, followers, recorder, committer, db };
  return {
    server,
    runtime,
    files,
    operations,
    keys: keyRing.keys,
    ...allProviders(directory, builtIn),
    worker,
    deliverer,
    openApi,
    readiness,
    listen,
    drain: (options) => drainAll(server, followers, options),
    start(keysChanged = () => undefined) {
      keyRing.start(keysChanged);
      directory.start();
      if (roles.includes('jobs')) worker.start();
      if (roles.includes('deliver')) deliverer.start();
    },
    compileSchemas: () => runInSteps(compileSchemas(isApi ? contracts : []), nextTurn),
    stop: () => stopServer({ ...loops, readiness, server, tracing }),
  };
}
