// Postings with the balance events of the accounts that they change, and events about a payment.

import type { Static } from '@sinclair/typebox';
import type { EventDefinition } from '../../../kernel/contract/event.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  emitBalances,
  type InternalAccountRow,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import type { TransactionRow } from '../transactions/index.ts';
import { incomingPayment, outgoingPayment } from './contract.ts';
import { presentTransaction } from './present.ts';

/** The events of the direction of a payment. */
export const eventsOf = ({ type }: Pick<TransactionRow, 'type'>) =>
  type === 'INCOMING' ? incomingPayment : outgoingPayment;

type PaymentSchema = ReturnType<typeof eventsOf>['COMPLETED']['data'];

export function emitPayment(
  ctx: Ctx,
  event: EventDefinition<PaymentSchema>,
  row: TransactionRow,
): void {
  // The columns of a row hold its parties as JSON, so the compiler cannot compare them with the schema.
  ctx.emit(event, row.id, presentTransaction(row) as Static<PaymentSchema>);
}

/**
 * Stages postings, and one balance event for each internal account that they change. `knownAccounts` are
 * not read again.
 */
export async function postAndNotify(
  ctx: Ctx,
  stage: () => unknown,
  knownAccounts: readonly (InternalAccountRow | undefined)[] = [],
): Promise<void> {
  const transferCountBefore = ctx.set.transfers.length;
  await stage();
  const changedAccountIds = ctx.set.transfers
    .slice(transferCountBefore)
    .flatMap(({ phase, debit, credit }) =>
      phase === 'pending' || phase === 'void' ? [debit] : [debit, credit],
    );
  const ids = [...new Set(changedAccountIds)].filter((id) => isId(id, 'InternalAccount'));
  const rowOf = (id: string) =>
    knownAccounts.find((each) => each?.id === id) ?? readInternalAccount(ctx, id);
  const rows = await Promise.all(ids.map(rowOf));
  emitBalances(
    ctx,
    rows.flatMap((row) => row ?? []),
  );
}
