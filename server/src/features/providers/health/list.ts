// Lists the health of providers for operators.
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { ProviderDirectory } from '../directory.ts';
import { readHealth } from './windows.ts';

/** Returns the health of one provider or of all. */
export async function listHealth(
  { runtime, directory }: { runtime: Runtime; directory: ProviderDirectory },
  providerId?: string | undefined,
) {
  // Includes the latest calls of this process in the result.
  await directory.calls.flush();
  const selectedProviders = [...directory.current().providers.values()].filter(
    ({ row }) => providerId === undefined || row.id === providerId,
  );
  const ids = selectedProviders.map(({ row }) => row.id);
  const health = await readHealth(runtime.db, ids, runtime.effects.now());
  return selectedProviders.map(({ row }) => ({
    providerId: row.id,
    environment: row.environment,
    status: row.status,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    available: !directory.isUnavailable(row.id),
    windows: [...(health.get(row.id) ?? [])],
  }));
}
