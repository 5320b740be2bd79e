// What a rail, or another UMA provider, is told: one instruction for each movement of money that a
// transaction makes outside. Each has an id of its own that is the same at every attempt, and the moment it
// was first sent, so that the other side can tell a second send from a second payment.

import { pullRailOf } from '../../../catalog/accounts/account-info.ts';
import type { RailInstruction, UmaPayment } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readExternalAccount } from '../../payees/external-accounts/index.ts';
import { fundedOf } from '../refunds/index.ts';
import { debitedOf, type OutgoingRow, type PaymentRow, receivedOf } from '../transactions/index.ts';

/** When what is under way now was sent. */
const sentAt = (row: PaymentRow): Time => row.sent_at ?? row.updated_at;

const origin = (row: PaymentRow) => (row.quote_id ? 'quote' : 'transfer');

async function accountInfo(runtime: Runtime, id: string | null) {
  const account = id === null ? undefined : await readExternalAccount(runtime.db, id);
  if (!account) throw new Error(`external account ${id} not found`);
  const { fullName, legalName } = (account.info.beneficiary ?? {}) as Record<string, string>;
  return { account: account.info, beneficiaryName: fullName ?? legalName };
}

/** What came in for it from outside, which a refund returns. */
const cameInFor = (row: PaymentRow): Money =>
  row.type === 'OUTGOING' ? fundedOf(row) : debitedOf(row);

/** Out to an external account. */
export async function payoutOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  return {
    id: row.id,
    platformId: row.platform_id,
    kind: 'payout',
    origin: origin(row),
    rail: row.rail,
    ...receivedOf(row),
    ...(await accountInfo(runtime, row.destination_account)),
    remittanceInformation: row.remittance ?? undefined,
    purposeOfPayment: row.purpose ?? undefined,
    sentAt: sentAt(row),
  };
}

/** A pull of what a payment, or a transfer in, is to be made with. */
export async function pullOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  const { account, beneficiaryName } = await accountInfo(runtime, row.source_account);
  return {
    id: `${row.id}/pull`,
    platformId: row.platform_id,
    kind: 'pull',
    origin: 'transfer',
    rail: pullRailOf(account) ?? null,
    ...debitedOf(row),
    account,
    beneficiaryName,
    sentAt: sentAt(row),
  };
}

/** Back to where it was pulled from, or to the payer of whom the source tells what is known. */
export async function refundOf(runtime: Runtime, row: PaymentRow): Promise<RailInstruction> {
  const known =
    row.source.sourceType === 'ACCOUNT'
      ? await accountInfo(runtime, row.source_account)
      : { account: { ...row.source, accountType: 'ORIGINATOR' } };
  return {
    id: `${row.id}/refund`,
    platformId: row.platform_id,
    kind: 'refund',
    origin: origin(row),
    rail: null,
    ...cameInFor(row),
    ...known,
    sentAt: row.refund ? Date.parse(row.refund.initiatedAt) : sentAt(row),
  };
}

/** To a UMA address. */
export function umaPaymentOf(
  row: OutgoingRow,
  { uma }: NonNullable<OutgoingRow['rail_payload']>,
): UmaPayment & { reference: string } {
  return {
    id: row.id,
    receiver: row.destination_account,
    ...receivedOf(row),
    at: sentAt(row),
    ...uma,
  };
}
