// An outbox for delivery tests: a database, a fixed clock, keys, and events inserted
// directly into the table, without the operations that would emit them.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { namingFor } from '../../../src/catalog/naming.ts';
import {
  createDeliverer,
  type Deliverer,
} from '../../../src/features/notifications/webhooks/index.ts';
import type { AttemptResult } from '../../../src/features/notifications/webhooks/schedule.ts';
import type { Effects, Time } from '../../../src/kernel/effects.ts';
import { newId } from '../../../src/kernel/id.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import { createClocks } from '../../../src/runtime/clocks/clocks.ts';
import { systemEffects } from '../../../src/runtime/config/system-effects.ts';
import { type Database, openDatabase } from '../../../src/runtime/db/database.ts';
import type { Log } from '../../../src/runtime/observability/log.ts';
import { createMetrics, type Metrics } from '../../../src/runtime/observability/metrics.ts';
import type { SigningKeys } from '../../../src/runtime/security/key-ring.ts';
import { createVault } from '../../../src/runtime/security/vault.ts';
import { createTestDatabase } from '../app/database.ts';

const START = Date.UTC(2026, 0, 5, 9);

const toPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

function newSigningKeys(): SigningKeys {
  const newKeys = () => {
    const keyPair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const standardKey = generateKeyPairSync('ed25519');
    return {
      keyId: 'key-1',
      earlierStandard: [],
      privateKey: keyPair.privateKey,
      publicKeyPem: toPem(keyPair.publicKey),
      standard: { privateKey: standardKey.privateKey, publicKeyPem: toPem(standardKey.publicKey) },
    };
  };
  return { sandbox: newKeys(), production: newKeys() };
}

const ignoreLine = () => undefined;
export const silentLog: Log = {
  debug: ignoreLine,
  info: ignoreLine,
  warn: ignoreLine,
  error: ignoreLine,
  request: ignoreLine,
  flush: ignoreLine,
};

interface EventState {
  due_at: Time | null;
  attempts: number;
}

interface OutboxEvent {
  type?: string | undefined;
  subject?: string | undefined;
  data?: string | undefined;
  balance?: bigint | undefined;
  held?: bigint | undefined;
}

interface AttemptRow {
  platform_id: string;
  endpoint: number;
  event_id: string;
  attempt: number;
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  head: string | null;
  response: string | null;
  result: AttemptResult;
}

/** All attempts of an event, by endpoint, oldest first. */
export const attemptsOf = (db: Pick<Database, 'query'>, eventId: string) =>
  db.query<AttemptRow>(
    'select * from webhook_attempts where event_id = $1 order by endpoint, attempt',
    [eventId],
  );

export type Outbox = Awaited<ReturnType<typeof openOutbox>>;

const INSERT_PLATFORM = `insert into platforms (id, name, environment, regulated,
    documents_optional, sca, terms_required, uma_domain, proxy_uma_subdomain, webhook_endpoint,
    currencies, fees, created_at, updated_at)
  values ($1, $1, $2, true, false, true, false, 'a.example', 'a', $3, '[]', '[]', $4, $4)`;

const INSERT_EVENTS = `with queued as (insert into webhook_queue (event_id, platform_id, due_at)
    select id, $2, $3 from unnest($1::text[]) as e(id))
  insert into events
    (id, platform_id, type, subject, data, account, balance, held, created_at)
  select id, $2, type, subject, data, account, balance, held, $3
  from unnest($1::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int8[], $9::int8[])
    as e(id, type, subject, data, account, balance, held)`;

const SELECT_STATE = `select q.due_at, coalesce(q.attempts,
    (select max(a.attempt) from webhook_attempts a where a.event_id = e.id), 0) as attempts
  from events e left join webhook_queue q on q.event_id = e.id where e.id = $1`;

export async function openOutbox() {
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.url });
  const keys = newSigningKeys();
  const naming = namingFor('Service');
  const databases: Database[] = [db];
  const deliverers: Deliverer[] = [];
  const counts = { delivered: 0, retry: 0, dropped: 0, failed: 0 };
  const metrics: Metrics = { ...createMetrics(), delivery: (result) => void counts[result]++ };
  const realEffects = systemEffects();
  const clock = { now: START };
  const effects: Effects = { ...realEffects, now: () => clock.now };

  /** A separate database handle, as in another process. */
  function anotherDatabase(): Database {
    const secondDatabase = openDatabase({ url: database.url });
    databases.push(secondDatabase);
    return secondDatabase;
  }

  const vault = createVault(effects, () => Buffer.alloc(32, 7));
  return {
    db,
    vault,
    keys,
    naming,
    metrics,
    counts,
    effects,
    clock,
    anotherDatabase,
    /** A deliverer on the fixed clock, unless `overrides` replaces the effects. */
    deliverer(overrides: Partial<Parameters<typeof createDeliverer>[0]> = {}): Deliverer {
      const defaults = {
        ...{
          effects,
          db,
          clocks: createClocks(db, effects),
          vault,
          keys,
          naming,
          log: silentLog,
          metrics,
        },
        loopbackWebhooks: true,
      };
      const createdDeliverer = createDeliverer({ ...defaults, ...overrides });
      deliverers.push(createdDeliverer);
      return createdDeliverer;
    },
    async platform(endpoint: string | null, environment: Mode = 'sandbox') {
      const id = newId(effects, 'PlatformConfig');
      await db.query(INSERT_PLATFORM, [id, environment, endpoint, new Date(effects.now())]);
      return id;
    },
    setEndpoint: (id: string, endpoint: string | null) =>
      db.query('update platforms set webhook_endpoint = $2 where id = $1', [id, endpoint]),
    /** Inserts events. Returns their IDs in order. */
    async events(platform: string, outboxEvents: readonly OutboxEvent[], time: Time = clock.now) {
      const rows = outboxEvents.map((event) => ({
        id: newId(effects, 'Webhook') as string,
        ...event,
      }));
      const column = (read: (row: (typeof rows)[number]) => unknown) => rows.map(read);
      await db.query(INSERT_EVENTS, [
        column((row) => row.id),
        platform,
        new Date(time),
        column((row) => row.type ?? 'OUTGOING_PAYMENT.COMPLETED'),
        column((row) => row.subject ?? `Transaction:${row.id}`),
        column((row) => row.data ?? JSON.stringify({ id: row.subject ?? row.id })),
        column((row) => (row.balance === undefined ? null : 'InternalAccount:1')),
        column((row) => row.balance?.toString() ?? null),
        column((row) => row.held?.toString() ?? null),
      ]);
      return rows.map((row) => row.id);
    },
    async state(id: string): Promise<EventState> {
      const [row] = await db.query(SELECT_STATE, [id]);
      // The columns of SELECT_STATE are the fields of EventState.
      return row as unknown as EventState;
    },
    async countUndelivered(): Promise<number> {
      const sql = 'select count(*)::int as n from webhook_queue';
      const [row] = await db.query<{ n: number }>(sql);
      return row?.n ?? 0;
    },
    async close() {
      for (const deliverer of deliverers) await deliverer.stop();
      for (const database of databases) await database.close();
      await database.drop();
    },
  };
}
