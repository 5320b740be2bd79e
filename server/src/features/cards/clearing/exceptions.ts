// Payments with cards whose network has its money while we have not got ours: an operator says how that ends.
// Either the account pays after all, into debt if need be, or we do. No amount is typed: it follows from what
// is known of the payment, and nothing more is expected of it afterwards.

import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { factsOf, isPulling } from '../../payments/card-payments/index.ts';
import { railNotices } from '../../payments/suspense/index.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { eventAfter, type Resolution, resolved } from './arithmetic.ts';
import { changePayment, moveSteps, takerOf, whileOpen } from './payment.ts';

/** Ends an exception; throws CONFLICT where there is none that could be ended. */
export async function resolveException(
  ctx: Ctx,
  row: CardPaymentRow,
  { outcome, reason }: { outcome: Resolution; reason?: string | undefined },
): Promise<CardPaymentRow> {
  if (row.status !== 'EXCEPTION') {
    throw new Fault('CONFLICT', `Nothing of it is to be decided: it is ${row.status}.`);
  }
  const facts = factsOf(row);
  if (isPulling(facts)) {
    const reason = 'Money for it is still being taken. Wait for word about that, or end the pull.';
    throw new Fault('CONFLICT', reason);
  }
  const reachable = (await takerOf(ctx, row)) !== undefined;
  if (outcome === 'collect' && !reachable) {
    throw new Fault('CONFLICT', 'Its account is closed: nothing can be collected. Write it off.');
  }
  const { card, steps } = resolved(facts, { outcome, reachable });
  await moveSteps(ctx, row, steps);
  ctx.insert(railNotices, {
    // It may come to that again, and the row has changed by then.
    id: `${row.id}/card/${outcome}.${row.version}`,
    transaction_id: row.id,
    kind: 'card',
    state: outcome === 'collect' ? 'settled' : 'failed',
    reason: reason ?? null,
    created_at: ctx.now,
  });
  const settled = await whileOpen(ctx, row, async () => changePayment(ctx, row, card, 'resolve'));
  // All of it came back meanwhile.
  const isBack = eventAfter('SETTLED', card, false) === 'refund';
  return isBack ? changePayment(ctx, settled, {}, 'refund') : settled;
}
