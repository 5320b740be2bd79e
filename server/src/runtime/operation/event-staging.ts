// Stages the events of a change set in their packed form. If an earlier event contains most of the data,
// only differences are stored.
import type { Caller } from '../../kernel/caller.ts';
import type { EventDefinition } from '../../kernel/contract/event.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import { newId, timeOfId } from '../../kernel/id.ts';
import type { ChangeSet, EventRow, Row } from '../committer/change-set.ts';
import type { Database } from '../db/database.ts';
import { isSameWeek } from '../db/partitions/partitions.ts';
import type { DataKey, Vault } from '../security/vault.ts';
import { customerKeyOf, customerOf, eventChanges, eventContext } from './event-data.ts';
import { packJson } from './stored-json.ts';

/** A row that determines the data of an event, as read. */
export interface DescribedRow {
  id: string;
  version: number;
  /** Distinguishes rows with the same ID before and after the reset of a sandbox platform. */
  created_at: Time;
}

/** An event with the complete data of one version of a row. */
interface VersionEvent {
  /** Creation time and version of the row. */
  version: string;
  id: string;
  customerKey: number | null;
}

/**
 * Maximum age of an event to which another refers. Both events are of the same week, because complete
 * weeks are removed.
 */
const MAX_EARLIER_MS = 12 * 3_600_000;

/** Maximum cached events, one for each type and row, with 200 bytes each. */
const MAX_CACHED = 10_000;

/** The latest events of rows in this process, by type and row, oldest first. */
const versionEvents = new WeakMap<Database, Map<string, VersionEvent>>();

function versionEventsOf(db: Database): Map<string, VersionEvent> {
  const existingCache = versionEvents.get(db);
  if (existingCache) return existingCache;
  const cachedEvents = new Map<string, VersionEvent>();
  versionEvents.set(db, cachedEvents);
  return cachedEvents;
}

const keyOf = (type: string, subject: string) => `${type} ${subject}`;

/** The hash of the customer of an event. Null without a customer. */
function keyOfCustomer(subject: string, data: unknown): number | null {
  const customer = customerOf(subject, data);
  return customer === undefined ? null : customerKeyOf(customer);
}

/** Caches the events of a committed change set, so that later events may refer to them. */
export function rememberEvents(db: Database, { events }: ChangeSet): void {
  for (const { id, type, subject, version, customer_key } of events) {
    if (version === undefined) continue;
    const cachedEvents = versionEventsOf(db);
    const key = keyOf(type, subject);
    cachedEvents.delete(key);
    cachedEvents.set(key, { version, id, customerKey: customer_key ?? null });
    if (cachedEvents.size <= MAX_CACHED) continue;
    for (const oldestKey of cachedEvents.keys()) {
      cachedEvents.delete(oldestKey);
      break;
    }
  }
}

interface StagingOptions {
  effects: Effects;
  db: Database;
  vault: Vault;
  caller: Caller;
  now: Time;
  /** Whether times of the platform may repeat. */
  ownClock: boolean;
  set: ChangeSet;
}

/** The first event of a subject that stores its data completely. */
interface CompleteEvent {
  /** Index in the change set. */
  at: number;
  row: EventRow;
  data: Row;
  text: string;
}

export function createEventStaging({
  effects,
  db,
  vault,
  caller,
  now,
  ownClock,
  set,
}: StagingOptions) {
  const completeEvents = new Map<string, CompleteEvent>();

  function stage(
    { type }: EventDefinition,
    subject: string,
    data: string,
    customerKey: number | null,
    id: string = newId(effects, 'Webhook'),
  ): EventRow {
    const row: EventRow = {
      id,
      platform_id: caller.platformId,
      type,
      subject,
      data,
      account: null,
      created_at: now,
      delivered: true,
      sealed_for: null,
      base_id: null,
      customer_key: customerKey,
    };
    set.events.push(row);
    return row;
  }

  /** Stages only the differences if the change set has an earlier event of the resource. */
  function emitDifference(event: EventDefinition, subject: string, data: Row): void {
    const completeEvent = completeEvents.get(subject);
    // A rolled-back attempt may have removed the earlier event.
    const base =
      completeEvent && set.events[completeEvent.at] === completeEvent.row
        ? completeEvent
        : undefined;
    const id = newId(effects, 'Webhook');
    const isSamePartition = base && isSameWeek(base.row.id, id);
    const changes = isSamePartition ? eventChanges(base.data, data, base.text) : undefined;
    const text = changes ?? JSON.stringify(data);
    const row = stage(event, subject, packJson(text), keyOfCustomer(subject, data), id);
    if (!base) completeEvents.set(subject, { at: set.events.length - 1, row, data, text });
    else if (changes !== undefined) row.base_id = base.row.id;
  }

  return {
    emit(event: EventDefinition, subject: string, data: unknown, account?: string): void {
      if (account === undefined) emitDifference(event, subject, data as Row);
      else {
        const text = packJson(JSON.stringify(data));
        stage(event, subject, text, keyOfCustomer(subject, data)).account = account;
      }
    },

    emitVersion(
      event: EventDefinition,
      { id, version, created_at }: DescribedRow,
      account: string,
      data: () => unknown,
    ): void {
      const earlierEvent = versionEventsOf(db).get(keyOf(event.type, id));
      const rowVersion = `${created_at} ${version}`;
      const eventId = newId(effects, 'Webhook');
      const isRecent =
        earlierEvent &&
        timeOfId(eventId) - timeOfId(earlierEvent.id) < MAX_EARLIER_MS &&
        isSameWeek(eventId, earlierEvent.id);
      if (!ownClock && isRecent && earlierEvent.version === rowVersion) {
        const row = stage(event, id, '{}', earlierEvent.customerKey, eventId);
        Object.assign(row, { account, base_id: earlierEvent.id });
        return;
      }
      const fullData = data();
      const text = packJson(JSON.stringify(fullData));
      const row = stage(event, id, text, keyOfCustomer(id, fullData), eventId);
      row.account = account;
      if (!ownClock) row.version = rowVersion;
    },

    emitSealed(
      key: DataKey | undefined,
      event: EventDefinition,
      subject: string,
      data: unknown,
    ): void {
      const row = stage(event, subject, JSON.stringify(data), keyOfCustomer(subject, data));
      if (!key) return;
      row.data = vault.seal(key, row.data, eventContext(row.id));
      row.sealed_for = key.owner;
    },

    record(event: EventDefinition, subject: string, data: unknown): string {
      const text = packJson(JSON.stringify(data));
      const row = stage(event, subject, text, keyOfCustomer(subject, data));
      row.delivered = false;
      return row.id;
    },
  };
}
