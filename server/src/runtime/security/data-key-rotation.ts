// Rotation of the keys of the installation while servers run. A new key is published, and seals after a
// period in which every process reads the key. All values of earlier keys are then sealed again in
// batches. The remaining work follows from the sealed values, so an interrupted rotation continues.
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { isKeyTaken, type Runtime } from '../operation/operate.ts';
import { KEY_BYTES } from './crypto.ts';
import {
  activeNumber,
  DATA_KEY_NOTICE_MS,
  type DataKeyRow,
  type DataKeys,
  dataKeys,
  masterKeyId,
  wrapKey,
} from './data-keys.ts';
import { onKeys } from './keys.ts';
import { countStale, resealBatch } from './reseal.ts';
import type { SealedColumn } from './sealed-columns.ts';

export interface RotationDeps {
  runtime: Runtime;
  keys: DataKeys;
  masterKey(): Uint8Array;
  columns: readonly SealedColumn[];
}

/**
 * Period for which earlier keys are retained, because requests that wait for a signature may contain their
 * sealed values.
 */
const RETIRE_AFTER_MS = 15 * 60_000;
const RETRY_MS = 500;
/** Passes without a change after which the remaining values are reported as damaged. */
const MAX_IDLE_PASSES = 10;
/** Time in which requests that began before a key was active are committed. */
const COMMIT_MS = 2_000;

const conflict = (reason: string) => new Fault('CONFLICT', reason);

const numbersOf = (rows: readonly DataKeyRow[]) =>
  [...new Set(rows.map((row) => row.number))].sort((a, b) => a - b);

const latestNumber = (rows: readonly DataKeyRow[]) => Math.max(0, ...numbersOf(rows));

const isOpenedBy = (rows: readonly DataKeyRow[], id: string) =>
  numbersOf(rows).every((number) =>
    rows.some((row) => row.number === number && row.master_key === id),
  );

export interface KeyState {
  number: number;
  status: 'announced' | 'active' | 'superseded';
  activeFrom: Time | null;
  masterKeys: string[];
}

/**
 * The keys of the installation, oldest first. Needs the master key only before the first rotation.
 */
export function keyStates({ keys, masterKey, runtime }: RotationDeps): KeyState[] {
  const rows = keys.rows();
  if (rows.length === 0) {
    const masterKeys = [masterKeyId(masterKey())];
    return [{ number: 0, status: 'active', activeFrom: null, masterKeys }];
  }
  const activeKeyNumber = activeNumber(rows, runtime.effects.now());
  return numbersOf(rows).map((number) => {
    const rowsOfNumber = rows.filter((row) => row.number === number);
    const laterStatus = number > activeKeyNumber ? 'announced' : 'active';
    return {
      number,
      status: number < activeKeyNumber ? 'superseded' : laterStatus,
      activeFrom: number === 0 ? null : (rowsOfNumber[0]?.active_from ?? null),
      masterKeys: rowsOfNumber.map((row) => row.master_key),
    };
  });
}

/** Number of values of each column that an earlier key has sealed. Empty before the first rotation. */
export async function staleTexts({ runtime, keys, columns }: RotationDeps) {
  const number = latestNumber(keys.rows());
  if (number === 0) return [];
  const counts = [];
  for (const column of columns) {
    const count = await countStale(runtime.db, column, number);
    if (count > 0) counts.push({ column: `${column.table}.${column.column}`, count });
  }
  return counts;
}

/** Publishes key `number`, if it is set, and all earlier keys under each master key. */
async function publish(
  { runtime, keys, masterKey }: RotationDeps,
  newMasterKey: Uint8Array | undefined,
  number: number | undefined,
): Promise<void> {
  const rows = keys.rows();
  const masterKeys = [masterKey(), ...(newMasterKey ? [newMasterKey] : [])];
  const ids = new Set(masterKeys.map(masterKeyId));
  const otherKeys = rows.filter((row) => !ids.has(row.master_key));
  if (otherKeys.length > 0) {
    throw conflict(
      `The master key ${otherKeys[0]?.master_key} also opens the keys. Retire it first.`,
    );
  }
  await onKeys(runtime, 'sandbox', async (ctx) => {
    const stage = (each: number, key: Uint8Array, activeFrom: Time) => {
      for (const wrappingKey of masterKeys) {
        const master_key = masterKeyId(wrappingKey);
        const id = `${each} ${master_key}`;
        if (rows.some((row) => row.id === id)) continue;
        const sealedKey = wrapKey(ctx.effects, wrappingKey, each, key);
        const times = { created_at: ctx.now, active_from: activeFrom };
        ctx.insert(dataKeys, { id, number: each, master_key, sealed: sealedKey, ...times });
      }
    };
    for (const each of rows.length === 0 ? [0] : numbersOf(rows)) {
      stage(each, keys.key(each), rows.find((row) => row.number === each)?.active_from ?? ctx.now);
    }
    if (number === undefined) return;
    stage(number, ctx.effects.random(KEY_BYTES), ctx.effects.now() + DATA_KEY_NOTICE_MS);
  }).catch((error: unknown) => {
    if (isKeyTaken(error))
      throw conflict('Another rotation has just started. Retry when it has finished.');
    throw error;
  });
  await keys.read();
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Seals all values of earlier keys with the newest key. Yields a line for each step. */
async function* reseal(deps: RotationDeps): AsyncGenerator<string> {
  const { runtime, keys, columns } = deps;
  const number = latestNumber(keys.rows());
  const activeFrom = Math.max(0, ...keys.rows().map((row) => row.active_from));
  const waitMs = activeFrom - runtime.effects.now();
  if (waitMs > 0) {
    yield `Key ${number} seals in ${Math.ceil(waitMs / 1_000)} s. All servers read it before then.`;
    await sleep(waitMs);
  }
  for (const column of columns) {
    const name = `${column.table}.${column.column}`;
    const total = await countStale(runtime.db, column, number);
    let sealedCount = 0;
    let reportedMs = performance.now();
    let idlePasses = 0;
    for (let lastId = ''; sealedCount < total && idlePasses < MAX_IDLE_PASSES; ) {
      const batch = await resealBatch(runtime, column, number, lastId);
      sealedCount += batch.count;
      lastId = batch.lastId;
      idlePasses = batch.count > 0 ? 0 : idlePasses + 1;
      // At the end of the table, rows that were locked are read again.
      if (batch.lastId === '') {
        if ((await countStale(runtime.db, column, number)) === 0) break;
        await sleep(RETRY_MS);
      }
      if (performance.now() - reportedMs > 2_000) {
        reportedMs = performance.now();
        yield `${name}: ${sealedCount} of ${total}`;
      }
    }
    if (total > 0) yield `${name}: ${sealedCount} sealed again`;
  }
}

async function* finishReseal(deps: RotationDeps): AsyncGenerator<string> {
  yield* reseal(deps);
  // Requests that began before the new key was active may have stored more values of earlier keys.
  await sleep(COMMIT_MS);
  yield* reseal(deps);
  const remainingCounts = await staleTexts(deps);
  if (remainingCounts.length > 0) {
    const names = remainingCounts.map(({ column, count }) => `${count} in ${column}`).join(', ');
    throw conflict(
      `Values of an earlier key remain: ${names}. Repeat the command. Remove damaged values.`,
    );
  }
}

/**
 * Rotates the key that seals, and adds `newMasterKey` if there is one. Continues a rotation that was
 * interrupted. Yields a line for each step.
 */
export async function* rotateDataKeys(
  deps: RotationDeps,
  newMasterKey?: Uint8Array,
): AsyncGenerator<string> {
  const { keys, runtime } = deps;
  await keys.read();
  const rows = keys.rows();
  const latestKeyNumber = latestNumber(rows);
  const isAnnounced = activeNumber(rows, runtime.effects.now()) < latestKeyNumber;
  const staleColumns = await staleTexts(deps);
  const isUnfinished = latestKeyNumber > 0 && (isAnnounced || staleColumns.length > 0);
  const isNewMaster = newMasterKey && !isOpenedBy(rows, masterKeyId(newMasterKey));
  const number = isUnfinished ? latestKeyNumber : latestKeyNumber + 1;
  if (isUnfinished) yield `The rotation to key ${latestKeyNumber} continues.`;
  if (!isUnfinished || isNewMaster) {
    await publish(deps, newMasterKey, isUnfinished ? undefined : number);
    if (!isUnfinished) yield `Key ${number} is published.`;
    if (newMasterKey) yield `Master key ${masterKeyId(newMasterKey)} opens all keys.`;
  }
  yield* finishReseal(deps);
  yield `Everything is sealed with key ${number}.`;
}

/**
 * Deletes earlier keys except key 0, and the keys under every master key except the configured one.
 * Unless `isForced` is true, throws CONFLICT while requests may still contain sealed values of an
 * earlier key.
 */
export async function* retireDataKeys(
  deps: RotationDeps,
  isForced: boolean,
): AsyncGenerator<string> {
  const { keys, masterKey, runtime } = deps;
  await keys.read();
  const rows = keys.rows();
  if (rows.length === 0) throw conflict('There is no earlier key, because no key was rotated yet.');
  const id = masterKeyId(masterKey());
  if (!isOpenedBy(rows, id)) {
    throw conflict('The configured master key does not open all keys. Configure one that does.');
  }
  for (const number of numbersOf(rows)) keys.key(number);
  const latestKeyNumber = latestNumber(rows);
  const activeFrom = rows.find((row) => row.number === latestKeyNumber)?.active_from ?? 0;
  const retirableAt = activeFrom + RETIRE_AFTER_MS;
  if (!isForced && runtime.effects.now() < retirableAt) {
    const time = new Date(retirableAt).toISOString();
    throw conflict(
      `Requests may contain values of an earlier key until ${time}. Retry then, or use --now.`,
    );
  }
  yield* finishReseal(deps);
  // Key 0 is retained, because keyed hashes are derived from it.
  const retiredRows = rows.filter(
    (row) => row.master_key !== id || (row.number !== 0 && row.number !== latestKeyNumber),
  );
  await onKeys(runtime, 'sandbox', async (ctx) => {
    for (const row of retiredRows) ctx.remove(dataKeys, row);
  });
  await keys.read();
  const masterKeys = new Set(retiredRows.map((row) => row.master_key));
  masterKeys.delete(id);
  for (const each of masterKeys) yield `Master key ${each} no longer opens any key.`;
  const numbers = new Set(
    retiredRows.map((row) => row.number).filter((each) => each !== latestKeyNumber),
  );
  numbers.delete(0);
  for (const each of numbers) yield `Key ${each} is deleted.`;
  if (retiredRows.length === 0) yield 'There is no earlier key.';
}
