// The digest of a change set. Two digests are equal if and only if the same rows, in the same
// versions, change to the same states by the same amounts. New IDs, times and random values are
// excluded, because they differ each time. Other values come from the same stored request.
import { createHash } from 'node:crypto';
import { canonical } from '../../../kernel/crypto/canonical.ts';
import type { ChangeSet, Row } from '../../../runtime/committer/change-set.ts';
import { statesOf, type Table } from '../../../runtime/db/table.ts';

const valuesOfType = (table: Table, row: Row, types: readonly string[]) =>
  Object.entries(row)
    .filter(([name, value]) => types.includes(table.columns[name]?.type ?? '') && value !== null)
    .map(([name, value]) => [name, String(value)]);

export function digestOf({ inserts, updates, removes, transfers, freezes }: ChangeSet): string {
  const content = {
    inserts: inserts.map(({ table, row }) => [
      table.name,
      statesOf(table, row),
      valuesOfType(table, row, ['int8', 'bool']),
    ]),
    updates: updates.map(({ table, id, version, changedColumns, row }) => [
      ...[table.name, id, version, [...changedColumns].sort(), statesOf(table, row)],
      valuesOfType(table, row, ['int8', 'int4', 'bool']),
    ]),
    removes: removes.map(({ table, id, version }) => [table.name, id, version]),
    transfers: transfers.map(({ step, phase, debit, credit, amount, currency }) => [
      ...[step, phase, debit, credit, amount.toString(), currency],
    ]),
    freezes: freezes.map(({ account, frozen }) => [account, frozen]),
  };
  return createHash('sha256').update(canonical(content)).digest('hex');
}
