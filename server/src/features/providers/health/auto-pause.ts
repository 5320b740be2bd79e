// Pauses providers whose rate of failed calls or returned transfers exceeds the limit in their
// terms. A successful probe resumes a provider if its terms allow this. Each change is an audit
// record of the system.
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { PatchOf } from '../../../runtime/db/table.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../tenancy/platform/index.ts';
import type { ProviderTerms } from '../configuration/contract.ts';
import type { Provider, ProviderDirectory } from '../directory.ts';
import { providers } from '../store.ts';
import { type HealthWindow, readHealth } from './windows.ts';

export interface HealthDeps {
  directory: ProviderDirectory;
  /** A runtime whose commits contain an audit record of the system. */
  asSystem(
    runtime: Runtime,
    change: { operationId: string; subject: string; reason: string },
  ): Runtime;
  log: Log;
}

const CHECK_EVERY_MS = 5_000;
const PROBE_EVERY_MS = 60_000;
/** Prefix of the reason of a pause that a successful probe can end. */
const FAILED_CALLS = 'Failed calls';

type AutoPause = NonNullable<ProviderTerms['autoPause']>;

const percentOf = (value: number | null) => `${Math.round((value ?? 0) * 1_000) / 10} %`;

/** Returns the reason to pause a provider, or undefined if there is none. */
function pauseReason(
  { minimum, errorPercent, returnPercent, windowMinutes }: AutoPause,
  { calls, errorRate, settled, returned, returnRate }: HealthWindow,
): string | undefined {
  const isOver = (value: number | null, limit: number | undefined) =>
    limit !== undefined && value !== null && value * 100 > limit;
  const period = `in ${windowMinutes} minutes`;
  if (calls >= minimum && isOver(errorRate, errorPercent)) {
    return `${FAILED_CALLS}: ${percentOf(errorRate)} of ${calls} ${period}, allowed ${errorPercent} %.`;
  }
  const settledCount = settled + returned;
  if (settledCount >= minimum && isOver(returnRate, returnPercent)) {
    return (
      `Returned transfers: ${percentOf(returnRate)} of ${settledCount} ${period}, ` +
      `allowed ${returnPercent} %.`
    );
  }
  return undefined;
}

/** Changes the status if it is unchanged since `row` was read. Returns whether the status was changed. */
async function changeStatus(
  { directory, asSystem, log }: HealthDeps,
  runtime: Runtime,
  { row }: Provider,
  change: { operationId: string; reason: string; patch: PatchOf<typeof providers> },
): Promise<boolean> {
  const { operationId, reason, patch } = change;
  const auditedRuntime = asSystem(runtime, { operationId, subject: row.id, reason });
  const isChanged = await operate(auditedRuntime, INSTALLATION, async (ctx) => {
    const currentRow = await ctx.read(providers, row.id);
    if (
      !currentRow ||
      currentRow.status_since !== row.status_since ||
      currentRow.status !== row.status
    ) {
      return false;
    }
    const now = ctx.effects.now();
    const times = { status_since: now, updated_at: now };
    ctx.update(providers, currentRow, { ...patch, ...times });
    return true;
  });
  if (isChanged) {
    log.warn({ provider: row.id, operationId, reason }, 'a provider was changed automatically');
    await directory.refresh();
  }
  return isChanged;
}

async function pauseIfNeeded(
  deps: HealthDeps,
  runtime: Runtime,
  provider: Provider,
): Promise<boolean> {
  const { autoPause } = provider.terms;
  if (!autoPause) return false;
  const { id, status_since } = provider.row;
  const health = await readHealth(runtime.db, [id], runtime.effects.now(), status_since);
  const window = health.get(id)?.find(({ minutes }) => minutes === autoPause.windowMinutes);
  const reason = window && pauseReason(autoPause, window);
  if (!reason) return false;
  const patch = { status: 'PAUSED', paused_by: 'SYSTEM', pause_reason: reason } as const;
  return changeStatus(deps, runtime, provider, { operationId: 'pauseProvider', reason, patch });
}

async function resumeIfProbed(
  deps: HealthDeps,
  runtime: Runtime,
  provider: Provider,
): Promise<boolean> {
  const isResponding = await provider.port.capabilities().then(
    () => true,
    () => false,
  );
  if (!isResponding) return false;
  const reason = 'The provider responds again.';
  const patch = { status: 'ACTIVE', paused_by: null, pause_reason: null } as const;
  return changeStatus(deps, runtime, provider, { operationId: 'resumeProvider', reason, patch });
}

const isProbeConfigured = ({ row, terms }: Provider): boolean =>
  row.paused_by === 'SYSTEM' &&
  terms.autoPause?.resumeAfterProbe === true &&
  (row.pause_reason ?? '').startsWith(FAILED_CALLS);

/**
 * Creates a function that returns whether a probe of the provider is due, and then records the
 * probe.
 */
function createProbeSchedule({ now }: Pick<Effects, 'now'>) {
  const lastProbes = new Map<string, Time>();
  return (provider: Provider): boolean => {
    const { id, status_since } = provider.row;
    const lastProbe = Math.max(lastProbes.get(id) ?? 0, status_since);
    if (!isProbeConfigured(provider) || now() < lastProbe + PROBE_EVERY_MS) return false;
    lastProbes.set(id, now());
    return true;
  };
}

/** Pauses and resumes providers. The sweep runs in the process that runs jobs. */
export function healthSweep(deps: HealthDeps): Sweep {
  let nextCheckAt: Time = 0;
  let isProbeDue: ReturnType<typeof createProbeSchedule> | undefined;
  return {
    name: 'providers.health',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextCheckAt) return 0;
      nextCheckAt = now + CHECK_EVERY_MS;
      isProbeDue ??= createProbeSchedule(runtime.effects);
      const directory = deps.directory;
      const monitoredProviders = [...directory.current().providers.values()].filter(
        ({ terms }) => terms.autoPause !== undefined,
      );
      if (monitoredProviders.length === 0) return 0;
      await directory.calls.flush();
      let changeCount = 0;
      for (const provider of monitoredProviders) {
        const isActive = provider.row.status === 'ACTIVE';
        if (!isActive && !isProbeDue(provider)) continue;
        const work = isActive ? pauseIfNeeded : resumeIfProbed;
        if (await work(deps, runtime, provider)) changeCount++;
      }
      return changeCount;
    },
  };
}
