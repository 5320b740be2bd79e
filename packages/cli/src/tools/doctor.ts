// `doctor`: checks that the program, the server and the webhooks of the platform work, and prints a
// remedy for each problem.
import { Command } from 'commander';
import { API_DATE, OPERATION_IDS } from '../api/metadata.ts';
import { isOfApi } from '../errors.ts';
import { EXIT, Finished } from '../exit.ts';
import { withExamples } from '../help.ts';
import { isObject, shortText } from '../output/values.ts';
import { type Target, targetOf } from '../profile/resolve.ts';
import type { Client } from '../sdk.ts';
import { outputOf, sessionOf } from '../session.ts';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly text: string;
  readonly hint?: string;
}

const MAX_SKEW_MS = 30_000;
const TIMEOUT_MS = 10_000;

const ok = (name: string, text: string): Check => ({ name, status: 'ok', text });
const warning = (name: string, text: string, hint: string): Check => ({
  name,
  status: 'warning',
  text,
  hint,
});
const failedCheck = (name: string, text: string, hint: string): Check => ({
  name,
  status: 'failed',
  text,
  hint,
});

interface ProbeResult {
  readonly response: Response;
  readonly body: unknown;
}

async function probe(url: string, path: string): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL(path, url), {
    signal,
    headers: { accept: 'application/json' },
  });
  return { response, body: await response.json().catch(() => undefined) };
}

function checkClockSkew({ response }: ProbeResult): Check {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(date)) return ok('Clock of this machine', 'not comparable');
  // The header has whole seconds.
  const difference = Date.now() - date;
  const seconds = Math.round(difference / 1_000);
  if (Math.abs(difference) < MAX_SKEW_MS)
    return ok(
      'Clock of this machine',
      `differs from the server by less than ${MAX_SKEW_MS / 1_000} s`,
    );
  return warning(
    'Clock of this machine',
    `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the server`,
    'Synchronize the clock. Webhook signatures older than five minutes are rejected.',
  );
}

/** Operations of this program that the server does not have. */
function missingOperationsIn(document: unknown): string[] {
  if (!isObject(document) || !isObject(document.paths)) return [];
  const operationIds = new Set(
    Object.values(document.paths)
      .filter(isObject)
      .flatMap((methods) => Object.values(methods).filter(isObject))
      .map(({ operationId }) => operationId),
  );
  return OPERATION_IDS.filter((id) => !operationIds.has(id));
}

async function checkVersion(url: string): Promise<Check> {
  const name = 'Version of the API';
  const { body } = await probe(url, '/openapi.json');
  const date = isObject(body) && isObject(body.info) ? String(body.info.version) : undefined;
  if (date === undefined)
    return warning(name, 'unknown', 'The URL may not belong to a Railhead server. Check the URL.');
  if (date !== API_DATE) {
    const hint = 'Install the version of railhead-cli that matches the server.';
    return failedCheck(name, `the server has ${date}, this program has ${API_DATE}`, hint);
  }
  const urlVersion = /\/(\d{4}-\d{2}-\d{2})(\/|$)/.exec(new URL(url).pathname)?.[1];
  if (urlVersion !== undefined && urlVersion !== date) {
    const hint = `Use the URL ${url.replace(urlVersion, date)}.`;
    return failedCheck(name, `the server has ${date}, the URL names ${urlVersion}`, hint);
  }
  const missingOperations = missingOperationsIn(body);
  if (missingOperations.length === 0) return ok(name, date);
  const missingExamples = missingOperations.slice(0, 3).join(', ');
  const suffix = missingOperations.length > 3 ? ` and ${missingOperations.length - 3} more` : '';
  return warning(
    name,
    `${date}, an older server without ${missingExamples}${suffix}`,
    'The commands of these operations fail. Upgrade the server.',
  );
}

const REQUIRED_PERMISSIONS = ['VIEW', 'TRANSACT', 'MANAGE'] as const;

async function checkPermissions(client: Client, { clientId }: Target): Promise<Check> {
  const name = 'Permissions';
  for await (const token of client.tokens.listTokens({ limit: 100 })) {
    if (token.clientId !== clientId) continue;
    const tokenPermissions: readonly string[] = token.permissions;
    const missingPermissions = REQUIRED_PERMISSIONS.filter(
      (each) => !tokenPermissions.includes(each),
    );
    const text = tokenPermissions.join(', ');
    if (missingPermissions.length === 0) return ok(name, `${text} (token ${token.name})`);
    const hint =
      'Some commands need these permissions. Create a token with `railhead tokens create`.';
    return warning(name, `${text}, without ${missingPermissions.join(', ')}`, hint);
  }
  return warning(
    name,
    'unknown',
    'The token was not found in the list of tokens. Log in with a token of this platform.',
  );
}

function aheadText(minutes: number): string {
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

async function checkSandboxClock(client: Client): Promise<Check> {
  const name = 'Clock of the platform';
  try {
    const { currentTime, frozen } = await client.sandbox.getSandboxClock();
    const minutesAhead = Math.round((Date.parse(currentTime) - Date.now()) / 60_000);
    if (!frozen && Math.abs(minutesAhead) < 1) return ok(name, 'real time');
    const text = `${shortText(currentTime)} UTC, ${frozen ? 'frozen' : `${aheadText(minutesAhead)} ahead`}`;
    return ok(name, text);
  } catch (error) {
    // The reason says that the platform is not a sandbox, or that the token lacks a permission.
    if (isOfApi(error) && error.status === 403) return ok(name, error.reason);
    throw error;
  }
}

async function checkWebhooks(client: Client): Promise<Check[]> {
  const name = 'Webhooks';
  const { data } = await client.webhookEndpoints.listWebhookEndpoints();
  const failingEndpoints = data.filter(
    ({ status, failingSince }) => status !== 'ENABLED' || failingSince,
  );
  if (failingEndpoints.length === 0) return [ok(name, `${data.length} endpoints, none failing`)];
  return failingEndpoints.map(({ id, url = 'pulled', status, failingSince }) => {
    const text = failingSince
      ? `${url} has failed since ${shortText(failingSince)}`
      : `${url} is ${status}`;
    return warning(name, text, `railhead deliveries --failed --endpoint ${id}`);
  });
}

const messageOf = (error: unknown): string => {
  const { reason, message, cause } = error as { reason?: string; message: string; cause?: Error };
  return reason ?? (cause?.message || message);
};

/** The result of a check, or its error as a failed check. */
async function runCheck(
  name: string,
  hint: string,
  check: () => Promise<Check | Check[]>,
): Promise<Check[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [failedCheck(name, messageOf(error), hint)];
  }
}

async function* runChecks(target: Target, client: Client): AsyncGenerator<Check> {
  yield ok('Configuration', `${target.url} (${target.source})`);
  let probeResult: ProbeResult | undefined;
  const startHint = 'Start a local server with `npm start`, or correct the URL: `railhead login`.';
  yield* await runCheck('Server', startHint, async () => {
    const startedAt = performance.now();
    probeResult = await probe(target.url, '/readyz');
    const ms = Math.round(performance.now() - startedAt);
    if (probeResult.response.ok) return ok('Server', `ready, replied in ${ms} ms`);
    return failedCheck(
      'Server',
      `replies with status ${probeResult.response.status}`,
      'Repeat the check later, or read the log of the server.',
    );
  });
  if (!probeResult) return;
  yield checkClockSkew(probeResult);
  const versions = await runCheck('Version of the API', 'Check the URL.', () =>
    checkVersion(target.url),
  );
  yield* versions;
  // Requests of another version are rejected, regardless of the credentials.
  if (versions.some(({ status }) => status === 'failed')) return;
  const credentials = await runCheck('Credentials', 'Log in again: `railhead login`.', async () => {
    const { id } = await client.config.getPlatformConfig();
    return ok('Credentials', `accepted for ${id}`);
  });
  yield* credentials;
  if (credentials.some(({ status }) => status === 'failed')) return;
  const hint = 'The token may lack VIEW. Log in with a token that has this permission.';
  yield* await runCheck('Permissions', hint, () => checkPermissions(client, target));
  yield* await runCheck('Clock of the platform', hint, () => checkSandboxClock(client));
  yield* await runCheck('Webhooks', hint, () => checkWebhooks(client));
}

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('Check the server, the credentials and the webhooks.')
    .description(
      'Checks reachability, the version of the API, credentials, permissions, clocks and failing ' +
        'webhooks. The exit code is 1 if a check fails.',
    );
  withExamples(command, 'railhead doctor', 'railhead doctor --profile staging');
  return command.action(async () => {
    const output = outputOf(command);
    const target = targetOf(command.optsWithGlobals());
    const { client } = await sessionOf(command);
    const { green, yellow, red, dim } = output.styles;
    const marks = { ok: green('✓'), warning: yellow('!'), failed: red('✗') };
    const data: Check[] = [];
    for await (const check of runChecks(target, client)) {
      data.push(check);
      if (output.isJson) continue;
      output.line(`${marks[check.status]} ${check.name.padEnd(22)} ${check.text}`);
      if (check.hint) output.line(dim(`  ${check.hint}`));
    }
    await output.result({ data }, () => []);
    if (data.some(({ status }) => status === 'failed')) throw new Finished(EXIT.failed);
  });
}
