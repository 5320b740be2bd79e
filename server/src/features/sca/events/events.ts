// Permanent audit events of strong customer authentication, required for regulatory inquiries.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { cursorOf, equals, type PageInput } from '../../../runtime/db/paging.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { type CustomerRow, customerById, dataKeyOf } from '../../customers/records/index.ts';

/** Rows are deleted only by the reset of a sandbox platform. */
export const scaEvents = table('sca_events', {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  type: col.text,
  factor: col.text.null,
  subject: col.text.null,
  /** Encrypted with the customer's data key. */
  ip_address: col.text.null,
  /** Operator and reason, for actions of the operator. */
  actor: col.text.null,
  reason: col.text.null,
  created_at: col.time,
});

export type ScaEventRow = RowOf<typeof scaEvents>;

export type ScaEventType =
  | 'LOGIN'
  | 'LOGIN_FAILED'
  | 'AUTHORIZED'
  | 'AUTHORIZE_FAILED'
  | 'EXEMPTED'
  | 'TRUSTED'
  | 'TRUST_FAILED'
  | 'UNTRUSTED'
  | 'UNTRUST_FAILED'
  | 'FAILED_LOGIN_ATTEMPT'
  | 'RESET_PASSWORD_COMPLETED'
  | 'FACTOR_ENROLLED'
  | 'FACTOR_REMOVED'
  | 'RESET_STARTED'
  | 'RESET_PASSED'
  | 'RESET_REJECTED'
  | 'RESET_COMPLETED'
  | 'RESET_EXPIRED'
  | 'UNLOCKED';

/** The operator and the reason of an action by the operator. */
export interface OperatorCause {
  actor: string;
  reason: string;
}

export interface ScaEventDetails {
  factor?: string | null | undefined;
  /** ID of the challenge, quote, account, factor or reset. */
  subject?: string | null | undefined;
  /** IP address of the customer, as reported by the platform. */
  ip?: string | null | undefined;
  by?: OperatorCause | undefined;
}

const addressContext = (id: string) => `sca_events ${id} ip_address`;

/** The decrypted IP address of an event, or null if the address is absent or its key was erased. */
export const scaEventPersonal = (
  { vault, key }: { vault: Vault; key: DataKey | undefined },
  { id, ip_address: sealedAddress }: ScaEventRow,
) => ({
  ip_address:
    key && sealedAddress !== null
      ? vault.open(key, sealedAddress, addressContext(id)).toString()
      : null,
});

/** Stages an event. The IP address is encrypted with the customer's key and erased with it. */
export function recordScaEvent(
  ctx: Ctx,
  customer: CustomerRow,
  type: ScaEventType,
  { factor = null, subject = null, ip = null, by }: ScaEventDetails = {},
): void {
  const id = ctx.id('ScaEvent');
  const key = dataKeyOf(customer);
  ctx.insert(scaEvents, {
    id,
    platform_id: customer.platform_id,
    customer_id: customer.id,
    type,
    factor,
    subject,
    ip_address: key && ip !== null ? ctx.vault.seal(key, ip, addressContext(id)) : null,
    ...by,
    created_at: ctx.now,
  });
}

async function eventOf(
  { read }: Pick<Ctx, 'read'>,
  customer: CustomerRow,
  id: string,
): Promise<ScaEventRow> {
  const row = isId(id, 'ScaEvent') ? await read(scaEvents, id) : undefined;
  if (row?.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'Event not found.');
  return row;
}

interface EventsInput extends PageInput {
  customerId: string;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

/** A page of SCA events of a customer, latest first. Throws CUSTOMER_NOT_FOUND and NOT_FOUND. */
export async function listScaEvents(
  { db, vault }: Runtime,
  { customerId, after, cursor: pageCursor, limit }: EventsInput,
) {
  const customer = await customerById(db, customerId);
  const key = dataKeyOf(customer);
  const filters = equals({ customer_id: customer.id });
  const cursor = after === undefined ? pageCursor : cursorOf(await eventOf(db, customer, after));
  const { rows, ...rest } = await db.page(scaEvents, { filters, sort: 'desc', limit, cursor });
  const data = rows.map((row) => ({
    eventId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    createdAt: iso(row.created_at),
    type: row.type,
    factor: row.factor,
    subject: row.subject,
    ipAddress: scaEventPersonal({ vault, key }, row).ip_address,
    actor: row.actor,
    reason: row.reason,
  }));
  return { data, ...rest };
}
