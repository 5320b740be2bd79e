// Compares the ledger accounts of stablecoins with mints and burns. The circulating supply must be
// the initial supply plus mints less burns, and holds must equal the pending operations. The part
// of a late payment that could not be posted is excluded. A single statement reads both sides, so
// they are consistent.
import { circulatingTokensAccount, issuedTokensAccount } from '../../../ledger/chart.ts';
import type { Database } from '../../../runtime/db/database.ts';

interface SupplyRow {
  id: string;
  circulating: string | null;
  burning: string | null;
  issued: string | null;
  minting: string | null;
  expectedCirculating: string;
  expectedBurning: string;
  expectedMinting: string;
}

const PENDING_CONDITION = "o.status not in ('COMPLETED', 'FAILED', 'EXPIRED')";
const sumOf = (type: string, condition: string) =>
  `coalesce(sum(o.amount - coalesce(o.uncounted, 0)) filter (where o.type = '${type}' and ${condition}), 0)`;

/** Ledger account ID of coin `c` in SQL. */
const idInSql = (account: (coinId: string) => string) => `'${account("' || c.id || '")}'`;

const supplySql = (
  whereClause = '',
) => `select c.id, a.balance::text as circulating, a.held::text as burning,
    (-b.balance)::text as issued, b.held::text as minting,
    (coalesce(s.amount, 0) + o.minted - o.burnt)::text as "expectedCirculating",
    o.burning::text as "expectedBurning", o.minting::text as "expectedMinting"
  from stablecoins c
  left join ledger_accounts a on a.id = ${idInSql(circulatingTokensAccount)}
  left join ledger_accounts b on b.id = ${idInSql(issuedTokensAccount)}
  left join ledger_transfers s on s.transaction_id = c.id and s.step = 'supply'
  cross join lateral (select ${sumOf('MINT', "o.status = 'COMPLETED'")} as minted,
      ${sumOf('BURN', "o.status = 'COMPLETED'")} as burnt,
      ${sumOf('MINT', PENDING_CONDITION)} as minting, ${sumOf('BURN', PENDING_CONDITION)} as burning
    from stablecoin_operations o where o.stablecoin_id = c.id) o
  ${whereClause} order by c.id`;

/** Amounts of a coin in the ledger, with the text that describes a difference. */
const MEASURES = {
  CIRCULATING: 'circulates',
  ISSUED: 'is issued',
  HELD_FOR_BURNS: 'is held for burns',
  HELD_FOR_MINTS: 'is held for mints',
} as const;

export const SUPPLY_MEASURES = Object.keys(MEASURES) as (keyof typeof MEASURES)[];

/**
 * An amount of a coin in the ledger, and the amount that its mints and burns require. Minor units.
 */
interface SupplyLine {
  measure: keyof typeof MEASURES;
  ledger: string;
  expected: string;
}

const linesOf = (row: SupplyRow): SupplyLine[] =>
  (
    [
      ['CIRCULATING', row.circulating, row.expectedCirculating],
      ['ISSUED', row.issued, row.expectedCirculating],
      ['HELD_FOR_BURNS', row.burning, row.expectedBurning],
      ['HELD_FOR_MINTS', row.minting, row.expectedMinting],
    ] as const
  ).map(([measure, ledger, expected]) => ({ measure, ledger: ledger ?? '0', expected }));

function* problemsOf(row: SupplyRow): Generator<string> {
  for (const { measure, ledger, expected } of linesOf(row)) {
    if (ledger === expected) continue;
    yield `${row.id}: ${ledger} ${MEASURES[measure]}, but its mints and burns require ${expected}`;
  }
}

/** Differences between ledger and operations of stablecoins. */
export async function supplyProblems(
  query: (text: string) => Promise<unknown[]>,
): Promise<string[]> {
  const rows = (await query(supplySql())) as SupplyRow[];
  return rows.flatMap((row) => [...problemsOf(row)]);
}

/** The supply of one coin in the ledger, and the supply according to its mints and burns. */
export async function supplyLines(
  { query }: Pick<Database, 'query'>,
  stablecoinId: string,
): Promise<SupplyLine[]> {
  const [row] = await query<SupplyRow>(supplySql('where c.id = $1'), [stablecoinId]);
  return row ? linesOf(row) : [];
}
