// Compares the ledger accounts of stablecoins with mints and burns. The circulating supply must be the
// initial supply plus mints less burns, and holds must equal the pending operations. The part of a late
// payment that could not be posted is excluded. One statement reads both sides, so they are consistent.
import { circulatingTokensAccount, issuedTokensAccount } from '../../../ledger/chart.ts';

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

const PENDING = "o.status not in ('COMPLETED', 'FAILED', 'EXPIRED')";
const sumOf = (type: string, condition: string) =>
  `coalesce(sum(o.amount - coalesce(o.uncounted, 0)) filter (where o.type = '${type}' and ${condition}), 0)`;

/** Ledger account id of coin `c` in SQL. */
const idInSql = (account: (coinId: string) => string) => `'${account("' || c.id || '")}'`;

const COUNT = `select c.id, a.balance::text as circulating, a.held::text as burning,
    (-b.balance)::text as issued, b.held::text as minting,
    (coalesce(s.amount, 0) + o.minted - o.burnt)::text as "expectedCirculating",
    o.burning::text as "expectedBurning", o.minting::text as "expectedMinting"
  from stablecoins c
  left join ledger_accounts a on a.id = ${idInSql(circulatingTokensAccount)}
  left join ledger_accounts b on b.id = ${idInSql(issuedTokensAccount)}
  left join ledger_transfers s on s.transaction_id = c.id and s.step = 'supply'
  cross join lateral (select ${sumOf('MINT', "o.status = 'COMPLETED'")} as minted,
      ${sumOf('BURN', "o.status = 'COMPLETED'")} as burnt,
      ${sumOf('MINT', PENDING)} as minting, ${sumOf('BURN', PENDING)} as burning
    from stablecoin_operations o where o.stablecoin_id = c.id) o
  order by c.id`;

function* problemsOf(row: SupplyRow): Generator<string> {
  const pairs = [
    ['circulates', row.circulating, row.expectedCirculating],
    ['is issued', row.issued, row.expectedCirculating],
    ['is held for burns', row.burning, row.expectedBurning],
    ['is held for mints', row.minting, row.expectedMinting],
  ] as const;
  for (const [measure, actual, expected] of pairs) {
    if (actual === expected) continue;
    yield `${row.id}: ${actual ?? 0} ${measure}, but its mints and burns require ${expected}`;
  }
}

/** Differences between ledger and operations of stablecoins. */
export async function supplyProblems(
  query: (text: string) => Promise<unknown[]>,
): Promise<string[]> {
  const rows = (await query(COUNT)) as SupplyRow[];
  return rows.flatMap((row) => [...problemsOf(row)]);
}
