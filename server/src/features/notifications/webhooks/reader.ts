// Finds what is due and brings it in: steps through the platforms, takes leases on those that nobody else
// delivers, and reads as many events of each as its lane has room for. Each stride goes on where the one
// before stopped, so every platform's turn comes however many there are.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import { eventContext } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { Lanes } from './lanes.ts';
import {
  type DueEvent,
  dueEvents,
  holdPlatforms,
  settleUnreadable,
  settleUntold,
  type Waiting,
  waitingPlatforms,
} from './store.ts';

/** How long a dead process keeps others from its platforms. A living one renews every few seconds. */
export const LEASE_MS = 10_000;
/** Platforms looked at in one stride. */
const PLATFORMS_AT_ONCE = 500;
/** Leases taken in one stride: what one process leaves, the next one finds. */
const NEW_LEASES_AT_ONCE = 32;
/** Events taken out of the queue at once because nobody is to be told. */
const SETTLE_AT_ONCE = 5_000;

export interface Stride {
  /** How many events were read or settled. */
  did: number;
  /** Whether platforms are left that this lap has not come to. */
  more: boolean;
}

interface Ask {
  platformId: string;
  /** Events wanted beside those in hand. */
  take: number;
}

interface ReaderDeps {
  db: Database;
  vault: Vault;
  log: Log;
  lanes: Lanes;
}

export function createReader({ db, vault, log, lanes }: ReaderDeps, holder: string) {
  let after = '';

  function asksFor(due: readonly Waiting[], now: Time, total: number) {
    const asks: Ask[] = [];
    let left = total;
    let leases = NEW_LEASES_AT_ONCE;
    for (const { id } of due) {
      const take = Math.min(left, lanes.room(id));
      if (take > 0) asks.push({ platformId: id, take });
      left -= take;
      if (lanes.leaseOf(id) <= now) leases--;
      if (left <= 0 || leases <= 0) return { asks, cutAt: id };
    }
    return { asks, cutAt: null };
  }

  /** Takes or renews leases that are missing or half spent. */
  async function hold(platforms: readonly string[], now: Time): Promise<void> {
    const until = now + LEASE_MS;
    const short = platforms.filter((each) => lanes.leaseOf(each) < now + LEASE_MS / 2);
    if (!short.length) return;
    const held = new Set(await holdPlatforms(db, holder, short, now, until));
    for (const each of short) {
      if (held.has(each)) lanes.hold(each, until);
      else lanes.lose(each);
    }
  }

  /** The event with its data in clear; undefined where that can never be had again. */
  function opened(event: DueEvent): DueEvent | undefined {
    const { id, sealed_for: owner, data_key: sealed } = event;
    if (owner === null) return event;
    // An erased one has no data, whatever else there is of its customer.
    if (sealed === null || event.data === '') return undefined;
    try {
      const data = vault.open({ owner, sealed }, event.data, eventContext(id)).toString();
      return { ...event, data };
    } catch (error) {
      log.error({ err: error, event: id, platformId: event.platform_id }, 'event unreadable');
      return undefined;
    }
  }

  async function read(asks: readonly Ask[], now: Time): Promise<number> {
    await hold(
      asks.map((ask) => ask.platformId),
      now,
    );
    const ours = asks.filter((ask) => lanes.leaseOf(ask.platformId) > now);
    if (!ours.length) return 0;
    const known = ours.flatMap((ask) => [...lanes.inHand(ask.platformId)]);
    const reach = ours.map(({ platformId, take }) => ({
      platformId,
      take: take + lanes.inHand(platformId).size,
    }));
    const events = await dueEvents(db, now, reach, known);
    const lost: string[] = [];
    for (const event of events) {
      const readable = opened(event);
      if (readable) lanes.add(readable);
      else lost.push(event.id);
    }
    if (lost.length) await settleUnreadable(db, lost);
    return events.length;
  }

  return {
    restart() {
      after = '';
    },
    renew: (now: Time) => hold(lanes.active(), now),
    /** Brings in up to about `total` events. */
    async stride(now: Time, total: number): Promise<Stride> {
      if (total <= 0) return { did: 0, more: false };
      const waiting = await waitingPlatforms(db, now, holder, after, PLATFORMS_AT_ONCE);
      const due = waiting.filter((each) => each.due && !each.taken);
      const deaf = due.filter((each) => each.endpoint === null).map((each) => each.id);
      const settled = deaf.length ? await settleUntold(db, now, deaf, SETTLE_AT_ONCE) : 0;
      const told = due.filter((each) => each.endpoint !== null);
      const { asks, cutAt } = asksFor(told, now, total);
      const last = waiting.length === PLATFORMS_AT_ONCE ? (waiting.at(-1)?.id ?? '') : '';
      after = cutAt ?? last;
      return { did: settled + (await read(asks, now)), more: after !== '' };
    },
  };
}
