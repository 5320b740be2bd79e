// Settings of a platform that its operator decides: what it may send, and what it may do with cards.
import { Fault } from '../../../kernel/fault.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { cardProgramOf } from '../config/index.ts';
import {
  type CardProgram,
  changePlatform,
  ownPlatform,
  type PaymentLimit,
  type PlatformRow,
  platformById,
  systemCaller,
} from '../platform/index.ts';

/** Writes what `change` makes of the platform; the newest state decides. */
async function change(
  runtime: Runtime,
  platformId: string,
  patchOf: (row: PlatformRow) => Partial<Pick<PlatformRow, 'limits' | 'card_program'>>,
): Promise<PlatformRow> {
  const { id, environment } = await platformById(runtime, platformId);
  return operate(runtime, systemCaller(id, environment), async (ctx) => {
    const before = await ownPlatform(ctx);
    return changePlatform(ctx, before, patchOf(before));
  });
}

type Way = Pick<PaymentLimit, 'currency' | 'to'>;

const sameWay = (a: Way, b: Way) => a.currency === b.currency && a.to === b.to;
const keyOf = ({ currency, to }: Way) => `${currency} ${to ?? ''}`;

/** Sets the limits of a currency, or of one currency into another; all limits after it. */
export async function setPaymentLimit(
  runtime: Runtime,
  platformId: string,
  limit: PaymentLimit,
): Promise<readonly PaymentLimit[]> {
  const after = await change(runtime, platformId, ({ limits }) => ({
    limits: [...limits.filter((each) => !sameWay(each, limit)), limit].sort((a, b) =>
      keyOf(a) < keyOf(b) ? -1 : 1,
    ),
  }));
  return after.limits;
}

/** Removes the limits of a currency, or of one currency into another. Throws NOT_FOUND. */
export async function removePaymentLimit(
  runtime: Runtime,
  platformId: string,
  way: Way,
): Promise<readonly PaymentLimit[]> {
  const after = await change(runtime, platformId, (before) => {
    const limits = before.limits.filter((each) => !sameWay(each, way));
    if (limits.length === before.limits.length) throw new Fault('NOT_FOUND', 'No such limit.');
    return { limits };
  });
  return after.limits;
}

/** Changes what a platform may do with cards; its card programme after it. */
export async function changeCardProgram(
  runtime: Runtime,
  platformId: string,
  changed: Partial<CardProgram>,
): Promise<CardProgram> {
  const after = await change(runtime, platformId, (before) => ({
    card_program: { ...cardProgramOf(before), ...changed },
  }));
  return cardProgramOf(after);
}
