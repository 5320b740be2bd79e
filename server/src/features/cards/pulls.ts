// The job that has what was set aside for a payment taken: it asks the issuer, at once and then at the times
// that the issuer names, and brings the answer in. The pull's id is the same each time, so an issuer that is
// asked twice knows. One pull is one job, and only the first answer that is final counts.
import type { CardPull, PullProgress } from '../../connectors/ports-cards.ts';
import type { Ctx } from '../../runtime/context.ts';
import type { Job, JobHandler, Result } from '../../runtime/jobs.ts';
import type { Runtime } from '../../runtime/operate.ts';
import { currentOf, loadOf } from '../transactions/index.ts';
import { pullEnded, pullStep } from './arithmetic.ts';
import type { CardParts } from './parts.ts';
import {
  accountIdOf,
  asCardPayment,
  type CardPaymentRow,
  changePayment,
  moveSteps,
  PULL,
} from './payment.ts';

/** The pull's place among those of its payment, when it was opened, and whether the issuer knows of it. */
interface Input {
  at: number;
  since: number;
  asked?: boolean;
}

const inputOf = ({ input }: Job) => input as unknown as Input;

const isOpen = (row: CardPaymentRow, at: number): boolean =>
  row.card.pulls[at]?.status === 'PENDING';

const pullOf = (row: CardPaymentRow, { at, since }: Input): CardPull => ({
  id: `${row.id}/${pullStep(at)}`,
  cardId: row.card.cardId,
  accountId: accountIdOf(row),
  amount: BigInt(row.card.pulls[at]?.amount ?? 0),
  currency: row.card.currency,
  merchant: row.card.merchant,
  pulledAt: since,
});

/** What an issuer's answer means for the payment. */
async function heedPull(
  ctx: Ctx,
  row: CardPaymentRow,
  { at, since }: Input,
  progress: PullProgress,
): Promise<void> {
  if (!isOpen(row, at)) return;
  if (progress.state === 'pending') {
    const input = { transactionId: row.id, at, since, asked: true };
    return ctx.later(PULL, input, ctx.now + progress.checkAfterMs);
  }
  const { card, steps } = pullEnded(row.card, at, progress.state === 'confirmed');
  await moveSteps(ctx, row, steps);
  const excepts = card.pulls[at]?.status === 'STUCK' && row.status !== 'EXCEPTION';
  changePayment(ctx, row, card, excepts ? 'except' : undefined);
}

const follow =
  ({ connectors }: Pick<CardParts, 'connectors'>) =>
  async (runtime: Runtime, job: Job): Promise<Result> => {
    const loaded = await loadOf(runtime, job);
    const { caller } = loaded;
    const row = asCardPayment(loaded.row);
    const input = inputOf(job);
    if (!isOpen(row, input.at)) return { caller, stage: async () => {} };
    const { issuer } = connectors(caller.environment);
    if (!issuer) throw new Error(`nobody issues cards in ${caller.environment}`);
    const pull = pullOf(row, input);
    const progress = input.asked
      ? await issuer.checkPull(pull, runtime.world.now())
      : await issuer.pull(pull);
    const stage = async (ctx: Ctx) => {
      const current = asCardPayment(await currentOf(ctx, row.id));
      await heedPull(ctx, current, input, progress);
    };
    return { caller, stage };
  };

export const pullJobs = (parts: Pick<CardParts, 'connectors'>): JobHandler[] => [
  { kind: PULL, run: follow(parts) },
];
