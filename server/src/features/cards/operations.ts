// The operations on cards. Without an issuer all of them, except those on delegated keys, fail with
// NOT_IMPLEMENTED before any other check.

import type { Static } from '@sinclair/typebox';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { equals, type Filter } from '../../runtime/db/database.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { handle } from '../../runtime/operation/handle.ts';
import { type CustomerRow, customerOf, requireCustomer } from '../customers/records/index.ts';
import { readOwnPlatform } from '../tenancy/platform/index.ts';
import { addFundingSources, checkFunding } from './clearing/funding.ts';
import { CARD_CURRENCY } from './clearing/payment.ts';
import { createCard, getCardById, listCards, updateCardById } from './contract.ts';
import { delegatedKeyOperations } from './delegated-keys/delegated-operations.ts';
import { type CardDeps, cardOf, issuerOf, noIssuer } from './deps.ts';
import { presentCard, stateEventFor } from './issuing/card.ts';
import { orderCard } from './issuing/issue-jobs.ts';
import { changeCard } from './issuing/lifecycle.ts';
import { countCard } from './issuing/limits.ts';
import { revealOperations } from './reveal/reveal.ts';
import { type CardRow, cards, fundingSources } from './store.ts';

/** The customer of a new card. */
async function cardholderOf(ctx: Ctx, id: string): Promise<CustomerRow> {
  try {
    return await customerOf(ctx, id, { rejectDeleted: true });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'CUSTOMER_NOT_FOUND') throw error;
    throw invalidField('cardholderId', 'is not the ID of a customer');
  }
}

/** Generated name of a card for which the platform assigned no name. */
const generateName = (id: string) => `card_${id.slice('Card:'.length)}`;

/** The name that the platform assigned to the card, or null if it was generated. */
const assignedName = ({ id, platform_card_id: name }: CardRow): string | null =>
  name === generateName(id) ? null : name;

type CreateBody = Static<(typeof createCard)['body']>;

async function create(ctx: Ctx, deps: CardDeps, body: CreateBody): Promise<CardRow> {
  const issuer = issuerOf(ctx, deps);
  const { platformId } = ctx.caller;
  if (issuer.serves?.({ platformId, currency: CARD_CURRENCY }) === false) throw noIssuer();
  const holder = await cardholderOf(ctx, body.cardholderId);
  if (holder.status !== 'APPROVED') {
    throw new Fault(
      'CARDHOLDER_KYC_NOT_APPROVED',
      'The cardholder is not approved. Complete the verification of the customer first.',
    );
  }
  const { id: customer_id, platform_id } = holder;
  const { platformCardId, fundingSources: funding, maxSpendPerTransaction: max } = body;
  const card = { platformCardId: platformCardId ?? null, isNew: true };
  await checkFunding(ctx, issuer, { customer_id, platform_id, card }, funding);
  const id = ctx.id('Card');
  await countCard(ctx, await readOwnPlatform(ctx), { id, customer_id });
  requireCustomer(ctx, holder);
  const row = ctx.insert(cards, {
    id,
    platform_id,
    customer_id,
    platform_card_id: platformCardId ?? generateName(id),
    state: 'PROCESSING',
    currency: CARD_CURRENCY,
    max_spend: max === undefined ? null : BigInt(max),
    funding,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  addFundingSources(ctx, row, funding);
  orderCard(ctx, row, { named: platformCardId !== undefined });
  return row;
}

/** IDs of the cards that an account funds. All of them belong to the owner of the account. */
async function findFundedCardIds(ctx: Ctx, accountId: string): Promise<string[]> {
  const filter = { account_id: accountId, platform_id: ctx.caller.platformId, ended_at: null };
  return (await ctx.db.find(fundingSources, filter)).map((each) => each.card_id);
}

async function filtersOf(
  ctx: Ctx,
  query: Static<(typeof listCards)['query']>,
): Promise<Filter<typeof cards>[]> {
  const columns = {
    platform_id: ctx.caller.platformId,
    customer_id: query.cardholderId,
    platform_card_id: query.platformCardId,
    state: query.state,
  };
  const filters = equals(columns);
  const { accountId } = query;
  if (accountId === undefined) return filters;
  return [...filters, { column: 'id', op: 'in', value: await findFundedCardIds(ctx, accountId) }];
}

export const cardOperations = (deps: CardDeps) => [
  handle(createCard, async (ctx, { body }) => ({
    status: 201,
    body: presentCard(await create(ctx, deps, body)),
  })),
  handle(listCards, async (ctx, { query }) => {
    issuerOf(ctx, deps);
    const { limit = 20, cursor, sortOrder: sort = 'desc' } = query;
    const filters = await filtersOf(ctx, query);
    const { rows, ...rest } = await ctx.db.page(cards, { filters, sort, limit, cursor });
    return { status: 200, body: { data: rows.map(presentCard), ...rest } };
  }),
  handle(getCardById, async (ctx, { params }) => {
    issuerOf(ctx, deps);
    return { status: 200, body: presentCard(await cardOf(ctx, params.id)) };
  }),
  handle(updateCardById, async (ctx, { params, body }) => {
    const issuer = issuerOf(ctx, deps);
    const row = await cardOf(ctx, params.id);
    const event = stateEventFor(row.state, body);
    requireCustomer(ctx, await customerOf(ctx, row.customer_id, { rejectDeleted: true }));
    if (body.fundingSources) {
      const card = { platformCardId: assignedName(row), isNew: false };
      await checkFunding(ctx, issuer, { ...row, card }, body.fundingSources);
    }
    return { status: 200, body: presentCard(await changeCard(ctx, row, body, event)) };
  }),
  ...revealOperations(deps),
  ...delegatedKeyOperations(deps),
];
