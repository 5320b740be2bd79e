// The keys that seal the secrets of the installation: data keys of customers, private keys and credentials.
// These keys are stored sealed under the master key, so a change of the master key does not change the
// sealed values. Before the first rotation there is no row, and the master key is key 0. All processes read
// the rows every second, so each has a new key before any process seals with it.
import { hkdfSync } from 'node:crypto';
import type { Effects } from '../../kernel/effects.ts';
import { contentionFault } from '../../kernel/fault.ts';
import { type Database, UNPAGED } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { Log } from '../observability/log.ts';
import { KEY_BYTES, open, seal } from './crypto.ts';

export const dataKeys = table(
  'data_keys',
  {
    /** Number and master key, so that two concurrent rotations cannot both create a key. */
    id: col.text,
    number: col.int4,
    /** ID of the master key that seals the key. */
    master_key: col.text,
    sealed: col.text,
    created_at: col.time,
    /** Time from which the key seals, until a key with a higher number seals. */
    active_from: col.time,
    version: col.int4,
  },
  { clientKeyed: true },
);
export type DataKeyRow = RowOf<typeof dataKeys>;

/** Keys of the vault, by number. */
export interface SealingKeys {
  /** The key that currently seals. */
  active(): { number: number; key: Uint8Array };
  /** The key of a number. Throws if this process does not have the key. */
  key(number: number): Uint8Array;
}

export interface DataKeys extends SealingKeys {
  rows(): readonly DataKeyRow[];
  read(): Promise<void>;
  /** Starts to read the keys periodically, so that rotations take effect. */
  start(log: Log): void;
  stop(): void;
}

/** Time between the publication of a key and the first value that is sealed with it. */
export const DATA_KEY_NOTICE_MS = 15_000;
const READ_EVERY_MS = 1_000;
/** A process that could not read the rows for this time stops sealing, because it may lack a new key. */
const LEASE_MS = DATA_KEY_NOTICE_MS - 3_000;

const deriveKey = (masterKey: Uint8Array, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', masterKey, '', purpose, KEY_BYTES));

/** The ID of a master key, which does not reveal the key. */
export const masterKeyId = (masterKey: Uint8Array): string =>
  Buffer.from(deriveKey(masterKey, 'id of the master key')).toString('hex').slice(0, 16);

const contextOf = (number: number) => `data_keys ${number}`;

/** Seals a data key under a master key for storage. */
export const wrapKey = (
  effects: Effects,
  masterKey: Uint8Array,
  number: number,
  key: Uint8Array,
): string => seal(effects, deriveKey(masterKey, 'data keys'), key, contextOf(number));

export const unwrapKey = (
  masterKey: Uint8Array,
  { number, sealed }: Pick<DataKeyRow, 'number' | 'sealed'>,
): Uint8Array => open(deriveKey(masterKey, 'data keys'), sealed, contextOf(number));

/** The number of the key that seals at `now`. */
export const activeNumber = (
  rows: readonly Pick<DataKeyRow, 'number' | 'active_from'>[],
  now: number,
): number => Math.max(0, ...rows.flatMap((row) => (row.active_from <= now ? row.number : [])));

const readDataKeys = (db: Pick<Database, 'find'>): Promise<DataKeyRow[]> =>
  db.find(dataKeys, {}, UNPAGED);

interface Options {
  db: Database;
  effects: Pick<Effects, 'now'>;
  /** Called at the first use, because most operator commands need no key. */
  masterKey(): Uint8Array;
}

export function createDataKeys({ db, effects, masterKey }: Options): DataKeys {
  // Keys remain in memory, because a change set may contain a value that a superseded key has sealed.
  const openedKeys = new Map<number, Uint8Array>();
  let rows: readonly DataKeyRow[] = [];
  let readAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isFollowing = false;

  function openAndCacheKey(number: number): Uint8Array {
    const key = openKey(number);
    openedKeys.set(number, key);
    return key;
  }

  function openKey(number: number): Uint8Array {
    if (rows.length === 0 && number === 0) return masterKey();
    const rowsOfNumber = rows.filter((row) => row.number === number);
    if (rowsOfNumber.length === 0) throw new Error(`The data key ${number} does not exist.`);
    const id = masterKeyId(masterKey());
    const row = rowsOfNumber.find((each) => each.master_key === id);
    if (row) return unwrapKey(masterKey(), row);
    throw new Error(
      `The data key ${number} is sealed with another master key. Configure that master key.`,
    );
  }

  const keyOf = (number: number) => openedKeys.get(number) ?? openAndCacheKey(number);

  async function read(): Promise<void> {
    const startMs = performance.now();
    rows = await readDataKeys(db);
    readAt = startMs;
  }

  function follow(log: Log): void {
    let problem: string | undefined;
    let previousNumber = activeNumber(rows, effects.now());
    const poll = async () => {
      try {
        await read();
        for (const { number } of rows) keyOf(number);
        problem = undefined;
        const number = activeNumber(rows, effects.now());
        if (number !== previousNumber) log.info({ number }, 'another data key is active');
        previousNumber = number;
      } catch (error) {
        const { message } = error as Error;
        if (problem !== message) log.error({ err: error }, 'data keys could not be read');
        problem = message;
      }
      if (isFollowing) timer = setTimeout(poll, READ_EVERY_MS).unref();
    };
    timer = setTimeout(poll, 0).unref();
  }

  return {
    rows: () => rows,
    read,
    key: keyOf,
    active() {
      if (isFollowing && performance.now() - readAt > LEASE_MS) {
        throw contentionFault('The encryption keys of this process are not current.');
      }
      const number = activeNumber(rows, effects.now());
      return { number, key: keyOf(number) };
    },
    start(log) {
      isFollowing = true;
      readAt = performance.now();
      for (const number of new Set([0, ...rows.map((row) => row.number)])) keyOf(number);
      follow(log);
    },
    stop() {
      isFollowing = false;
      clearTimeout(timer);
    },
  };
}
