// Operations that create links, by customer ID and by `platformCustomerId`. The operations of the
// page are in page-operations.ts.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { type CustomerRow, customerOf, findCustomers } from '../records/index.ts';
import { createCustomerKycLink, getCustomerKycLink } from './contract.ts';
import { createLink } from './links.ts';
import { type PageDeps, pageOperations } from './page-operations.ts';

interface KycLinkDeps extends PageDeps {
  /** Public origin of this server, without a trailing slash. */
  origin: () => string;
}

/**
 * Customer with this `platformCustomerId`. Excludes deleted customers, because they can have the
 * same identifier.
 */
async function findByPlatformCustomerId(
  ctx: Ctx,
  platform_customer_id: string,
): Promise<CustomerRow> {
  const { platformId: platform_id } = ctx.caller;
  const filter = { platform_id, platform_customer_id, deleted_at: null };
  const [row] = await findCustomers(ctx.db, filter);
  if (!row) throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  return row;
}

export const kycLinkOperations = (deps: KycLinkDeps) => [
  handle(createCustomerKycLink, async (ctx, { params, body }) => {
    const row = await customerOf(ctx, params.customerId, { rejectDeleted: true });
    return { status: 201, body: createLink(ctx, row, body.redirectUri, deps.origin()) };
  }),

  handle(getCustomerKycLink, async (ctx, { query }) => {
    const row = await findByPlatformCustomerId(ctx, query.platformCustomerId);
    return { status: 200, body: createLink(ctx, row, query.redirectUri, deps.origin()) };
  }),

  ...pageOperations(deps),
];
