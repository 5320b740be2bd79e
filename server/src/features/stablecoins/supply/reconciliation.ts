// Compares the ledger accounts of stablecoins with mints and burns: the circulating supply is the
// initial supply plus mints less burns, and holds are pending operations. The part of a late payment
// that could not be posted is excluded. One statement counts both sides, so they are consistent.
import { circulatingTokensAccount, issuedTokensAccount } from '../../../ledger/chart.ts';

interface Counted {
  id: string;
  circulating: string | null;
  burning: string | null;
  issued: string | null;
  minting: string | null;
  shouldCirculate: string;
  shouldBurn: string;
  shouldMint: string;
}

const PENDING = "o.status not in ('COMPLETED', 'FAILED', 'EXPIRED')";
const sumOf = (type: string, condition: string) =>
  `coalesce(sum(o.amount - coalesce(o.uncounted, 0)) filter (where o.type = '${type}' and ${condition}), 0)`;

/** Ledger account id of coin `c` in SQL. */
const idInSql = (account: (coinId: string) => string) => `'${account("' || c.id || '")}'`;

const COUNT = `select c.id, a.balance::text as circulating, a.held::text as burning,
    (-b.balance)::text as issued, b.held::text as minting,
    (coalesce(s.amount, 0) + o.minted - o.burnt)::text as "shouldCirculate",
    o.burning::text as "shouldBurn", o.minting::text as "shouldMint"
  from stablecoins c
  left join ledger_accounts a on a.id = ${idInSql(circulatingTokensAccount)}
  left join ledger_accounts b on b.id = ${idInSql(issuedTokensAccount)}
  left join ledger_transfers s on s.transaction_id = c.id and s.step = 'supply'
  cross join lateral (select ${sumOf('MINT', "o.status = 'COMPLETED'")} as minted,
      ${sumOf('BURN', "o.status = 'COMPLETED'")} as burnt,
      ${sumOf('MINT', PENDING)} as minting, ${sumOf('BURN', PENDING)} as burning
    from stablecoin_operations o where o.stablecoin_id = c.id) o
  order by c.id`;

function* problemsOf(row: Counted): Generator<string> {
  const pairs = [
    ['circulates', row.circulating, row.shouldCirculate],
    ['is issued', row.issued, row.shouldCirculate],
    ['is held for burns', row.burning, row.shouldBurn],
    ['is held for mints', row.minting, row.shouldMint],
  ] as const;
  for (const [measure, actual, expected] of pairs) {
    if (actual === expected) continue;
    yield `Of ${row.id} ${actual ?? 'nothing'} ${measure}, expected ${expected} by its mints and burns`;
  }
}

/** Differences between ledger and operations of stablecoins. */
export async function supplyProblems(
  query: (text: string) => Promise<unknown[]>,
): Promise<string[]> {
  const rows = (await query(COUNT)) as Counted[];
  return rows.flatMap((row) => [...problemsOf(row)]);
}
