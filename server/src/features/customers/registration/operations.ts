// Operations on customers, and the operation that returns the end-user terms.

import { handle } from '../../../runtime/operation/handle.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { customerOf, customerPages } from '../records/index.ts';
import { type DeletionParts, deleteCustomer } from './close.ts';
import {
  createCustomer,
  deleteCustomerById,
  getCustomerById,
  getEndUserTerms,
  listCustomers,
} from './contract.ts';
import type { CustomerParts } from './parts.ts';
import { registerCustomer } from './register.ts';
import { currentTermsVersion } from './terms.ts';
import { updateOperation } from './update.ts';
import { customerView, customerViews } from './views.ts';

export const customerOperations = (parts: CustomerParts & DeletionParts) => [
  handle(createCustomer, async (ctx, { body }) => ({
    status: 201,
    body: await registerCustomer(ctx, body, parts),
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

  updateOperation(parts),

  handle(deleteCustomerById, async (ctx, { params }) => ({
    status: 200,
    body: await deleteCustomer(ctx, parts, params.customerId),
  })),

  handle(getEndUserTerms, async (ctx) => {
    const { uma_domain: domain } = await readOwnPlatform(ctx);
    const version = currentTermsVersion();
    const url = parts.termsUrl?.(version) ?? `https://${domain}/end-user-terms/${version}`;
    return { status: 200, body: { version, url } };
  }),
];
