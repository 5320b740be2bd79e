// A server process: its settings, its database unless a supervisor has opened it, the server, and
// a graceful shutdown.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { firstStart } from './bootstrap.ts';
import { type App, compose } from './compose.ts';
import type { Config } from './config.ts';
import { connectorRegistry } from './connectors/registry.ts';
import { enrollment } from './features/staff/users/index.ts';
import { probeListen } from './http/connection/listen.ts';
import { BASE_PATH } from './http/server.ts';
import type { SupervisorLink } from './processes/link.ts';
import { releaseIdleMemory } from './runtime/config/release-memory.ts';
import { systemEffects } from './runtime/config/system-effects.ts';
import { migrate } from './runtime/db/migrate.ts';
import type { Log } from './runtime/observability/log.ts';
import {
  configuredMasterKey,
  masterKeyFile,
  readMasterKey,
} from './runtime/security/master-key.ts';
import { masterKeyFor } from './runtime/security/stored-keys.ts';
import { createSample } from './sample/customer.ts';
import { createShutdown, onSignals } from './shutdown.ts';
import {
  banner,
  type CredentialsFile,
  credentialsPath,
  databaseOf,
  openLog,
  report,
  watchDatabase,
} from './startup.ts';

/** Maximum time for which a replaced process waits for one more request of each connection. */
const HANDOVER_MS = 5_000;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parseCredentials(text: string | undefined): CredentialsFile | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as CredentialsFile);
  } catch {
    return undefined;
  }
}

const textOf = (content: CredentialsFile) => `${JSON.stringify(content, null, 2)}\n`;

const write = (file: string, content: CredentialsFile) =>
  writeFileSync(file, textOf(content), { mode: 0o600 });

/**
 * Creates the first platform if there is none, and writes its credentials to a file that only its owner can
 * read.
 */
async function storeCredentials(app: App, config: Config, origin: string) {
  const file = credentialsPath(config);
  const previousText = read(file);
  const storedCredentials = parseCredentials(previousText);
  const requestedCredentials = config.client
    ? { clientId: config.client.id, clientSecret: config.client.secret }
    : {};
  const connectors = connectorRegistry(app.runtime.effects, config.connectors);
  const firstPlatform = await firstStart(
    app.runtime,
    (each) => connectors(each).funding,
    requestedCredentials,
  );
  const storedSecret =
    storedCredentials?.clientId === firstPlatform.clientId ? storedCredentials.clientSecret : '';
  const fileContent: CredentialsFile = {
    baseUrl: `${origin}${BASE_PATH}`,
    clientId: firstPlatform.clientId,
    clientSecret: firstPlatform.clientSecret ?? storedSecret,
    webhookPublicKey: app.keys.sandbox.publicKeyPem,
    docsUrl: `${origin}/docs`,
  };
  if (textOf(fileContent) !== previousText) write(file, fileContent);
  return { credentials: fileContent, isCreated: firstPlatform.isCreated };
}

/** Writes the current signing key to the credentials file, whose content is `fileContent`. */
function updateKey(app: App, config: Config, fileContent: CredentialsFile | undefined): void {
  if (!fileContent) return;
  fileContent.webhookPublicKey = app.keys.sandbox.publicKeyPem;
  write(credentialsPath(config), fileContent);
}

/**
 * Stops the process on signals and, below a supervisor, when it is replaced. Returns the function that
 * reads whether the shutdown has started.
 */
function shutDownOn(
  stop: () => Promise<void>,
  app: App,
  { drainMs }: Config,
  log: Log,
  link: SupervisorLink | undefined,
): () => boolean {
  const shutdown = createShutdown(stop, log);
  const drain = () => {
    app.readiness.stop();
    return app.drain({ ms: drainMs, accepts: true });
  };
  const onSignal = (signal: string) => shutdown.start(signal, drainMs > 0 ? drain : undefined);
  onSignals(link ? ['SIGTERM'] : ['SIGTERM', 'SIGINT', 'SIGHUP'], onSignal);
  // A terminal sends these signals to every process. The supervisor handles them.
  if (link) onSignals(['SIGINT', 'SIGHUP'], () => undefined);
  link?.onReplace(() =>
    shutdown.start('replaced', () => app.drain({ ms: HANDOVER_MS, accepts: false })),
  );
  return shutdown.isShuttingDown;
}

/**
 * URL at which the first administrator enrolls. Undefined without the operator API, or after an operator
 * user has enrolled.
 */
async function enrollUrlOf(app: App, config: Config, port: number): Promise<string | undefined> {
  const { roles, operatorApi, operatorUrl, publicUrl } = config;
  if (!roles.includes('api') || operatorApi === 'off') return undefined;
  const link = await enrollment.firstAdministratorLink(app.runtime);
  if (!link) return undefined;
  const localPort = operatorApi === 'on' ? port : operatorApi;
  // Passkeys need a host name instead of an IP address.
  const base = operatorUrl ?? publicUrl ?? `http://localhost:${localPort}`;
  return `${base}/operator/enroll#${link.secret}`;
}

async function start(app: App, config: Config, log: Log, link?: SupervisorLink): Promise<void> {
  const { port, origin } = await app.listen(config);
  let fileContent: CredentialsFile | undefined;
  app.start(() => updateKey(app, config, fileContent));
  const firstPlatform = config.roles.includes('api')
    ? await storeCredentials(app, config, origin)
    : undefined;
  fileContent = firstPlatform?.credentials;
  app.readiness.markStarted();
  const enrollUrl = await enrollUrlOf(app, config, port);
  const serving = { origin, credentials: firstPlatform?.credentials, enrollUrl };
  if (link) link.send({ type: 'serving', serving });
  else report(banner(config, serving));
  log.info({ port, host: config.host, roles: config.roles }, 'listening');
  if (firstPlatform?.isCreated && config.sampleCustomer) {
    // The creation can fail because of concurrent requests of a client, such as a reset.
    await createSample(app.server, firstPlatform.credentials).catch((err: unknown) =>
      log.warn({ err }, 'the sample customer is incomplete'),
    );
  }
  await app.compileSchemas();
  link?.send({ type: 'ready' });
  releaseIdleMemory();
}

/** Runs the server with these settings. A supervisor provides the port and the database. */
export async function serve(input: Config, link?: SupervisorLink): Promise<void> {
  const config = link ? { ...input, port: link.port, databaseUrl: link.databaseUrl } : input;
  if (!link) await probeListen(config);
  const effects = systemEffects();
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const log = openLog(effects, config, link?.number);
  const configuredKey = configuredMasterKey(config) ?? readMasterKey(masterKeyFile(config.dataDir));
  const { url, embedded } = await databaseOf(config, effects);
  let isShuttingDown = () => false;
  try {
    const masterKey = await masterKeyFor(url, configuredKey, config.dataDir, effects);
    await migrate(url, effects.now);
    const settings = { ...config, databaseUrl: url, masterKey, process: link };
    const app = await compose(settings, effects, log);
    const stop = async () => {
      await app.stop();
      await embedded?.stop();
    };
    isShuttingDown = shutDownOn(stop, app, config, log, link);
    watchDatabase(embedded, log);
    await start(app, config, log, link);
  } catch (error) {
    // After a signal the error is a consequence of the shutdown in progress.
    if (isShuttingDown()) return;
    await embedded?.stop();
    throw error;
  }
}
