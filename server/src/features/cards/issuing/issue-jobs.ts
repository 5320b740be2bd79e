// Jobs of cards. They order cards from the issuer, poll for the result, notify the issuer of
// changes and close the cards of a deleted customer. If a card was closed before it was issued, its
// references are recorded and the issuer is notified of the closure.

import { Type } from '@sinclair/typebox';
import type { CardOrder, IssueProgress, IssuerPort } from '../../../connectors/ports/cards.ts';
import { defineJob, type JobInput } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import { type JobHandler, type JobOf, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { CLOSE_CARDS } from '../../customers/registration/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import type { CardDeps } from '../deps.ts';
import { type CardRow, cards } from '../store.ts';
import { closeCard, emitCardState, NOTIFY_ISSUER, notifyIssuer } from './lifecycle.ts';
import { cardStates } from './states.ts';

type Deps = Pick<CardDeps, 'connectors'>;

const IssueInput = Type.Object({
  cardId: Type.String(),
  /** Whether the platform assigned `platformCardId`. */
  named: Type.Boolean(),
});

const ISSUE = defineJob('cards.issue', IssueInput);
const CHECK = defineJob('cards.check', IssueInput);

/** Stages the job that orders a card from the issuer. */
export const orderCard = (ctx: Ctx, { id }: CardRow, { named }: { named: boolean }): void =>
  ctx.later(ISSUE, { cardId: id, named });

const orderOf = (row: CardRow, includesName: boolean): CardOrder => ({
  id: row.id,
  platformId: row.platform_id,
  cardholderId: row.customer_id,
  platformCardId: includesName ? row.platform_card_id : null,
  currency: row.currency,
  maxSpend: row.max_spend,
  orderedAt: row.created_at,
});

/** The card of a job with its issuer and the system caller of its platform. */
async function loadCard(runtime: Runtime, deps: Deps, job: JobOf<typeof NOTIFY_ISSUER>) {
  const row = await runtime.db.read(cards, job.input.cardId);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) throw new Error(`job ${job.id} refers to no card`);
  const caller = systemCaller(platform.id, platform.environment);
  const { issuer } = deps.connectors(caller.environment);
  if (!issuer) throw new Error(`no card issuer is available in ${caller.environment}`);
  return { row, caller, issuer };
}

/** The current card when the result of a job is staged. */
async function readCurrent(ctx: Ctx, id: string): Promise<CardRow> {
  const row = await ctx.read(cards, id);
  if (!row) throw new Error(`${id} was not found`);
  return row;
}

type IssuedCard = Extract<IssueProgress, { state: 'issued' }>['card'];

function applyIssued(ctx: Ctx, row: CardRow, issuedCard: IssuedCard): void {
  const refs = { issuer_ref: issuedCard.issuerRef, processor_ref: issuedCard.processorRef };
  if (row.state !== 'PROCESSING') {
    if (row.issuer_ref !== null) return;
    notifyIssuer(ctx, ctx.update(cards, row, refs));
    return;
  }
  const activeCard = ctx.update(cards, row, {
    ...refs,
    state: cardStates.next(row.state, 'activate'),
    brand: issuedCard.brand,
    last4: issuedCard.last4,
    exp_month: issuedCard.expMonth,
    exp_year: issuedCard.expYear,
    secret: issuedCard.secret,
    updated_at: ctx.now,
  });
  emitCardState(ctx, activeCard);
  // The limit of the card may have changed since the order.
  if (row.version > 1) notifyIssuer(ctx, activeCard);
}

async function applyIssuingProgress(
  ctx: Ctx,
  input: JobInput<typeof ISSUE>,
  progress: IssueProgress,
): Promise<void> {
  const row = await readCurrent(ctx, input.cardId);
  if (progress.state === 'issued') applyIssued(ctx, row, progress.card);
  else if (progress.state === 'rejected') {
    if (row.state === 'PROCESSING') await closeCard(ctx, row, 'ISSUER_REJECTED');
  } else if (progress.checkAfterMs !== undefined) {
    ctx.later(CHECK, input, ctx.now + progress.checkAfterMs);
  }
}

type IssuerCall = (issuer: IssuerPort, order: CardOrder, now: Time) => Promise<IssueProgress>;

const issueJob = (deps: Deps, definition: typeof ISSUE, call: IssuerCall): JobHandler =>
  jobHandler(definition, {
    maxAttempts: OUTAGE_ATTEMPTS,
    run: async (runtime, job) => {
      const { input } = job;
      const { row, caller, issuer } = await loadCard(runtime, deps, job);
      const now = await runtime.clocks.nowOf(caller);
      const progress = await call(issuer, orderOf(row, input.named), now);
      return { caller, stage: (ctx) => applyIssuingProgress(ctx, input, progress) };
    },
  });

/** Two jobs may run concurrently. A job that sent an outdated state stages another job. */
const notifyIssuerJob = (deps: Deps): JobHandler =>
  jobHandler(NOTIFY_ISSUER, {
    maxAttempts: OUTAGE_ATTEMPTS,
    run: async (runtime, job) => {
      const { row, caller, issuer } = await loadCard(runtime, deps, job);
      const { id: cardId, issuer_ref: issuerRef, state, currency, max_spend: maxSpend } = row;
      const change = { cardId, state, currency, maxSpend };
      if (issuerRef !== null) await issuer.change?.({ ...change, issuerRef });
      return {
        caller,
        async stage(ctx) {
          const current = await readCurrent(ctx, cardId);
          const isOutdated = current.state !== state || current.max_spend !== maxSpend;
          if (isOutdated) notifyIssuer(ctx, current);
        },
      };
    },
  });

const OPEN_CARDS: Filter<typeof cards> = {
  column: 'state',
  op: 'in',
  value: ['PROCESSING', 'ACTIVE', 'FROZEN'],
};

/** Closes one card of a deleted customer. Returns whether more open cards remain. */
export async function closeOneCard(ctx: Ctx, customerId: string): Promise<boolean> {
  const filters = [{ column: 'customer_id', op: '=', value: customerId } as const, OPEN_CARDS];
  const { rows, hasMore } = await ctx.db.page(cards, { filters, sort: 'asc', limit: 1 });
  for (const row of rows) await closeCard(ctx, row, 'CLOSED_BY_SERVICE');
  return hasMore;
}

const closeJob = (): JobHandler =>
  jobHandler(CLOSE_CARDS, {
    run: async (_runtime, { input }) => {
      const { platformId, environment, customerId } = input;
      return {
        caller: systemCaller(platformId, environment),
        async stage(ctx) {
          if (await closeOneCard(ctx, customerId)) ctx.later(CLOSE_CARDS, input);
        },
      };
    },
  });

/** Jobs from the order of a card to its closure. */
export const cardJobs = (deps: Deps): JobHandler[] => [
  issueJob(deps, ISSUE, (issuer, order) => issuer.issue(order)),
  issueJob(deps, CHECK, (issuer, order, now) => issuer.check(order, now)),
  notifyIssuerJob(deps),
  closeJob(),
];
