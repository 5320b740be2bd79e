// Whether payments of an account or a customer are in progress, which blocks closure and deletion.
import type { Ctx } from '../../../runtime/operation/context.ts';

const PAYMENT_IN_PROGRESS_SQL = `select 1 from transactions
  where (source_account = $1 or destination_account = $1)
    and (funds in ('AWAITED', 'FUNDED', 'HELD', 'SUBMITTED', 'SUSPENSE') or refund ->> 'status' = 'PENDING')
  limit 1`;

// Only platform accounts receive fees. The closure of such an account is rare, so a scan of the
// platform's payments is acceptable.
const FEE_IN_PROGRESS_SQL = `select 1 from transactions
  where platform_id = $2 and platform_fee_account = $1
    and (funds in ('AWAITED', 'FUNDED', 'HELD', 'SUBMITTED') or refund ->> 'status' = 'PENDING')
  limit 1`;

/** Whether a payment from the internal account, to it or with a fee for it is in progress. */
export async function isPaymentInProgress(
  ctx: Ctx,
  account: { id: string; platform_id: string; customer_id: string | null },
): Promise<boolean> {
  const rows = await ctx.db.query(PAYMENT_IN_PROGRESS_SQL, [account.id]);
  if (rows.length || account.customer_id !== null) return rows.length > 0;
  return (await ctx.db.query(FEE_IN_PROGRESS_SQL, [account.id, account.platform_id])).length > 0;
}

// Quotes that were not executed have a transaction with funds NONE.
const CUSTOMER_PAYMENTS_SQL = `select 1 from transactions
  where customer_id = $1 and funds in ('AWAITED', 'FUNDED', 'HELD', 'SUBMITTED', 'SUSPENSE') limit 1`;

/** Whether a payment of the customer is in progress. */
export const isCustomerPaying = async (ctx: Ctx, customerId: string): Promise<boolean> =>
  (await ctx.db.query(CUSTOMER_PAYMENTS_SQL, [customerId])).length > 0;
