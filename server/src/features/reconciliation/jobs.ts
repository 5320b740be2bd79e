// Requests the statement of each day after its end in the time zone of the provider, and reconciles
// the day. While the provider has no statement, the job fails. It is attempted at most
// `OUTAGE_ATTEMPTS` times.

import { Fault } from '../../kernel/fault.ts';
import { OUTAGE_ATTEMPTS } from '../../runtime/jobs/job-failures.ts';
import { type JobHandler, jobHandler, type Sweep } from '../../runtime/jobs/jobs.ts';
import type { Log } from '../../runtime/observability/log.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import type { Provider, ProviderDirectory } from '../providers/index.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { addDays, dayOf } from './days.ts';
import { type NewDifferences, reconcileDay } from './reconcile.ts';
import { type Source, sourceOf } from './sources.ts';
import { FETCH_STATEMENT, fetchStatement, RECONCILE_DAY } from './statements.ts';
import { type DayKey, statementSources } from './store.ts';

export interface ReconciliationDeps {
  directory: ProviderDirectory;
  log: Pick<Log, 'warn'>;
}

const SWEEP_INTERVAL_MS = 60_000;
/** Maximum number of past days whose statements are requested after a downtime. */
const MAX_DAYS = 31;

function providerIn(directory: ProviderDirectory, providerId: string): Provider {
  const provider = directory.current().providers.get(providerId);
  if (!provider) throw new Fault('NOT_FOUND', 'Provider not found.');
  return provider;
}

/** Runs work of the same key sequentially. */
function createKeyedQueue() {
  const lastRuns = new Map<string, Promise<unknown>>();
  return async <R>(key: string, work: () => Promise<R>): Promise<R> => {
    const result = (lastRuns.get(key) ?? Promise.resolve()).then(work);
    const completion = result.catch(() => undefined);
    lastRuns.set(key, completion);
    try {
      return await result;
    } finally {
      if (lastRuns.get(key) === completion) lastRuns.delete(key);
    }
  };
}

const runInOrder = createKeyedQueue();
/**
 * Reconciles the days of a provider and currency one after the other in this process, because they
 * share items and balances.
 */
const reconcileInOrder = (runtime: Runtime, key: DayKey): Promise<NewDifferences> =>
  runInOrder(`${key.providerId}/${key.currency}`, () => reconcileDay(runtime, key));

/**
 * Requests the statement of a day and reconciles the day. Throws CONFLICT if the provider does not have the
 * statement yet, and an error if its reply is invalid.
 */
async function requestStatement(
  runtime: Runtime,
  directory: ProviderDirectory,
  { providerId, currency, day }: DayKey,
): Promise<NewDifferences> {
  const { port } = providerIn(directory, providerId);
  const pageOf = (page: number) => port.statementPage({ day, currency, page });
  if (!(await fetchStatement(runtime, providerId, pageOf))) {
    throw new Fault('CONFLICT', `The provider does not have the statement of ${day} yet.`);
  }
  return reconcileInOrder(runtime, { providerId, currency, day });
}

interface StatementRequest extends DayKey {
  /**
   * Whether the statement is requested from the provider. If false, the day is reconciled with the received
   * statements.
   */
  isRequested: boolean;
}

/**
 * Stages the job that requests a statement, or the job that only reconciles the day. Throws NOT_FOUND for
 * an unknown provider.
 */
export async function stageReconciliation(
  runtime: Runtime,
  { isRequested, ...key }: StatementRequest,
): Promise<void> {
  const { environment } = await sourceOf(runtime, key.providerId);
  await operate(runtime, systemCaller('', environment), async (ctx) =>
    ctx.later(isRequested ? FETCH_STATEMENT : RECONCILE_DAY, key),
  );
}

const alertOf = ({ providerId, currency, day }: DayKey, newDifferences: NewDifferences): string => {
  const kinds = [...newDifferences].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const statement = `the statement of ${providerId} of ${day} in ${currency}`;
  return `${statement} differs from the ledger: ${kinds}`;
};

const handlerOf = (
  { log, directory }: ReconciliationDeps,
  definition: typeof FETCH_STATEMENT,
  run: (runtime: Runtime, key: DayKey, directory: ProviderDirectory) => Promise<NewDifferences>,
): JobHandler =>
  jobHandler(definition, {
    deadlineMs: 600_000,
    // Statements can be days late.
    maxAttempts: OUTAGE_ATTEMPTS,
    async run(runtime, { input }) {
      const { environment } = await sourceOf(runtime, input.providerId);
      const newDifferences = await run(runtime, input, directory);
      if (newDifferences.size > 0) {
        log.warn({ problem: alertOf(input, newDifferences) }, 'a provider has a problem');
      }
      return { caller: systemCaller('', environment), stage: async () => undefined };
    },
  });

export const reconciliationJobs = (deps: ReconciliationDeps): JobHandler[] => [
  handlerOf(deps, FETCH_STATEMENT, (runtime, key, directory) =>
    requestStatement(runtime, directory, key),
  ),
  handlerOf(deps, RECONCILE_DAY, reconcileInOrder),
];

const CURRENCIES = `select distinct currency from provider_days where provider_id = $1`;

/** Currencies for which statements are requested: those of the transfers and of earlier statements. */
async function currenciesOf({ db }: Runtime, { row, capabilities }: Provider): Promise<string[]> {
  const offeredCurrencies = (capabilities?.transfers ?? []).flatMap((each) => each.currencies);
  const usedCurrencies = await db.query<{ currency: string }>(CURRENCIES, [row.id]);
  return [
    ...new Set([...offeredCurrencies, ...usedCurrencies.map(({ currency }) => currency)]),
  ].sort();
}

/**
 * Returns the completed days whose statements were not requested, at most the last MAX_DAYS. Before the
 * first request, only the last completed day.
 */
function dueDays({ requested_day, time_zone }: Source, now: number): string[] {
  const lastCompleteDay = addDays(dayOf(now, time_zone), -1);
  if (requested_day === null) return [lastCompleteDay];
  const days: string[] = [];
  const earliestDay = addDays(lastCompleteDay, 1 - MAX_DAYS);
  let day = addDays(requested_day, 1);
  if (day < earliestDay) day = earliestDay;
  for (; day <= lastCompleteDay; day = addDays(day, 1)) days.push(day);
  return days;
}

async function requestDueStatements(runtime: Runtime, provider: Provider): Promise<number> {
  const providerId = provider.row.id;
  const now = runtime.effects.now();
  const source = await sourceOf(runtime, providerId);
  const days = dueDays(source, now);
  const requested_day = days.at(-1);
  if (requested_day === undefined) return 0;
  const currencies = await currenciesOf(runtime, provider);
  await operate(runtime, systemCaller('', source.environment), async (ctx) => {
    const row = await ctx.read(statementSources, providerId);
    // Another process has staged the requests.
    if ((row?.requested_day ?? null) !== source.requested_day) return;
    const { time_zone, fees_expected } = source;
    if (row) ctx.update(statementSources, row, { requested_day, updated_at: ctx.now });
    else {
      ctx.insert(statementSources, {
        ...{ id: providerId, time_zone, fees_expected, requested_day, updated_at: ctx.now },
      });
    }
    for (const day of days) {
      for (const currency of currencies) ctx.later(FETCH_STATEMENT, { providerId, currency, day });
    }
  }).catch((error: unknown) => {
    if (!isKeyTaken(error)) throw error;
  });
  return days.length;
}

/** Stages requests for the statements of completed days. */
export function statementSweep({ directory }: ReconciliationDeps): Sweep {
  let nextRunAt = 0;
  return {
    name: 'statements.request',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextRunAt) return 0;
      nextRunAt = now + SWEEP_INTERVAL_MS;
      for (const provider of directory.current().providers.values()) {
        if (provider.capabilities?.statements) await requestDueStatements(runtime, provider);
      }
      return 0;
    },
  };
}
