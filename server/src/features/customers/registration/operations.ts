// Operations on customers, and the operation that returns the end-user terms.

import { handle } from '../../../runtime/operation/handle.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { customerOf, customerPages } from '../records/index.ts';
import { type DeletionDeps, deleteCustomer } from './close.ts';
import {
  createCustomer,
  deleteCustomerById,
  getCustomerById,
  getEndUserTerms,
  listCustomers,
} from './contract.ts';
import type { CustomerDeps } from './deps.ts';
import { registerCustomer } from './register.ts';
import { currentTermsVersion } from './terms.ts';
import { updateOperation } from './update.ts';
import { customerView, customerViews } from './views.ts';

export const customerOperations = (deps: CustomerDeps & DeletionDeps) => [
  handle(createCustomer, async (ctx, { body }) => ({
    status: 201,
    body: await registerCustomer(ctx, body, deps),
  })),

  handle(listCustomers, async (ctx, { query }) => {
    const platform = await readOwnPlatform(ctx);
    const { rows, ...rest } = await customerPages.ofPlatform(ctx, query, platform);
    return {
      status: 200,
      body: { data: await customerViews(ctx, rows), ...rest },
    };
  }),

  handle(getCustomerById, async (ctx, { params }) => {
    const row = await customerOf(ctx, params.customerId);
    return { status: 200, body: await customerView(ctx, row) };
  }),

  updateOperation(deps),

  handle(deleteCustomerById, async (ctx, { params }) => ({
    status: 200,
    body: await deleteCustomer(ctx, deps, params.customerId),
  })),

  handle(getEndUserTerms, async (ctx) => {
    const { uma_domain: domain } = await readOwnPlatform(ctx);
    const version = currentTermsVersion();
    const url = deps.termsUrl?.(version) ?? `https://${domain}/end-user-terms/${version}`;
    return { status: 200, body: { version, url } };
  }),
];
