// Repeats the erasures of a list on a database that was restored from an earlier backup. The list
// was stored outside of the database. A customer that was not deleted at the time of the backup is
// deleted first.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { readCustomer } from '../records/index.ts';
import { eraseCustomerData } from './erase.ts';
import type { AllPersonalData } from './subjects.ts';

/** An erasure as `listErasures` returns it. */
interface ListedErasure {
  customerId: string;
  actor: string;
  reason: string | null;
}

export interface RepeatedErasure {
  customerId: string;
  /**
   * ABSENT: the restored database has no such customer. REJECTED: the customer cannot be deleted.
   */
  result: 'ERASED' | 'ABSENT' | 'REJECTED';
  problem?: string;
}

type DeleteCustomer = (ctx: Ctx, customerId: string) => Promise<unknown>;

async function repeatErasure(
  runtime: Runtime,
  personalData: AllPersonalData,
  deleteCustomer: DeleteCustomer,
  { customerId, actor, reason }: ListedErasure,
): Promise<RepeatedErasure> {
  const row = await readCustomer(runtime.db, customerId);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) return { customerId, result: 'ABSENT' };
  try {
    if (row.deleted_at === null) {
      const caller = systemCaller(platform.id, platform.environment);
      await operate(runtime, caller, (ctx) => deleteCustomer(ctx, customerId));
    }
    await eraseCustomerData(runtime, personalData, { customerId, actor, reason });
    return { customerId, result: 'ERASED' };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'CONFLICT') throw error;
    return { customerId, result: 'REJECTED', problem: error.message };
  }
}

/** Repeats the erasures of a list. A second call with the same list has no effect. */
export async function repeatErasures(
  runtime: Runtime,
  personalData: AllPersonalData,
  deleteCustomer: DeleteCustomer,
  listedErasures: readonly ListedErasure[],
): Promise<RepeatedErasure[]> {
  const results: RepeatedErasure[] = [];
  for (const each of listedErasures)
    results.push(await repeatErasure(runtime, personalData, deleteCustomer, each));
  return results;
}
