// A sequential reference model of the committer, which applies one change set after the other to
// maps in memory. The tests replay accepted change sets on it and compare the result with the
// database.

import type { TransferRow } from '../../../src/ledger/transfer.ts';
import type { ChangeSet, Rejection } from '../../../src/runtime/committer/change-set.ts';

interface Holding {
  floor: bigint | null;
  balance: bigint;
  held: bigint;
  isFrozen: boolean;
  /** Whether the account was ever frozen, and whether it ever had a balance or a hold. */
  wasFrozen: boolean;
  wasUsed: boolean;
  /** Lowest available amount since the start. */
  lowestAvailable: bigint;
}

export interface Model {
  /** Rows by table and ID. */
  rows: Map<string, Record<string, unknown>>;
  accounts: Map<string, Holding>;
  /** Stored transfers by transaction and step. */
  transfers: Map<string, TransferRow>;
}

export const rowKey = (table: { name: string }, id: unknown) => `${table.name} ${String(id)}`;

export const emptyModel = (): Model => ({
  rows: new Map(),
  accounts: new Map(),
  transfers: new Map(),
});

const stepOf = ({ transaction_id, step, phase }: TransferRow) =>
  `${transaction_id} ${step}${phase === 'post' || phase === 'void' ? '!' : ''}`;

function check(isValid: boolean, message: string): void {
  if (!isValid) throw new Error(`the change set should have been rejected: ${message}`);
}

function applyTransfer(model: Model, transfer: TransferRow): void {
  const { phase, debit, credit, amount, transaction_id, step } = transfer;
  const from = model.accounts.get(debit);
  const to = model.accounts.get(credit);
  if (!from || !to) throw new Error(`the account ${debit} or ${credit} does not exist`);
  check(!model.transfers.has(stepOf(transfer)), `${stepOf(transfer)} twice`);
  if ((phase === 'posted' || phase === 'pending') && !transfer.force) {
    check(!from.isFrozen, `${debit} is frozen`);
    check(!to.isFrozen, `${credit} is frozen`);
  }
  if (phase === 'post' || phase === 'void') {
    const hold = model.transfers.get(`${transaction_id} ${step}`);
    check(hold?.phase === 'pending' && hold.amount === amount, `${stepOf(transfer)} without hold`);
    from.held -= amount;
  }
  if (phase === 'pending') from.held += amount;
  if (phase === 'post' || phase === 'posted') {
    from.balance -= amount;
    to.balance += amount;
  }
  const spendableAmount = from.balance - from.held;
  check(from.floor === null || spendableAmount >= from.floor, `${debit} at ${spendableAmount}`);
  if (spendableAmount < from.lowestAvailable) from.lowestAvailable = spendableAmount;
  for (const holding of [from, to]) if (holding.balance || holding.held) holding.wasUsed = true;
  model.transfers.set(stepOf(transfer), transfer);
}

/** Applies an accepted change set. Throws if it should have been rejected at this position. */
export function applyChangeSet(model: Model, set: ChangeSet): void {
  for (const { table, id, version } of [...set.requires, ...set.updates, ...set.removes]) {
    const row = model.rows.get(rowKey(table, id));
    check(row?.version === version, `${id} at version ${String(row?.version)}, not ${version}`);
  }
  for (const { table, id, version, row } of set.updates) {
    model.rows.set(rowKey(table, id), { ...row, version: version + 1 });
  }
  for (const { table, id } of set.removes) model.rows.delete(rowKey(table, id));
  for (const { table, row } of set.inserts) {
    check(!model.rows.has(rowKey(table, row.id)), `${String(row.id)} twice`);
    const conflict = [...model.rows.values()].some(
      (storedRow) => row.name && storedRow.name === row.name,
    );
    check(!conflict, `the name ${String(row.name)} twice`);
    model.rows.set(rowKey(table, row.id), row);
  }
  for (const transfer of set.transfers) applyTransfer(model, transfer);
  for (const { account, frozen: isFrozen, empty } of set.freezes) {
    const holding = model.accounts.get(account);
    if (!holding) throw new Error(`the account ${account} does not exist`);
    check(!empty || (holding.balance === 0n && holding.held === 0n), `${account} is not empty`);
    holding.isFrozen = isFrozen;
    if (isFrozen) holding.wasFrozen = true;
  }
}

/** The largest decrease of an account's available amount by the transfers of a change set. */
function lowestChange(set: ChangeSet, account: string): bigint {
  let change = 0n;
  let min = 0n;
  for (const { phase, debit, credit, amount } of set.transfers) {
    if (debit === account && (phase === 'posted' || phase === 'pending')) change -= amount;
    if (debit === account && phase === 'void') change += amount;
    if (credit === account && (phase === 'posted' || phase === 'post')) change += amount;
    if (change < min) min = change;
  }
  return min;
}

/** Whether a rejection is correct, given the model after all accepted change sets. */
export function isCorrect(model: Model, set: ChangeSet, rejection: Rejection): boolean {
  if (rejection.reason === 'version') {
    const usedRows = [...set.updates, ...set.removes, ...set.requires].filter(
      (requirement) =>
        requirement.table.name === rejection.table && requirement.id === rejection.id,
    );
    return usedRows.some(
      ({ table, id, version }) => model.rows.get(rowKey(table, id))?.version !== version,
    );
  }
  if (rejection.reason === 'exists') {
    const hasRow = set.inserts.some(
      ({ table, row }) => table.name === rejection.table && row.id === rejection.id,
    );
    return hasRow && model.rows.has(`${rejection.table} ${rejection.id}`);
  }
  if (rejection.reason === 'insufficient-funds') {
    const holding = model.accounts.get(rejection.account);
    if (!holding || holding.floor === null) return false;
    return holding.lowestAvailable + lowestChange(set, rejection.account) < holding.floor;
  }
  if (rejection.reason === 'frozen') {
    const hasTransfer = set.transfers.some(
      ({ phase, force, debit, credit }) =>
        (phase === 'posted' || phase === 'pending') &&
        !force &&
        [debit, credit].includes(rejection.account),
    );
    return hasTransfer && model.accounts.get(rejection.account)?.wasFrozen === true;
  }
  if (rejection.reason === 'not-empty') {
    const hasFreeze = set.freezes.some(
      (freeze) => freeze.empty && freeze.account === rejection.account,
    );
    const touchesAccount = set.transfers.some((transfer) =>
      [transfer.debit, transfer.credit].includes(rejection.account),
    );
    return hasFreeze && (touchesAccount || model.accounts.get(rejection.account)?.wasUsed === true);
  }
  if (rejection.constraint === 'ledger_transfers_pkey') {
    return set.transfers.some((transfer) => model.transfers.has(stepOf(transfer)));
  }
  if (rejection.constraint === 'ledger_currency') {
    return set.transfers.some((transfer) => transfer.currency !== 'USD');
  }
  const names = set.inserts.map(({ row }) => row.name).filter(Boolean);
  return (
    rejection.constraint === 'things_name' &&
    [...model.rows.values()].some((row) => names.includes(row.name))
  );
}
