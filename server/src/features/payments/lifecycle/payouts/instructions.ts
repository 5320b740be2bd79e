// What a rail, or another UMA provider, is told: one instruction for each movement of money that a
// transaction makes outside. Each has an id of its own that is the same at every attempt, and the moment it
// was first sent, so that the other side can tell a second send from a second payment.
import { pullRailOf } from '../../../../catalog/accounts/account-info.ts';
import type { RailInstruction, UmaPayment } from '../../../../connectors/ports/index.ts';
import type { Time } from '../../../../kernel/world.ts';
import type { Runtime } from '../../../../runtime/operation/operate.ts';
import { externalAccounts } from '../../../payees/external-accounts/index.ts';
import type { TransactionRow } from '../present.ts';

/** When what is under way now was sent. */
const sentAt = (row: TransactionRow): Time => row.sent_at ?? row.updated_at;

const origin = (row: TransactionRow) => (row.quote_id ? 'quote' : 'transfer');

async function accountInfo(runtime: Runtime, id: string | null) {
  const account = id === null ? undefined : await runtime.db.read(externalAccounts, id);
  if (!account) throw new Error(`${id} is no external account`);
  const { fullName, legalName } = (account.info.beneficiary ?? {}) as Record<string, string>;
  return { account: account.info, beneficiaryName: fullName ?? legalName };
}

/** Out to an external account. */
export async function payoutOf(runtime: Runtime, row: TransactionRow): Promise<RailInstruction> {
  return {
    id: row.id,
    platformId: row.platform_id,
    kind: 'payout',
    origin: origin(row),
    rail: row.rail,
    currency: row.received_currency as string,
    amount: row.received_amount as bigint,
    ...(await accountInfo(runtime, row.destination_account)),
    remittanceInformation: row.remittance ?? undefined,
    purposeOfPayment: row.purpose ?? undefined,
    sentAt: sentAt(row),
  };
}

/** A pull of what a payment, or a transfer in, is to be made with. */
export async function pullOf(runtime: Runtime, row: TransactionRow): Promise<RailInstruction> {
  const outgoing = row.type === 'OUTGOING';
  const { account, beneficiaryName } = await accountInfo(runtime, row.source_account);
  return {
    id: `${row.id}/pull`,
    platformId: row.platform_id,
    kind: 'pull',
    origin: 'transfer',
    rail: pullRailOf(account) ?? null,
    currency: (outgoing ? row.sent_currency : row.received_currency) as string,
    amount: (outgoing ? row.sent_amount : row.received_amount) as bigint,
    account,
    beneficiaryName,
    sentAt: sentAt(row),
  };
}

/** Back to where it was pulled from, or to the payer of whom the source tells what is known. */
export async function refundOf(runtime: Runtime, row: TransactionRow): Promise<RailInstruction> {
  const known =
    row.source.sourceType === 'ACCOUNT'
      ? await accountInfo(runtime, row.source_account)
      : { account: { ...row.source, accountType: 'ORIGINATOR' } };
  const outgoing = row.type === 'OUTGOING';
  return {
    id: `${row.id}/refund`,
    platformId: row.platform_id,
    kind: 'refund',
    origin: origin(row),
    rail: null,
    currency: (outgoing ? row.sent_currency : row.received_currency) as string,
    amount: (outgoing ? row.funded_amount : row.received_amount) as bigint,
    ...known,
    sentAt: row.refund ? Date.parse(row.refund.initiatedAt) : sentAt(row),
  };
}

/** The accepted pay request that a payment to a UMA address carries. */
export interface UmaCarrier {
  uma: { reference: string; sender: string; payerData: Record<string, unknown> };
}

/** To a UMA address. */
export function umaPaymentOf(row: TransactionRow): UmaPayment & { reference: string } {
  const { uma } = row.carrier as unknown as UmaCarrier;
  return {
    id: row.id,
    receiver: row.destination_account as string,
    currency: row.received_currency as string,
    amount: row.received_amount as bigint,
    at: sentAt(row),
    ...uma,
  };
}
