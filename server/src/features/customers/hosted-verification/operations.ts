// Making links, by id and the older way by the platform's own id. What the page behind a link does is in
// page-operations.ts.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { type CustomerRow, customerOf, findCustomers } from '../records/index.ts';
import { createCustomerKycLink, getCustomerKycLink } from './contract.ts';
import { drawLink } from './links.ts';
import { type PageParts, pageOperations } from './page-operations.ts';

interface KycLinkParts extends PageParts {
  /** Where this server is reached from outside, without a slash at the end. */
  origin: () => string;
}

/** The customer that has this id of the platform's now; those deleted may have had it too. */
async function byPlatformId(ctx: Ctx, platform_customer_id: string): Promise<CustomerRow> {
  const { platformId: platform_id } = ctx.caller;
  const where = { platform_id, platform_customer_id, deleted_at: null };
  const [row] = await findCustomers(ctx.db, where);
  if (!row) throw new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');
  return row;
}

export const kycLinkOperations = (parts: KycLinkParts) => [
  handle(createCustomerKycLink, async (ctx, { params, body }) => {
    const row = await customerOf(ctx, params.customerId, { alive: true });
    return { status: 201, body: drawLink(ctx, row, body.redirectUri, parts.origin()) };
  }),

  handle(getCustomerKycLink, async (ctx, { query }) => {
    const row = await byPlatformId(ctx, query.platformCustomerId);
    return { status: 200, body: drawLink(ctx, row, query.redirectUri, parts.origin()) };
  }),

  ...pageOperations(parts),
];
