// Approval of platform tokens for accounts and payments of the service. A platform requests the approval and
// an operator decides. Every decision is stored with its reason.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { circulatingTokensAccount } from '../../../ledger/chart.ts';
import { equals } from '../../../runtime/db/database.ts';
import { cursorOf } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import {
  type ActionsQuery,
  pageOfAccountActions,
  recordAccountAction,
} from '../../balances/account-actions/index.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { operationById } from '../minting/by-operator.ts';
import { isIssuable, serviceStates } from '../states.ts';
import { type StablecoinRow, stablecoins } from '../store.ts';
import { supplyLines } from '../supply/reconciliation.ts';
import { decideService } from './coin-jobs.ts';
import { presentCoin } from './coins.ts';

/** A stablecoin by its ID. Throws STABLECOIN_NOT_FOUND. */
async function coinById({ read }: Pick<Ctx, 'read'>, id: string): Promise<StablecoinRow> {
  const row = isId(id, 'Stablecoin') ? await read(stablecoins, id) : undefined;
  if (!row) throw new Fault('STABLECOIN_NOT_FOUND', 'Stablecoin not found.');
  return row;
}

const viewOf = async ({ db }: Runtime, row: StablecoinRow) => ({
  ...(await presentCoin({ read: db.read }, row)),
  platformId: row.platform_id,
  /** Minor units, from the ledger. */
  circulating: String(
    (await readLedgerAccount(db, circulatingTokensAccount(row.id)))?.balance ?? 0n,
  ),
});

/** A stablecoin with its supply in the ledger and by its mints and burns. Throws STABLECOIN_NOT_FOUND. */
export async function stablecoinSupply(runtime: Runtime, id: string) {
  const coin = await viewOf(runtime, await coinById(runtime.db, id));
  const supply = await supplyLines(runtime.db, id);
  return { ...coin, supply, ties: supply.every(({ ledger, expected }) => ledger === expected) };
}

interface ListInput {
  platformId?: string | undefined;
  serviceStatus?: string | undefined;
  /** Last stablecoin of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
  /** `nextCursor` of the previous page. Alternative to `after`. */
  cursor?: string | undefined;
  limit: number;
}

/** Stablecoins of a platform, with a service status, or all. Oldest first. */
export async function searchStablecoins(
  runtime: Runtime,
  { platformId, serviceStatus, after, cursor: position, limit }: ListInput,
) {
  const { db } = runtime;
  const filters = equals({ platform_id: platformId, service_status: serviceStatus });
  const cursor = after === undefined ? position : cursorOf(await coinById(db, after));
  const query = { filters, sort: 'asc', limit, cursor } as const;
  const { rows, ...rest } = await db.page(stablecoins, query);
  return { data: await Promise.all(rows.map((row) => viewOf(runtime, row))), ...rest };
}

export type ServiceDecision = 'approve' | 'reject' | 'disable';

interface DecideInput {
  stablecoinId: string;
  decision: ServiceDecision;
  reason: string | null;
}

/** Stages the decision with its reason. */
function decide(ctx: Ctx, row: StablecoinRow, { decision, reason }: DecideInput): StablecoinRow {
  if (serviceStates.targetOf(row.service_status, decision) === undefined) {
    const { service_status: status } = row;
    const sources = serviceStates.sourcesOf(decision).join(' or ');
    throw new Fault(
      'CONFLICT',
      `The stablecoin is ${status}. The decision ${decision} requires the status ${sources}.`,
    );
  }
  // A token that was rejected or failed is never provisioned.
  if (decision === 'approve' && !isIssuable(row.issuance_status)) {
    throw new Fault(
      'CONFLICT',
      `The token is ${row.issuance_status} at its provider and cannot be approved.`,
    );
  }
  recordAccountAction(ctx, row, { actor: 'operator', action: decision, reason });
  return decideService(ctx, row, decision);
}

/** Decides whether the service may use a stablecoin. Throws STABLECOIN_NOT_FOUND and CONFLICT. */
export async function decideStablecoin(runtime: Runtime, input: DecideInput) {
  const { id, platform_id } = await coinById(runtime.db, input.stablecoinId);
  const caller = await callerOf(runtime.db, platform_id);
  const decidedCoin = await operate(runtime, caller, async (ctx) =>
    decide(ctx, await coinById(ctx, id), input),
  );
  return { ...(await viewOf(runtime, decidedCoin)), reason: input.reason };
}

/**
 * Decisions about a stablecoin, or a mint or burn: decision, actor and reason. Throws
 * STABLECOIN_NOT_FOUND and STABLECOIN_OPERATION_NOT_FOUND.
 */
export async function stablecoinHistory(runtime: Runtime, id: string, query: ActionsQuery = {}) {
  const isOperation = isId(id, 'StablecoinOperation');
  const row = await (isOperation ? operationById(runtime.db, id) : coinById(runtime.db, id));
  return pageOfAccountActions(runtime, row, query);
}
