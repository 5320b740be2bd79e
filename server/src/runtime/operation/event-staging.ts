// Stages the events of a change set, in their stored form: packed, and as differences from an
// earlier event where one holds most of the data already.
import type { Caller } from '../../kernel/caller.ts';
import type { EventDefinition } from '../../kernel/contract/event.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import { newId } from '../../kernel/id.ts';
import type { ChangeSet, EventRow, Row } from '../committer/change-set.ts';
import type { Database } from '../db/database.ts';
import type { DataKey, Vault } from '../security/vault.ts';
import { eventChanges, eventContext } from './event-data.ts';
import { packJson } from './stored-json.ts';

/** A row that determines the data of an event, as read. */
export interface DescribedRow {
  id: string;
  version: number;
  /** Another row with the same id can exist after the reset of a sandbox platform, but not its time. */
  created_at: Time;
}

/** An event that stores the data of one version of a row whole. */
interface VersionEvent {
  /** Creation and version of the row. */
  version: string;
  id: string;
}

/** Rows of which a process remembers an event; 200 bytes each. */
const MAX_REMEMBERED = 10_000;

/** The latest event of a row, by its type and the row, of this process. Oldest first. */
const versionEvents = new WeakMap<Database, Map<string, VersionEvent>>();

function versionEventsOf(db: Database): Map<string, VersionEvent> {
  const known = versionEvents.get(db);
  if (known) return known;
  const map = new Map<string, VersionEvent>();
  versionEvents.set(db, map);
  return map;
}

const keyOf = (type: string, subject: string) => `${type} ${subject}`;

/** Later events may refer to those of a change set once it is committed. */
export function rememberEvents(db: Database, { events }: ChangeSet): void {
  for (const { id, type, subject, version } of events) {
    if (version === undefined) continue;
    const map = versionEventsOf(db);
    const key = keyOf(type, subject);
    map.delete(key);
    map.set(key, { version, id });
    if (map.size <= MAX_REMEMBERED) continue;
    for (const oldest of map.keys()) {
      map.delete(oldest);
      break;
    }
  }
}

interface Staging {
  effects: Effects;
  db: Database;
  vault: Vault;
  caller: Caller;
  now: Time;
  /** Whether times of the platform may repeat. */
  ownClock: boolean;
  set: ChangeSet;
}

/** The first event of a subject that stores its data whole. */
interface WholeEvent {
  /** Place in the change set. */
  at: number;
  row: EventRow;
  data: Row;
  text: string;
}

export function eventStaging({ effects, db, vault, caller, now, ownClock, set }: Staging) {
  const wholeEvents = new Map<string, WholeEvent>();

  function stage({ type }: EventDefinition, subject: string, data: string): EventRow {
    const row: EventRow = {
      id: newId(effects, 'Webhook'),
      platform_id: caller.platformId,
      type,
      subject,
      data,
      account: null,
      created_at: now,
      delivered: true,
      sealed_for: null,
      base_id: null,
    };
    set.events.push(row);
    return row;
  }

  /** Stages what differs from an earlier event of the change set about the resource, if there is one. */
  function emitShort(event: EventDefinition, subject: string, data: Row): void {
    const first = wholeEvents.get(subject);
    // A rolled-back attempt may have removed it.
    const base = first && set.events[first.at] === first.row ? first : undefined;
    const changes = base && eventChanges(base.data, data, base.text);
    const text = changes ?? JSON.stringify(data);
    const row = stage(event, subject, packJson(text));
    if (!base) wholeEvents.set(subject, { at: set.events.length - 1, row, data, text });
    else if (changes !== undefined) row.base_id = base.row.id;
  }

  return {
    emit(event: EventDefinition, subject: string, data: unknown, account?: string): void {
      if (account === undefined) emitShort(event, subject, data as Row);
      else stage(event, subject, packJson(JSON.stringify(data))).account = account;
    },

    emitVersion(
      event: EventDefinition,
      { id, version, created_at }: DescribedRow,
      account: string,
      data: () => unknown,
    ): void {
      const earlier = versionEventsOf(db).get(keyOf(event.type, id));
      const wanted = `${created_at} ${version}`;
      const isStored = !ownClock && earlier?.version === wanted;
      const row = stage(event, id, isStored ? '{}' : packJson(JSON.stringify(data())));
      row.account = account;
      if (isStored) row.base_id = earlier.id;
      else if (!ownClock) row.version = wanted;
    },

    emitSealed(
      key: DataKey | undefined,
      event: EventDefinition,
      subject: string,
      data: unknown,
    ): void {
      const row = stage(event, subject, JSON.stringify(data));
      if (!key) return;
      row.data = vault.seal(key, row.data, eventContext(row.id));
      row.sealed_for = key.owner;
    },

    record(event: EventDefinition, subject: string, data: unknown): string {
      const row = stage(event, subject, packJson(JSON.stringify(data)));
      row.delivered = false;
      return row.id;
    },
  };
}
