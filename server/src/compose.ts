// The composition: which features, connectors, jobs and loops make up the server. It is the only file that
// knows all of them; the process (main.ts), the operator's command and the tests each build on it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { openPlatformAccounts } from './bootstrap.ts';
import { CURRENCIES } from './catalog/currencies/currencies.ts';
import { namingFor } from './catalog/naming.ts';
import type { Connectors } from './connectors/ports/index.ts';
import {
  type ConnectorSettings,
  connectorRegistry,
  custodyKeysOf,
  type StorageSettings,
  storageOf,
} from './connectors/registry.ts';
import {
  agentBearers,
  agentJobs,
  agentOperations,
  agentSweep,
  agentWebhooks,
  waitingAction,
} from './features/agents/index.ts';
import {
  accountJobs,
  internalAccountOperations,
  internalAccountWebhooks,
} from './features/balances/internal-accounts/index.ts';
import {
  type CardParts,
  cardJobs,
  cardOperations,
  cardSweep,
  cardWebhooks,
  issuerDesk,
  pullJobs,
  revealPage,
} from './features/cards/index.ts';
import { contactOperations } from './features/customers/contacts/index.ts';
import { documentOperations } from './features/customers/documents/index.ts';
import {
  kycLinkOperations,
  linkBearers,
  verificationPage,
} from './features/customers/hosted-verification/index.ts';
import {
  importJobs,
  importOperations,
  importWebhooks,
} from './features/customers/imports/index.ts';
import {
  invitationJobs,
  invitationOperations,
  invitationPage,
  invitationWebhooks,
} from './features/customers/invitations/index.ts';
import {
  type CustomerParts,
  customerOperations,
  customerWebhooks,
  ownerOperations,
  sealOldCustomers,
} from './features/customers/records/index.ts';
import {
  verificationJobs,
  verificationOperations,
  verificationWebhooks,
} from './features/customers/verifications/index.ts';
import { codeSweep, messageJobs } from './features/notifications/messages/index.ts';
import {
  createDeliverer,
  testWebhooks,
  type WebhookDeps as WebhookParts,
  webhookOperations,
} from './features/notifications/webhooks/index.ts';
import { discoveryOperations } from './features/payees/discovery/index.ts';
import {
  externalAccountOperations,
  externalAccountWebhooks,
  nameJobs,
} from './features/payees/external-accounts/index.ts';
import {
  livenessPage,
  ownershipJobs,
  ownershipOperations,
} from './features/payees/ownership/index.ts';
import { lookupSweep, receiverOperations } from './features/payees/receivers/index.ts';
import {
  payoutJobs,
  transactionOperations,
  transactionWebhooks,
} from './features/payments/lifecycle/index.ts';
import { incomingJobs, incomingOperations } from './features/payments/pay-ins/index.ts';
import {
  expiryJobs,
  expirySweep,
  fundingJobs,
  lapseJobs,
  quoteOperations,
} from './features/payments/quotes/index.ts';
import { transferInOperations, transferOperations } from './features/payments/transfers/index.ts';
import {
  sandboxCardOperations,
  sandboxOperations,
  sandboxSendOperations,
  sandboxUmaOperations,
} from './features/sandbox/index.ts';
import { resetJobs, resetPage, scaOperations, scaSweep } from './features/sca/index.ts';
import { stablecoinJobs, stablecoinOperations } from './features/stablecoins/index.ts';
import { platformOperations } from './features/tenancy/platform/index.ts';
import {
  type Authenticator,
  authenticator,
  tokenOperations,
} from './features/tenancy/tokens/index.ts';
import {
  isSigned,
  openWallets,
  openWalletsOf,
  recoveryJobs,
  settleJobs,
  walletAccountOperations,
  walletSweep,
} from './features/wallets/accounts/index.ts';
import { tiedCredentials, walletAuthOperations } from './features/wallets/credentials/index.ts';
import { createLimiter, type RateLimits } from './http/admission/rate-limit.ts';
import type { Operation } from './http/bind.ts';
import { listeningOrigin, listenOn } from './http/connection/listen.ts';
import { openApiSteps } from './http/openapi.ts';
import { addHostedApp } from './http/pages/hosted.ts';
import { addPages, originOf } from './http/pages/pages.ts';
import { createServer, type Watch } from './http/server.ts';
import { addSite } from './http/site.ts';
import { bodyErrors, compileSchemas } from './http/validate.ts';
import { runInSteps } from './kernel/steps.ts';
import type { World } from './kernel/world.ts';
import { houseAccounts } from './ledger/chart.ts';
import { type Committer, createCommitter } from './runtime/committer/committer.ts';
import { connectLane } from './runtime/committer/lane.ts';
import { pressureOn } from './runtime/committer/pressure.ts';
import { type Database, openDatabase } from './runtime/db/database.ts';
import { createFiles, type Files, fileJobs, fileSweep } from './runtime/files/files.ts';
import { reportedCircuits, STORAGE_FAILURES } from './runtime/jobs/circuit-report.ts';
import { measuredWorker } from './runtime/jobs/job-metrics.ts';
import type { Worker } from './runtime/jobs/jobs.ts';
import type { Log } from './runtime/observability/log.ts';
import { createMetrics, type Metrics } from './runtime/observability/metrics.ts';
import { createReadiness, type Readiness } from './runtime/observability/readiness.ts';
import type { Environment } from './runtime/operation/context.ts';
import { forgetSweep } from './runtime/operation/idempotency.ts';
import type { Runtime } from './runtime/operation/operate.ts';
import { triesSweep } from './runtime/operation/tries.ts';
import { loadSigningKeys, type SigningKeys } from './runtime/security/keys.ts';
import { createVault } from './runtime/security/vault.ts';
import { stopParts } from './shutdown.ts';

export interface Settings {
  databaseUrl: string;
  masterKey: Uint8Array;
  serviceWord: string;
  /** What connects production platforms to the outside; only the manual rail unless said otherwise. */
  connectors?: ConnectorSettings | undefined;
  /** Where files are kept. */
  files: StorageSettings;
  /** Absent: no limits. */
  rateLimits?: Partial<RateLimits> | undefined;
  /** Proxies that are believed about where a request is from; none unless said otherwise. */
  trustedProxies?: readonly string[] | undefined;
  /** Where clients reach the server; where it listens unless said otherwise. */
  publicUrl?: string | undefined;
  /** Longest time in which nothing moves on a connection; 90 s unless stated. */
  stalledMs?: number | undefined;
  /** Whether sandbox platforms may use webhook endpoints on this machine; true unless stated. */
  loopbackWebhooks?: boolean | undefined;
  /** How long a user without credentials waits for a way back; absent: there is none. */
  walletRecoveryMs?: number | undefined;
}

export interface App {
  server: FastifyInstance;
  runtime: Runtime;
  files: Files;
  operations: readonly Operation[];
  keys: SigningKeys;
  worker: Worker;
  deliverer: ReturnType<typeof createDeliverer>;
  openApi(): Promise<unknown>;
  readiness: Readiness;
  /** Takes requests from now on; returns where. */
  listen(at: { host: string; port: number }): Promise<{ port: number; origin: string }>;
  /** Starts the loops; the server listens separately. */
  start(): void;
  /** Compiles every schema, so that no request waits for it. Requests are answered meanwhile. */
  compileSchemas(): Promise<void>;
  /** Finishes what is in progress, cuts what takes too long, and closes the database. */
  stop(): Promise<void>;
}

const ENSURE_HOUSE = `insert into ledger_accounts (id, currency, created_at)
  select id, currency, $3 from unnest($1::text[], $2::text[]) as house(id, currency)
  on conflict (id) do nothing`;

async function ensureHouse(db: Database, now: number): Promise<void> {
  const accounts = houseAccounts(CURRENCIES.map((each) => each.code));
  const columns = [accounts.map((each) => each.id), accounts.map((each) => each.currency)];
  await db.query(ENSURE_HOUSE, [...columns, new Date(now)]);
}

export const webhookContracts = [
  ...transactionWebhooks,
  ...internalAccountWebhooks,
  ...externalAccountWebhooks,
  ...customerWebhooks,
  ...verificationWebhooks,
  ...importWebhooks,
  ...invitationWebhooks,
  ...agentWebhooks,
  ...cardWebhooks,
  ...testWebhooks,
];

/** What the operations are made with. */
export interface Parts {
  connectors: (environment: Environment) => Connectors;
  tokens: Pick<Authenticator, 'drop'>;
  webhooks: WebhookParts;
  files: Files;
  /** What links to pages of this server begin with. */
  origin: () => string;
  note: NonNullable<CardParts['note']>;
}

/** What everything that registers or changes customers is made with. */
const customerPartsOf = ({ connectors }: Pick<Parts, 'connectors'>): CustomerParts => ({
  connectors,
  openWallets: (ctx, customer, accounts) => openWallets(ctx, { connectors }, customer, accounts),
  credentialsTiedTo: tiedCredentials({ connectors }),
});

/** Every operation of the server. */
export const operationsOf = ({
  connectors,
  tokens,
  webhooks,
  files,
  origin,
  note,
}: Parts): Operation[] => [
  ...platformOperations({
    loopbackWebhooks: webhooks.loopbackWebhooks,
    provision: (ctx, currencies) =>
      openPlatformAccounts(ctx, currencies, (environment) => connectors(environment).funding),
  }),
  ...tokenOperations(tokens),
  ...customerOperations(customerPartsOf({ connectors })),
  ...importOperations,
  ...documentOperations({ connectors, files }),
  ...verificationOperations({ connectors }),
  ...kycLinkOperations({ ...customerPartsOf({ connectors }), files, origin }),
  ...contactOperations({ connectors }),
  ...ownerOperations,
  ...invitationOperations({ origin }),
  ...internalAccountOperations,
  ...walletAccountOperations({ connectors }),
  ...walletAuthOperations({ connectors }),
  ...externalAccountOperations({ connectors }),
  ...scaOperations({ connectors, origin }),
  ...ownershipOperations({ connectors, origin }),
  ...discoveryOperations({ connectors }),
  ...receiverOperations({ connectors }),
  ...quoteOperations({ connectors, origin }),
  ...transferOperations({ connectors }),
  ...transferInOperations({ connectors }),
  ...agentOperations({ connectors, origin, word: () => webhooks.naming.word }),
  ...cardOperations({ connectors, origin }),
  ...incomingOperations({ waitingAction: waitingAction({ connectors, origin }) }),
  ...transactionOperations,
  ...webhookOperations(webhooks),
  ...stablecoinOperations({ connectors }),
  ...sandboxSendOperations,
  ...sandboxUmaOperations(connectors),
  ...sandboxCardOperations({ connectors, origin, note }),
  ...sandboxOperations,
];

/** What is done for every kind of job. */
const handlersOf = ({
  connectors,
  webhooks,
  origin,
}: Pick<Parts, 'connectors' | 'webhooks' | 'origin'>) => [
  ...payoutJobs(connectors),
  ...fundingJobs(connectors),
  ...expiryJobs(),
  ...lapseJobs(),
  ...incomingJobs({ connectors, webhooks }),
  ...accountJobs({
    connectors,
    opened: (ctx, accounts) => openWalletsOf(ctx, { connectors }, accounts),
  }),
  ...invitationJobs({ origin }),
  ...nameJobs({ connectors }),
  ...ownershipJobs({ connectors }),
  ...resetJobs(),
  ...verificationJobs({ connectors }),
  ...messageJobs(connectors),
  ...agentJobs(),
  ...stablecoinJobs({ connectors }),
  ...cardJobs({ connectors }),
  ...pullJobs({ connectors }),
];

/** What is found by looking. */
const sweepsOf = (log: Log) => [
  expirySweep(log),
  forgetSweep(),
  triesSweep(),
  lookupSweep(),
  fileSweep(),
  walletSweep(),
  codeSweep(),
  scaSweep(),
  agentSweep(),
  cardSweep(),
];

/** The connectors as set, with what is wrong with their sources in the log. */
const connectorsOf = (
  { connectors, circuits }: Pick<ConnectorSettings, 'circuits'> & Pick<Settings, 'connectors'>,
  { world, vault }: Runtime,
  log: Log,
) =>
  connectorRegistry(world, {
    ...connectors,
    circuits,
    custodyKeys: custodyKeysOf(vault),
    note: (problem) => log.warn({ problem }, 'a connector has a problem'),
  });

/** Hands each issuer the desk that its network's requests are put to. */
function openDesks(runtime: Runtime, parts: CardParts): void {
  for (const environment of ['sandbox', 'production'] as const) {
    const { issuer } = parts.connectors(environment);
    issuer?.attend?.(issuerDesk(runtime, parts, environment));
  }
}

/** The pages of words and at most one button. */
function pagesOf(runtime: Runtime, { connectors }: Pick<Parts, 'connectors'>, log: Log) {
  const note = (problem: string) => log.warn({ problem }, 'a page has a problem');
  const pages = [livenessPage, resetPage, invitationPage, revealPage];
  return pages.map((page) => page(runtime, { connectors, note }));
}

function committerOf({ databaseUrl }: Settings, metrics: Metrics): Committer {
  const committer = createCommitter({
    connect: () => connectLane(databaseUrl),
    elapsed: () => performance.now(),
    onBatch: ({ units, ms, mode }) => metrics.batch(units, ms, mode),
  });
  const waiting = () => committer.stats().waiting;
  metrics.watch('railhead_waiting_change_sets', 'Change sets waiting for a lane.', waiting);
  return committer;
}

const readinessOf = ({ databaseUrl: url }: Settings, committer: Pick<Committer, 'stats'>) =>
  createReadiness({ url, hasLane: () => committer.stats().lanes > 0 });

/** Puts a server together on a migrated database. It neither listens nor works until started. */
export async function compose(
  settings: Settings,
  world: World,
  log: Log,
  watch?: Watch,
): Promise<App> {
  const metrics = createMetrics();
  const naming = namingFor(settings.serviceWord);
  const db = openDatabase({ url: settings.databaseUrl });
  const committer = committerOf(settings, metrics);
  const wake = { events: () => deliverer.wake(), jobs: () => worker.wake() };
  const vault = createVault(world, () => settings.masterKey);
  const runtime: Runtime = { world, db, vault, committer, wake };
  await ensureHouse(db, world.now());
  const keys = await loadSigningKeys(runtime, settings.masterKey);
  // Only now is it known that the master key is the right one.
  await sealOldCustomers(db, vault);
  const circuits = reportedCircuits(world, log, metrics);
  const connectors = connectorsOf({ ...settings, circuits }, runtime, log);
  const storage = storageOf(circuits.world(world, 'storage', STORAGE_FAILURES), settings.files);
  const files = createFiles(runtime, storage);
  const tokens = authenticator(db, world.now);
  const { loopbackWebhooks = true } = settings;
  const webhooks = { keys, naming, metrics, loopbackWebhooks };
  const origin = () => settings.publicUrl ?? listeningOrigin(server) ?? originOf(server);
  const note = (problem: string) => log.warn({ problem }, 'a card payment has a problem');
  const operations = operationsOf({ connectors, tokens, webhooks, files, origin, note });
  const pressure = pressureOn(committer);
  const deliverer = createDeliverer({ world, db, vault, ...pressure, ...webhooks, log });
  const handlers = [
    ...handlersOf({ connectors, webhooks, origin }),
    ...settleJobs(operations.filter(isSigned)),
    ...recoveryJobs({ delayMs: settings.walletRecoveryMs }),
    ...fileJobs({ storage }),
    ...importJobs({ ...customerPartsOf({ connectors }), files, bodyErrors, ...pressure }),
  ];
  const worker = measuredWorker({ runtime, handlers, sweeps: sweepsOf(log), log, metrics });
  const contracts = operations.map((each) => each.contract);
  const openApi = () => runInSteps(openApiSteps(contracts, webhookContracts, naming), nextTurn);
  const { rateLimits, trustedProxies, publicUrl, stalledMs } = settings;
  const limiter = rateLimits && createLimiter(rateLimits, world.now, metrics.limited);
  const bearers = linkBearers(runtime);
  const asked = { ...tokens, bearers, agents: agentBearers(runtime), limiter };
  const noted = { naming, log, metrics, watch };
  const network = { trustedProxies, publicUrl, stalledMs };
  const server = createServer({ runtime, files, operations, ...asked, ...noted, ...network });
  const readiness = readinessOf(settings, committer);
  addSite(server, { ready: () => readiness.check(), metrics, openApi });
  openDesks(runtime, { connectors, origin, note });
  addPages(server, pagesOf(runtime, { connectors }, log), limiter);
  addHostedApp(server, verificationPage(runtime), { bearers, limiter, log });
  return {
    server,
    runtime,
    files,
    operations,
    keys,
    worker,
    deliverer,
    openApi,
    readiness,
    listen: (at) => listenOn(server, at),
    start() {
      worker.start();
      deliverer.start();
    },
    compileSchemas: () => runInSteps(compileSchemas(contracts), nextTurn),
    stop: () => stopParts({ readiness, server, worker, deliverer, committer, db }),
  };
}
