// Closes payments that their network does not mention again. Each has funds on hold, or debited and
// not cleared, and blocks the deletion of its customer. Networks drop uncleared authorizations
// after days or weeks, and not all of them report it; after our own period such a payment is
// closed. A clearing after that is a late clearing.
import type { Time } from '../../kernel/effects.ts';
import type { Sweep } from '../../runtime/jobs/jobs.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../tenancy/platform/index.ts';
import { cardPaymentOf } from './clearing/payment.ts';
import { giveUp } from './notices.ts';

/** How long to wait for the network. */
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

/** Closes them. A concurrent second attempt finds them closed. */
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
