// `logs`: lists the requests of the platform with the reasons of failures.
import { Command } from 'commander';
import { withExamples } from '../help.ts';
import { interruptionSignal, pause } from '../interrupt.ts';
import type { Output } from '../output/output.ts';
import { type Column, columnOf } from '../output/table.ts';
import { isObject, shortText, timeOfDay } from '../output/values.ts';
import { isRetryable } from '../retry.ts';
import type { Output as Reply } from '../sdk.ts';
import { flagsOf, type Session, sessionOf } from '../session.ts';

type RecordedRequest = Reply<'listRequests'>['data'][number];
type Filter = Parameters<Session['client']['requests']['listRequests']>[0];

const POLL_MS = 1_000;
/** A record of another server process can appear this long after its request. */
const LATE_MS = 3_000;
/** The header `date` has whole seconds. */
const CLOCK_PRECISION_MS = 2_000;
const PAGE = 100;
const MAX_SCANNED = 5_000;

interface LogFlags {
  readonly failed?: boolean;
  readonly operation?: string;
  readonly resource?: string;
  readonly number: string;
}

const isFailed = ({ status }: RecordedRequest) => status >= 400;

/** The polling of this command is not shown. */
const isOwn = ({ operationId }: RecordedRequest) => operationId === 'listRequests';

function isShown(each: RecordedRequest, { failed, operation }: LogFlags): boolean {
  if (isOwn(each) && operation !== 'listRequests') return false;
  return !failed || isFailed(each);
}

const filterOf = ({ operation, resource }: LogFlags): NonNullable<Filter> => ({
  ...(operation !== undefined && { operationId: operation as 'createQuote' }),
  ...(resource !== undefined && { resourceId: resource }),
});

const statusText = (each: RecordedRequest, { styles }: Output) =>
  isFailed(each) ? styles.red(String(each.status)) : styles.green(String(each.status));

function lineOf(each: RecordedRequest, output: Output): string {
  const { dim } = output.styles;
  const parts = [
    dim(timeOfDay(each.createdAt)),
    statusText(each, output),
    `${each.method} ${each.path}`,
    dim(`${Math.round(each.durationMs)} ms`),
    ...(each.replayed ? [dim('replayed')] : []),
  ];
  if (!isFailed(each)) return parts.join('  ');
  const { errorCode = '', error } = each;
  const errorParts = [`${errorCode}: ${error?.reason ?? ''}`, dim(`railhead logs get ${each.id}`)];
  return [parts.join('  '), ...errorParts].join(`\n${' '.repeat(10)}`);
}

/** Filters of the calls. A call can filter by one status class only. */
const filtersOf = (flags: LogFlags): NonNullable<Filter>[] =>
  flags.failed
    ? (['4xx', '5xx'] as const).map((statusClass) => ({ ...filterOf(flags), statusClass }))
    : [filterOf(flags)];

const byTime = (a: RecordedRequest, b: RecordedRequest) => (a.createdAt < b.createdAt ? -1 : 1);

/** The latest requests in chronological order. */
async function fetchLatest({ client }: Session, flags: LogFlags): Promise<RecordedRequest[]> {
  const requests: RecordedRequest[] = [];
  const count = Number(flags.number) || 0;
  if (count <= 0) return requests;
  for (const filter of filtersOf(flags)) {
    let [matchCount, scannedCount] = [0, 0];
    for await (const request of client.requests.listRequests({ ...filter, limit: PAGE })) {
      if (isShown(request, flags)) matchCount = requests.push(request) && matchCount + 1;
      // The polling of an earlier `logs tail` can fill many pages.
      if (matchCount >= count || ++scannedCount >= MAX_SCANNED) break;
    }
  }
  return requests.sort(byTime).slice(-count);
}

/** Requests after a time that were not shown yet. */
async function fetchNewer(
  { client }: Session,
  flags: LogFlags,
  createdAfter: string,
  shownIds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<RecordedRequest[]> {
  const newRequests: RecordedRequest[] = [];
  for (const filter of filtersOf(flags)) {
    const options = { ...filter, createdAfter, sortOrder: 'asc', limit: PAGE } as const;
    for await (const request of client.requests.listRequests(options, { signal })) {
      if (!shownIds.has(request.id)) newRequests.push(request);
    }
  }
  return newRequests.sort(byTime);
}

/**
 * The time at which this program started, by the clock of the server. Earlier requests are not followed.
 * Clocks whose difference is below the precision of the header `date` count as equal.
 */
async function startTime({ client }: Session, signal: AbortSignal): Promise<string> {
  const { headers } = await client.requests.listRequests({ limit: 1 }, { signal }).withResponse();
  const difference = Date.parse(headers.get('date') ?? '') - Date.now();
  const offset = Math.abs(difference) > CLOCK_PRECISION_MS ? difference : 0;
  return new Date(performance.timeOrigin + offset).toISOString();
}

/** Yields the latest requests, then further requests when they are recorded. */
async function* tail(session: Session, flags: LogFlags, signal: AbortSignal) {
  const startedAt = await startTime(session, signal);
  const latestRequests = await fetchLatest(session, flags);
  yield* latestRequests;
  const shownIds = new Set(latestRequests.map(({ id }) => id));
  let newestTime = startedAt;
  while (!signal.aborted) {
    await pause(POLL_MS, signal);
    const afterMs = Math.max(Date.parse(newestTime) - LATE_MS, Date.parse(startedAt));
    const createdAfter = new Date(afterMs).toISOString();
    let newRequests: RecordedRequest[] = [];
    try {
      newRequests = await fetchNewer(session, flags, createdAfter, shownIds, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isRetryable(error)) throw error;
    }
    for (const request of newRequests) {
      shownIds.add(request.id);
      if (request.createdAt > newestTime) newestTime = request.createdAt;
      if (isShown(request, flags)) yield request;
    }
  }
}

function addFilters(command: Command, number: string): Command {
  return command
    .option('--failed', 'Only requests that failed.')
    .option('--operation <id>', 'Only requests of an operation, such as createQuote.')
    .option('--resource <id>', 'Only requests about a resource.')
    .option('-n, --number <count>', `Number of earlier requests. Default: ${number}.`, number);
}

function tailCommand(): Command {
  const command = new Command('tail')
    .summary('Show requests as they arrive.')
    .description('Shows the latest requests of the platform, then new requests until Ctrl+C.');
  addFilters(command, '10');
  withExamples(
    command,
    'railhead logs tail',
    'railhead logs tail --failed',
    'railhead logs tail --operation createQuote',
  );
  return command.action(async () => {
    const flags = flagsOf<LogFlags>(command);
    const session = await sessionOf(command);
    const { output } = session;
    const signal = interruptionSignal();
    for await (const request of tail(session, flags, signal)) {
      await output.streamed(request, () => lineOf(request, output));
    }
  });
}

function errorLines({ error }: Reply<'getRequestById'>): string[] {
  const errors = error?.details?.errors;
  if (!Array.isArray(errors)) return [];
  return errors.filter(isObject).map(({ field, message }) => `  ${field || 'body'}: ${message}`);
}

const bodyLines = (title: string, body: { content?: unknown } | undefined) =>
  body?.content === undefined ? [] : ['', title, JSON.stringify(body.content, null, 2)];

function getCommand(): Command {
  const command = new Command('get')
    .summary('Explain one request.')
    .description(
      'Shows a request: its error with every rejected field, and its bodies with texts masked. The ID ' +
        'is the header X-Request-Id of the reply. Errors of this program print the ID.',
    )
    .argument('<request>', 'ID of a request.');
  withExamples(command, 'railhead logs get 01a21758-15bf-71ea-aa5b-996c3b49c144');
  return command.action(async (requestId: string) => {
    const { output, client } = await sessionOf(command);
    const request = await client.requests.getRequestById({ requestId });
    const { requestBody, responseBody, error, ...otherFields } = request;
    await output.result(request, () => [
      ...output.details({ ...otherFields, ...(error && { reason: error.reason }) }),
      ...errorLines(request),
      ...bodyLines('Request body', requestBody),
      ...bodyLines('Reply', responseBody),
    ]);
  });
}

const COLUMNS = ['id', 'status', 'operationId', 'errorCode', 'createdAt', 'durationMs'] as const;

const columns = (items: readonly RecordedRequest[]): Column[] =>
  COLUMNS.map((name) =>
    columnOf(
      name === 'durationMs' ? 'ms' : name,
      items.map((each) =>
        name === 'durationMs' ? String(Math.round(each[name])) : (shortText(each[name]) ?? ''),
      ),
    ),
  );

export function logsCommand(): Command {
  const command = new Command('logs')
    .summary('Show the requests of the platform.')
    .description(
      'Shows the latest requests of the platform. Requests are retained for 30 days unless the ' +
        'operator has set another period.',
    );
  addFilters(command, '20');
  command.addCommand(tailCommand()).addCommand(getCommand());
  withExamples(
    command,
    'railhead logs --failed',
    'railhead logs tail --failed',
    'railhead logs get REQUEST_ID',
  );
  return command.action(async (flags: LogFlags) => {
    const session = await sessionOf(command);
    const data = await fetchLatest(session, flags);
    const emptyLines = ['No requests.'];
    await session.output.result({ data }, () =>
      data.length === 0 ? emptyLines : session.output.table(columns(data)),
    );
  });
}
