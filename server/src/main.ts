// The process: settings, database, server, and an orderly shutdown. Output is for the person who
// started the command; afterwards everything is logged.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { firstStart } from './bootstrap.ts';
import { type App, compose } from './compose.ts';
import { type Config, readConfig } from './config.ts';
import { connectorRegistry } from './connectors/registry.ts';
import { listenProblem, probeListen } from './http/connection/listen.ts';
import { BASE_PATH } from './http/server.ts';
import type { Effects } from './kernel/effects.ts';
import { releaseStartMemory } from './runtime/config/release-memory.ts';
import { systemEffects } from './runtime/config/system-effects.ts';
import { versionLine } from './runtime/config/version.ts';
import { migrate } from './runtime/db/migrate.ts';
import { createLog, lineWriter } from './runtime/observability/log.ts';
import { type Embedded, startEmbedded } from './runtime/postgres/embedded.ts';
import { masterKeyIn } from './runtime/security/master-key.ts';
import { createSample } from './sample.ts';
import { endOnSignals } from './shutdown.ts';

interface CredentialsFile {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  webhookPublicKey: string;
  docsUrl: string;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

function stored(file: string): CredentialsFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CredentialsFile;
  } catch {
    return undefined;
  }
}

/** Writes the first platform's credentials to a file that only its owner can read. */
async function credentials(app: App, config: Config, origin: string) {
  const file = path.join(config.dataDir, 'credentials.json');
  const before = stored(file);
  const wanted = config.client
    ? { clientId: config.client.id, clientSecret: config.client.secret }
    : {};
  const connectors = connectorRegistry(app.runtime.effects, config.connectors);
  const first = await firstStart(app.runtime, (each) => connectors(each).funding, wanted);
  const known = before?.clientId === first.clientId ? before.clientSecret : '';
  const written: CredentialsFile = {
    baseUrl: `${origin}${BASE_PATH}`,
    clientId: first.clientId,
    clientSecret: first.clientSecret ?? known,
    webhookPublicKey: app.keys.sandbox.publicKeyPem,
    docsUrl: `${origin}/docs`,
  };
  writeFileSync(file, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
  return { written, created: first.created };
}

function banner(config: Config, its: CredentialsFile): string {
  const file = path.join(config.dataDir, 'credentials.json');
  const secret = its.clientSecret || '(not stored; it was shown when the token was created)';
  return [
    '',
    'Railhead is running.',
    '',
    `  Base URL       ${its.baseUrl}`,
    `  Client id      ${its.clientId}`,
    `  Client secret  ${secret}`,
    `  Docs           ${its.docsUrl}`,
    `  Credentials    ${file}`,
    '',
    '  Public key that webhooks are verified with:',
    ...its.webhookPublicKey
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    '  Try it:',
    `  curl -u '${its.clientId}:${its.clientSecret}' ${its.baseUrl}/platform/internal-accounts`,
    '',
  ].join('\n');
}

async function database(
  config: Config,
  effects: Effects,
): Promise<{ url: string; embedded?: Embedded }> {
  if (config.databaseUrl) return { url: config.databaseUrl };
  say('Starting the database …');
  const embedded = await startEmbedded({ dir: config.dataDir, random: (n) => effects.random(n) });
  return { url: embedded.url, embedded };
}

async function serve(config: Config): Promise<void> {
  await probeListen(config);
  const effects = systemEffects();
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const out = lineWriter(process.stdout.fd);
  const log = createLog(effects, config.logLevel, out.write);
  process.on('exit', () => {
    log.flush();
    out.flush();
  });
  const masterKey = config.masterKey ?? masterKeyIn(config.dataDir, effects);
  const { url, embedded } = await database(config, effects);
  let isEnding = () => false;
  try {
    await migrate(url, effects.now);
    const settings = { ...config, databaseUrl: url, masterKey };
    const app = await compose(settings, effects, log);
    isEnding = endOnSignals(async () => {
      await app.stop();
      await embedded?.stop();
    }, log);
    embedded?.died.then((why) => {
      log.error({ why }, 'the database ended');
      process.exit(1);
    });
    const { port, origin } = await app.listen(config);
    app.start();
    const { written, created } = await credentials(app, config, origin);
    app.readiness.started();
    say(banner(config, written));
    log.info({ port, host: config.host }, 'listening');
    if (created && config.sampleCustomer) await createSample(app.server, written);
    await app.compileSchemas();
    await releaseStartMemory();
  } catch (error) {
    // A start that a signal interrupts is no failure; the stop is in progress.
    if (isEnding()) return;
    await embedded?.stop();
    throw error;
  }
}

/** Runs the server with these flags. Invalid settings: one line each and exit code 2. */
export async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--version')) return void process.stdout.write(`${versionLine()}\n`);
  const result = readConfig(process.env, argv);
  if ('help' in result) return void process.stdout.write(`${result.help}\n`);
  if ('errors' in result) {
    for (const line of result.errors) say(line);
    process.exit(2);
  }
  try {
    await serve(result.config);
  } catch (error) {
    const problem = listenProblem(error, result.config);
    say(problem ?? (error instanceof Error ? error.message : String(error)));
    if (result.config.logLevel === 'debug' && error instanceof Error) say(error.stack ?? '');
    process.exit(1);
  }
}
