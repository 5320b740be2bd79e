// The end of payments that their network never mentions again. Each of them has money set aside, or taken
// and not cleared, and keeps its customer from being deleted. Networks forget what was not cleared within
// days or weeks, but not all of them say so: after our own time such a payment ends as if it had been said.
// What is cleared later all the same is a late clearing.
import type { Time } from '../../kernel/effects.ts';
import type { Sweep } from '../../runtime/jobs/jobs.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../tenancy/platform/index.ts';
import { cardPaymentOf } from './clearing/payment.ts';
import { giveUp } from './notices.ts';

/** How long a network is waited for. */
const CARD_AUTHORIZATION_MS = 30 * 24 * 3_600_000;
const LOOK_EVERY_MS = 60_000;
const AT_ONCE = 100;

const DUE = `select id, platform_id from card_open_payments where opened_at <= $1
  order by opened_at limit ${AT_ONCE}`;

async function giveUpOne(runtime: Runtime, id: string, platformId: string): Promise<void> {
  const platform = await readPlatform(runtime.db, platformId);
  if (!platform) return;
  await operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    await giveUp(ctx, await cardPaymentOf(ctx, id));
  });
}

/** Ends them. Whoever is second to end one finds it closed. */
export function cardSweep(): Sweep {
  let next: Time = 0;
  return {
    name: 'cards.giveUp',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < next) return 0;
      next = now + LOOK_EVERY_MS;
      type Due = { id: string; platform_id: string };
      const due = await runtime.db.query<Due>(DUE, [new Date(now - CARD_AUTHORIZATION_MS)]);
      await Promise.all(due.map((each) => giveUpOne(runtime, each.id, each.platform_id)));
      if (due.length === AT_ONCE) next = now;
      return due.length;
    },
  };
}
