// Instructions to rails and UMA providers, one for each external transfer of a transaction. An instruction
// has the same ID and first sending time at every attempt, so that the receiver can detect duplicates.

import { debitRailOf } from '../../../catalog/accounts/account-info.ts';
import type { RailInstruction, UmaPayment } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readExternalAccount } from '../../payees/external-accounts/index.ts';
import { fundedOf } from '../refunds/index.ts';
import { paymentReferenceOf, refundReferenceOf } from '../suspense/index.ts';
import { debitedOf, type OutgoingRow, type PaymentRow, receivedOf } from '../transactions/index.ts';

/** Time at which the current transfer was sent. */
const sendTimeOf = (row: PaymentRow): Time => row.sent_at ?? row.updated_at;

const originOf = (row: PaymentRow) => (row.quote_id ? 'quote' : 'transfer');

async function readAccountInfo(runtime: Runtime, id: string | null) {
  const account = id === null ? undefined : await readExternalAccount(runtime.db, id);
  if (!account) throw new Error(`external account ${id} not found`);
  const { fullName, legalName } = (account.info.beneficiary ?? {}) as Record<string, string>;
  return { account: account.info, beneficiaryName: fullName ?? legalName };
}

/** The external funds that a refund returns. */
const refundableFundsOf = (row: PaymentRow): Money =>
  row.type === 'OUTGOING' ? fundedOf(row) : debitedOf(row);

/** The amount of an external transfer of a payment. */
export function transferredBy(row: PaymentRow, kind: RailInstruction['kind']): Money {
  if (kind === 'payout') return receivedOf(row);
  return kind === 'debit' ? debitedOf(row) : refundableFundsOf(row);
}

/** A payout to an external account. */
export async function payoutOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  return {
    id: row.id,
    platformId: row.platform_id,
    kind: 'payout',
    reference: paymentReferenceOf(row.id),
    origin: originOf(row),
    rail: row.rail,
    ...receivedOf(row),
    ...(await readAccountInfo(runtime, row.destination_account)),
    remittanceInformation: row.remittance ?? undefined,
    purposeOfPayment: row.purpose ?? undefined,
    sentAt: sendTimeOf(row),
  };
}

/** A debit that funds a payment or an incoming transfer. */
export async function debitOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  const { account, beneficiaryName } = await readAccountInfo(runtime, row.source_account);
  return {
    // The suffix must not change, because the ID is the idempotency key of debits in progress.
    id: `${row.id}/pull`,
    platformId: row.platform_id,
    kind: 'debit',
    reference: paymentReferenceOf(row.id),
    origin: 'transfer',
    rail: debitRailOf(account) ?? null,
    ...debitedOf(row),
    account,
    beneficiaryName,
    sentAt: sendTimeOf(row),
  };
}

/** A refund to the debited account, or to the payer that the source describes. */
export async function refundOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  const source =
    row.source.sourceType === 'ACCOUNT'
      ? await readAccountInfo(runtime, row.source_account)
      : { account: { ...row.source, accountType: 'ORIGINATOR' } };
  return {
    id: `${row.id}/refund`,
    platformId: row.platform_id,
    kind: 'refund',
    reference: refundReferenceOf(row.id),
    origin: originOf(row),
    rail: null,
    ...refundableFundsOf(row),
    ...source,
    sentAt: row.refund ? Date.parse(row.refund.initiatedAt) : sendTimeOf(row),
  };
}

/** A payment to a UMA address. */
export function umaPaymentOf(
  row: OutgoingRow,
  { uma }: NonNullable<OutgoingRow['rail_payload']>,
): UmaPayment & { reference: string } {
  return {
    id: row.id,
    receiver: row.destination_account,
    ...receivedOf(row),
    at: sendTimeOf(row),
    ...uma,
  };
}
