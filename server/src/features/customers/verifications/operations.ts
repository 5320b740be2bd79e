// Operations on verifications: create, list and get.
import type { Filter } from '../../../runtime/db/database.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { readCustomer } from '../records/index.ts';
import { createVerification, getVerification, listVerifications } from './contract.ts';
import { presentVerification, verificationOf } from './record.ts';
import { verifications } from './store.ts';
import { submit, type VerificationDeps } from './submit.ts';

export const verificationOperations = (deps: VerificationDeps) => [
  handle(createVerification, async (ctx, { body }) => {
    const row = await submit(ctx, deps, body.customerId);
    const customer = await readCustomer(ctx, row.customer_id);
    if (!customer) throw new Error(`customer ${row.customer_id} not found`);
    return { status: 200, body: presentVerification(ctx.vault, customer, row) };
  }),

  handle(listVerifications, async (ctx, { query }) => {
    const filters: Filter<typeof verifications>[] = [
      { column: 'platform_id', op: '=', value: ctx.caller.platformId },
    ];
    const { customerId, verificationStatus, limit = 20, cursor } = query;
    if (customerId !== undefined)
      filters.push({ column: 'customer_id', op: '=', value: customerId });
    if (verificationStatus !== undefined) {
      filters.push({ column: 'status', op: '=', value: verificationStatus });
    }
    const { rows, ...rest } = await ctx.db.page(verifications, {
      filters,
      sort: 'desc',
      limit,
      cursor,
    });
    const customerRows = await Promise.all(rows.map((row) => readCustomer(ctx, row.customer_id)));
    const data = rows.map((row, index) =>
      presentVerification(
        ctx.vault,
        customerRows[index] ?? { id: row.customer_id, data_key: null },
        row,
      ),
    );
    return { status: 200, body: { data, ...rest } };
  }),

  handle(getVerification, async (ctx, { params }) => {
    const { row, customer } = await verificationOf(ctx, params.verificationId);
    return { status: 200, body: presentVerification(ctx.vault, customer, row) };
  }),
];
