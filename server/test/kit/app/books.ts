// The ledger check that runs when a test server closes.
import { expect } from 'vitest';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';

/** Recomputes every balance from the transfers and sums each currency. Throws on any difference. */
export async function expectBalancedBooks(app: { runtime: Runtime }): Promise<void> {
  const mismatches = await app.runtime.db.query(
    `with posted as (
       select debit as id, case when phase in ('posted', 'post') then -amount else 0 end as balance,
         case phase when 'pending' then amount when 'post' then -amount when 'void' then -amount
           else 0 end as held from ledger_transfers
       union all
       select credit, case when phase in ('posted', 'post') then amount else 0 end, 0
         from ledger_transfers),
     sums as (select id, sum(balance) as balance, sum(held) as held from posted group by id)
     select a.id, a.balance, a.held, s.balance as b, s.held as h from ledger_accounts a
       left join sums s on s.id = a.id
       where a.balance <> coalesce(s.balance, 0) or a.held <> coalesce(s.held, 0)`,
    [],
  );
  expect(mismatches).toEqual([]);
  const sums = await app.runtime.db.query(
    'select currency, sum(balance)::text as total from ledger_accounts group by 1 having ' +
      'sum(balance) <> 0',
    [],
  );
  expect(sums).toEqual([]);
}
