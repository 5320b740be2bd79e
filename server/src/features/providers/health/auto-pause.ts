// Pauses providers whose calls fail or whose transfers return too often, by the settings of each, and resumes
// them after a successful call if they are configured so. The changes are audit records of the system.
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

export interface HealthParts {
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
/** Start of the reason of a pause that a successful call ends. */
const FAILED_CALLS = 'Failed calls';

type AutoPause = NonNullable<ProviderTerms['autoPause']>;

const percentOf = (value: number | null) => `${Math.round((value ?? 0) * 1_000) / 10} %`;

/** Why a provider must be paused; undefined: it need not be. */
function pauseReason(
  { minimum, errorPercent, returnPercent, windowMinutes }: AutoPause,
  { calls, errorRate, settled, returned, returnRate }: HealthWindow,
): string | undefined {
  const isOver = (value: number | null, limit: number | undefined) =>
    limit !== undefined && value !== null && value * 100 > limit;
  const span = `in ${windowMinutes} minutes`;
  if (calls >= minimum && isOver(errorRate, errorPercent)) {
    return `${FAILED_CALLS}: ${percentOf(errorRate)} of ${calls} ${span}, allowed ${errorPercent} %.`;
  }
  const settledCount = settled + returned;
  if (settledCount >= minimum && isOver(returnRate, returnPercent)) {
    return (
      `Returned transfers: ${percentOf(returnRate)} of ${settledCount} ${span}, ` +
      `allowed ${returnPercent} %.`
    );
  }
  return undefined;
}

/** Changes the state if it is still the same; returns whether it did. */
async function changeState(
  { directory, asSystem, log }: HealthParts,
  runtime: Runtime,
  { row }: Provider,
  change: { operationId: string; reason: string; patch: PatchOf<typeof providers> },
): Promise<boolean> {
  const { operationId, reason, patch } = change;
  const audited = asSystem(runtime, { operationId, subject: row.id, reason });
  const isChanged = await operate(audited, INSTALLATION, async (ctx) => {
    const current = await ctx.read(providers, row.id);
    if (!current || current.status_since !== row.status_since || current.status !== row.status) {
      return false;
    }
    const now = ctx.effects.now();
    const times = { status_since: now, updated_at: now };
    ctx.update(providers, current, { ...patch, ...times });
    return true;
  });
  if (isChanged) {
    log.warn({ provider: row.id, operationId, reason }, 'a provider was changed automatically');
    await directory.refresh();
  }
  return isChanged;
}

async function pauseIfNeeded(
  parts: HealthParts,
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
  return changeState(parts, runtime, provider, { operationId: 'pauseProvider', reason, patch });
}

async function resumeIfProbed(
  parts: HealthParts,
  runtime: Runtime,
  provider: Provider,
): Promise<boolean> {
  const isAlive = await provider.port.capabilities().then(
    () => true,
    () => false,
  );
  if (!isAlive) return false;
  const reason = 'The provider responds again.';
  const patch = { status: 'ACTIVE', paused_by: null, pause_reason: null } as const;
  return changeState(parts, runtime, provider, { operationId: 'resumeProvider', reason, patch });
}

const isProbed = ({ row, terms }: Provider): boolean =>
  row.paused_by === 'SYSTEM' &&
  terms.autoPause?.resumeAfterProbe === true &&
  (row.pause_reason ?? '').startsWith(FAILED_CALLS);

/** When the probes of a provider are due. */
function createProbes({ now }: Pick<Effects, 'now'>) {
  const last = new Map<string, Time>();
  return (provider: Provider): boolean => {
    const { id, status_since } = provider.row;
    const since = Math.max(last.get(id) ?? 0, status_since);
    if (!isProbed(provider) || now() < since + PROBE_EVERY_MS) return false;
    last.set(id, now());
    return true;
  };
}

/** Checks the providers of a process that runs jobs. */
export function healthSweep(parts: HealthParts): Sweep {
  let next: Time = 0;
  let isProbeDue: ReturnType<typeof createProbes> | undefined;
  return {
    name: 'providers.health',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < next) return 0;
      next = now + CHECK_EVERY_MS;
      isProbeDue ??= createProbes(runtime.effects);
      const directory = parts.directory;
      const all = [...directory.current().providers.values()];
      const watched = all.filter(({ terms }) => terms.autoPause !== undefined);
      if (watched.length === 0) return 0;
      await directory.calls.flush();
      let changes = 0;
      for (const provider of watched) {
        const isActive = provider.row.status === 'ACTIVE';
        if (!isActive && !isProbeDue(provider)) continue;
        const work = isActive ? pauseIfNeeded : resumeIfProbed;
        if (await work(parts, runtime, provider)) changes++;
      }
      return changes;
    },
  };
}
