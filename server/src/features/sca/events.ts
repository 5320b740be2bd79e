// What happened to a customer's strong authentication, kept for good. Supervisors ask for it years later.
import type { Ctx } from '../../runtime/operation/context.ts';
import { type CustomerRow, dataKeyOf } from '../customers/records/index.ts';
import type { ScaFactorName } from './contract.ts';
import { addressContext } from './personal.ts';
import { scaEvents } from './store.ts';

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

/** The operator who did it, for those who look later. */
export interface By {
  actor: string;
  reason: string;
}

export interface ScaEventFacts {
  factor?: ScaFactorName | null | undefined;
  /** Id of the challenge, payment, account or reset it is about. */
  subject?: string | null | undefined;
  /** Where the customer was, as its platform says. */
  ip?: string | null | undefined;
  by?: By | undefined;
}

/** Stages that something happened. The address is sealed, and forgotten together with the customer. */
export function noteScaEvent(
  ctx: Ctx,
  customer: CustomerRow,
  type: ScaEventType,
  { factor = null, subject = null, ip = null, by }: ScaEventFacts = {},
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
