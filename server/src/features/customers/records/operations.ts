// The operations on customers: reading, deleting, and the terms that end users accept. Registering one is
// in register.ts, changing one in update.ts.
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import {
  createCustomer,
  deleteCustomerById,
  getCustomerById,
  getEndUserTerms,
  listCustomers,
} from './contract.ts';
import { CLOSE_CARDS, END_AGENTS } from './customer-jobs.ts';
import type { CustomerParts } from './parts.ts';
import { customerOf, filtersOf, shutAccounts } from './reads.ts';
import { registerCustomer } from './registration/register.ts';
import { currentTermsVersion } from './registration/terms.ts';
import { updateOperation } from './registration/update.ts';
import { customers } from './store.ts';
import { customerView, customerViews } from './views.ts';

async function remove(ctx: Ctx, id: string) {
  const row = await customerOf(ctx, id, { alive: true });
  await shutAccounts(ctx, row);
  const gone = ctx.update(customers, row, { deleted_at: ctx.now, updated_at: ctx.now });
  const { platformId, environment, tokenId } = ctx.caller;
  for (const job of [END_AGENTS, CLOSE_CARDS]) {
    ctx.later(job, { platformId, environment, customerId: id, tokenId });
  }
  return customerView(ctx, gone);
}

export const customerOperations = (parts: CustomerParts) => [
  handle(createCustomer, async (ctx, { body }) => ({
    status: 201,
    body: await registerCustomer(ctx, body, parts),
  })),

  handle(listCustomers, async (ctx, { query }) => {
    const platform = await ownPlatform(ctx);
    const { rows, ...rest } = await ctx.db.page(customers, {
      filters: filtersOf(query, platform),
      sort: 'desc',
      limit: query.limit ?? 20,
      cursor: query.cursor,
    });
    return {
      status: 200,
      body: { data: await customerViews(ctx, rows), ...rest },
    };
  }),

  handle(getCustomerById, async (ctx, { params }) => {
    const row = await customerOf(ctx, params.customerId);
    return { status: 200, body: await customerView(ctx, row) };
  }),

  updateOperation(parts),

  handle(deleteCustomerById, async (ctx, { params }) => ({
    status: 200,
    body: await remove(ctx, params.customerId),
  })),

  handle(getEndUserTerms, async (ctx) => {
    const { uma_domain: domain } = await ownPlatform(ctx);
    const version = currentTermsVersion();
    const url = parts.termsUrl?.(version) ?? `https://${domain}/end-user-terms/${version}`;
    return { status: 200, body: { version, url } };
  }),
];
