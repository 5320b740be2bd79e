// The effects of a test server: a clock that advances only when set, and random bytes from the seed of
// the run. Network access is real. This file also advances the clock and reads the emitted events.
import { createCipheriv, createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { App } from '../../../src/compose.ts';
import type { Effects, HttpRequest } from '../../../src/kernel/effects.ts';
import { systemEffects } from '../../../src/runtime/config/system-effects.ts';
import { completeEventData, eventContext } from '../../../src/runtime/operation/event-data.ts';
import { TEST_START } from './database.ts';

export interface TestEffects extends Effects {
  set(time: number): void;
}

/**
 * The seed of this run, printed by vitest. A test file receives the same random bytes for the same
 * seed.
 */
export const runSeed = (): string => process.env.RAILHEAD_TEST_SEED ?? '0';

/** Number of effects that each test file has created. */
const counts = new Map<string, number>();

/** Each effects object of a run has its own seed. */
function nextSeed(): string {
  const file = expect.getState().testPath ?? '';
  const number = counts.get(file) ?? 0;
  counts.set(file, number + 1);
  return `${runSeed()} ${file} ${number}`;
}

/** Deterministic bytes of a seed. */
function seededBytes(seed: string): (bytes: number) => Uint8Array {
  const key = createHash('sha256').update(seed).digest();
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (bytes) => stream.update(Buffer.alloc(bytes));
}

/** `seed` is set where every run must use the same bytes. */
export function testEffects(start = TEST_START, seed = nextSeed()): TestEffects {
  const realEffects = systemEffects();
  let now = start;
  return {
    now: () => now,
    set(time) {
      now = time;
    },
    random: seededBytes(seed),
    http: (request: HttpRequest) => realEffects.http(request),
    stream: (request) => realEffects.stream(request),
    call: (limits, work) => realEffects.call(limits, work),
  };
}

const NEXT_DUE_SQL = `select extract(epoch from min(due)) * 1000 as due from (
  select min(due_at) as due from jobs union all
  select min(q.due_at) from webhook_queue q where not exists (select from webhook_endpoints w
    where w.platform_id = q.platform_id and w.number = q.endpoint
      and (w.status = 'PAUSED' or w.number > 0 and w.url is null)) union all
  select min(expires_at) from quotes q join transactions t on t.id = q.transaction_id
    where t.status = 'PENDING') soon`;

/** Advances the clock of a server and runs its jobs and deliveries. */
export function clockOf({ worker, deliverer, runtime }: App, effects: TestEffects) {
  /** Runs due work until none remains. */
  async function settle(): Promise<void> {
    for (;;) {
      const jobCount = await worker.runDue();
      const deliveryCount = await deliverer.runDue(effects.now());
      if (jobCount + deliveryCount === 0) return;
    }
  }

  /**
   * Advances the clock by `ms` and runs the work that is due. The clock stops at every due time, or
   * only at multiples of `intervalMs`, as on a busy server.
   */
  async function advance(ms: number, intervalMs = 1): Promise<void> {
    const endTime = effects.now() + ms;
    await settle();
    for (let round = 0; round < 10_000; round++) {
      const [row] = await runtime.db.query(NEXT_DUE_SQL, []);
      const nextDue =
        row?.due === null || row?.due === undefined ? Infinity : Math.ceil(Number(row.due));
      const stopTime = Math.ceil(nextDue / intervalMs) * intervalMs;
      if (stopTime > endTime) break;
      effects.set(Math.max(effects.now(), stopTime));
      await settle();
    }
    effects.set(endTime);
    await settle();
  }

  return { settle, advance };
}

export interface EmittedEvent {
  id: string;
  platformId: string;
  type: string;
  subject: string;
  // biome-ignore lint/suspicious/noExplicitAny: a resource of any shape.
  data: any;
  balance: bigint | null;
  held: bigint | null;
}

/** Every event of a server, oldest first. Data of an erased customer is null. */
export async function emittedEvents({ db, vault }: App['runtime']): Promise<EmittedEvent[]> {
  const rows = await db.query(
    `select e.id, e.platform_id, e.type, e.subject, e.data, b.data as base, e.sealed_for, data_key,
        e.balance, e.held
      from events e left join events b on b.id = e.base_id
        left join customers c on c.id = e.sealed_for
      order by e.id`,
    [],
  );
  const decryptData = ({
    id,
    data,
    base,
    sealed_for: owner,
    data_key: sealedKey,
  }: Record<string, unknown>) => {
    if (owner === null) return completeEventData(data as string, base as string | null);
    if (sealedKey === null) return 'null';
    const key = { owner: owner as string, sealed: sealedKey as string };
    return vault.open(key, data as string, eventContext(id as string)).toString();
  };
  return rows.map((row) => ({
    id: row.id as string,
    platformId: row.platform_id as string,
    type: row.type as string,
    subject: row.subject as string,
    data: JSON.parse(decryptData(row)),
    balance: row.balance as bigint | null,
    held: row.held as bigint | null,
  }));
}
