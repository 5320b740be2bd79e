// Exchange rates of production without a connected market: from an HTTP service, or from a file. A
// table that is older than the setting allows, or dated more than five minutes in the future, is
// not used.
import { readFileSync, statSync } from 'node:fs';
import {
  midRate,
  type ParsedTable,
  type RateTable,
  tableOfCsv,
  tableOfJson,
} from '../../catalog/currencies/rate-table.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import type { RatePort } from '../ports/index.ts';

interface RateOptions {
  /** Maximum age of a table. */
  maxAgeMs: number;
  /**
   * Receives a description of a problem with the source, without its address, which may contain a
   * secret.
   */
  reportProblem(problem: string): void;
}

const REFRESH_INTERVAL_MS = 60_000;
const RETRY_AFTER_MS = 5_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;
const POLL_INTERVAL_MS = 1_000;
/** Tolerance for clock differences. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * A rate of a recent table, or undefined if the table is too old, in the future or without a time,
 * or lacks a currency.
 */
function recentRate(
  table: RateTable | undefined,
  from: string,
  to: string,
  now: Time,
  maxAgeMs: number,
) {
  const publishedAt = table?.at;
  if (
    !table ||
    publishedAt === undefined ||
    now - publishedAt > maxAgeMs ||
    publishedAt - now > CLOCK_TOLERANCE_MS
  )
    return undefined;
  const rate = midRate(table, from, to);
  return rate && { rate, at: publishedAt };
}

/**
 * Rates from a service that returns a table as JSON. The service is called at most once a minute,
 * and after a failure at most every five seconds. While the service is unavailable, its last table
 * is used until the table is too old.
 */
export function httpRates(effects: Effects, url: string, options: RateOptions): RatePort {
  const { maxAgeMs, reportProblem } = options;
  let table: RateTable | undefined;
  let nextRequestAt = 0;
  let pendingFetch: Promise<void> | undefined;

  async function request(): Promise<string | undefined> {
    const reply = await effects.http({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      // The operator configured the address, which may be in a private network.
      publicOnly: false,
    });
    if (reply.status !== 200) return `responded with ${reply.status}`;
    const parsedTable = tableOfJson(reply.body, false);
    if ('problems' in parsedTable)
      return `returned an invalid table: ${parsedTable.problems.join('; ')}`;
    if (parsedTable.table.at === undefined) return 'returned a table without a time';
    table = parsedTable.table;
    return undefined;
  }

  async function renew(): Promise<void> {
    const problem = await request().catch(() => 'does not respond');
    if (problem) reportProblem(`The rate service ${problem}.`);
    nextRequestAt = effects.now() + (problem ? RETRY_AFTER_MS : REFRESH_INTERVAL_MS);
    pendingFetch = undefined;
  }

  return {
    async rate(from, to) {
      if (effects.now() >= nextRequestAt) {
        pendingFetch ??= renew();
        await pendingFetch;
      }
      return recentRate(table, from, to, effects.now(), maxAgeMs);
    },
  };
}

function parse(file: string, text: string): ParsedTable {
  return file.toLowerCase().endsWith('.csv') ? tableOfCsv(text, true) : tableOfJson(text, true);
}

/** The table of a file, with the time of the file if it has none. Throws with all problems. */
function readTable(file: string): RateTable {
  const modifiedAt = statSync(file).mtimeMs;
  const parsedTable = parse(file, readFileSync(file, 'utf8'));
  if ('problems' in parsedTable) {
    throw new Error(`The rates in ${file} cannot be used: ${parsedTable.problems.join('; ')}.`);
  }
  return { ...parsedTable.table, at: parsedTable.table.at ?? modifiedAt };
}

/**
 * Rates from a file, JSON or, by its name, CSV. A changed file is read again. An invalid change is
 * logged, and the previous table is used until that table is too old. Throws if the file is invalid
 * at the start.
 */
export function fileRates(effects: Effects, file: string, options: RateOptions): RatePort {
  const stampOf = () => {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  };
  let stamp = stampOf();
  let table = readTable(file);
  let nextPollAt = effects.now() + POLL_INTERVAL_MS;

  function poll(): void {
    nextPollAt = effects.now() + POLL_INTERVAL_MS;
    try {
      const currentStamp = stampOf();
      if (currentStamp === stamp) return;
      stamp = currentStamp;
      table = readTable(file);
    } catch (error) {
      options.reportProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return {
    async rate(from, to) {
      if (effects.now() >= nextPollAt) poll();
      return recentRate(table, from, to, effects.now(), options.maxAgeMs);
    },
  };
}
