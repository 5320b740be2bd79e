// Refreshes the funding instructions of internal accounts after a change of the operator's
// collection accounts, for one account or all of a platform. The refresh runs in batches, so that
// payments of a large platform are not delayed.

import type { FundingPort } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { type PlatformRow, platformById, systemCaller } from '../../tenancy/platform/index.ts';
import { refreshFunding } from './provision.ts';
import { internalAccounts } from './store.ts';

const BATCH_SIZE = 100;

interface RefreshDeps {
  runtime: Runtime;
  fundingOf(environment: Mode): FundingPort | undefined;
}

/** Returns the IDs of the accounts whose instructions have changed. */
async function refresh(
  { runtime, fundingOf }: RefreshDeps,
  { id, environment }: PlatformRow,
  ids: readonly string[],
): Promise<string[]> {
  const port = fundingOf(environment);
  // Without a funding port the accounts keep their instructions.
  if (!port) {
    throw new Fault(
      'CONFLICT',
      `No funding accounts are configured for ${environment}. Set RAILHEAD_FUNDING_FILE, or add a ` +
        'route for the service funding.',
    );
  }
  return operate(runtime, systemCaller(id, environment), async (ctx) => {
    const rows = await Promise.all(ids.map((each) => ctx.read(internalAccounts, each)));
    return rows.flatMap((row) => (row && refreshFunding(ctx, row, port) ? [row.id] : []));
  });
}

async function* pagesOf({ db }: Runtime, platformId: string) {
  let cursor: string | undefined;
  do {
    const filters = [{ column: 'platform_id', op: '=', value: platformId } as const];
    const query = { filters, sort: 'asc', limit: BATCH_SIZE, cursor } as const;
    const page = await db.page(internalAccounts, query);
    yield page.rows.map(({ id }) => id);
    cursor = page.nextCursor;
  } while (cursor);
}

type RefreshInput = { accountId: string } | { platformId: string };

/**
 * Refreshes an account, or all accounts of a platform. Throws ACCOUNT_NOT_FOUND,
 * PLATFORM_NOT_FOUND, or CONFLICT if no funding accounts are configured.
 */
export async function refreshAccountFunding(
  deps: RefreshDeps,
  input: RefreshInput,
): Promise<{ platformId: string; accounts: number; changed: string[] }> {
  const { runtime } = deps;
  const accountId = 'accountId' in input ? input.accountId : undefined;
  const row =
    accountId !== undefined && isId(accountId, 'InternalAccount')
      ? await runtime.db.read(internalAccounts, accountId)
      : undefined;
  if (accountId !== undefined && !row) throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  const platformId = row?.platform_id ?? (input as { platformId: string }).platformId;
  const platform = await platformById(runtime, platformId);
  const changedIds: string[] = [];
  let accountCount = 0;
  for await (const ids of row ? [[row.id]] : pagesOf(runtime, platform.id)) {
    accountCount += ids.length;
    changedIds.push(...(await refresh(deps, platform, ids)));
  }
  return { platformId, accounts: accountCount, changed: changedIds };
}
