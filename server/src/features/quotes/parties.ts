// Who pays and who receives: the two ends of a payment, found, checked to belong to the caller and to be
// usable. Both quotes and same-currency transfers start here.
import type { PaymentRail } from '../../catalog/rails.ts';
import type { RailPort } from '../../connectors/ports.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/context.ts';
import { awaitsTerms, type CustomerRow, customerOf, isReady } from '../customers/index.ts';
import {
  type ExternalAccountRow,
  externalAccountOf,
  railsOfAccount,
} from '../external-accounts/index.ts';
import { type InternalAccountRow, internalAccountOf } from '../internal-accounts/index.ts';
import type { PlatformRow } from '../platform/index.ts';

export interface Payer {
  account: InternalAccountRow;
  /** On whose behalf; null for the platform's own money. */
  customer: CustomerRow | null;
}

export type Payee =
  | {
      kind: 'internal';
      account: InternalAccountRow;
      /** Null when the platform receives for itself. */
      owner: CustomerRow | null;
      currency: string;
    }
  | {
      kind: 'external';
      account: ExternalAccountRow;
      currency: string;
      /** Those of which one will carry it; none for wallets. */
      rails: readonly PaymentRail[];
      /** Whether the service chooses among them; null for wallets. */
      railMode: 'AUTO' | 'MANUAL' | null;
    };

function usable(account: InternalAccountRow, field: string): void {
  if (account.status !== 'ACTIVE') throw invalidField(field, `the account is ${account.status}`);
}

/** Throws 403 for a customer whose identity check does not let them move money. */
export function checkReady(customer: CustomerRow): void {
  if (!isReady(customer)) {
    throw new Fault('USER_NOT_READY', 'The customer is not approved to move money yet.');
  }
}

function mayPay(customer: CustomerRow, platform: PlatformRow): void {
  if (awaitsTerms(platform, customer)) {
    throw new Fault('END_USER_TERMS_NOT_ACCEPTED', 'The customer has not accepted the terms.');
  }
  checkReady(customer);
}

/** The customer that something belongs to, null for the platform itself; 410 when that one is deleted. */
export const livingOwner = async (
  ctx: Ctx,
  { customer_id: id }: { customer_id: string | null },
): Promise<CustomerRow | null> => (id === null ? null : customerOf(ctx, id, { alive: true }));

/** The paying internal account, and the customer it pays for. */
export async function payerOf(
  ctx: Ctx,
  platform: PlatformRow,
  source: { accountId: string; customerId?: string },
): Promise<Payer> {
  if (isId(source.accountId, 'ExternalAccount')) {
    await externalAccountOf(ctx, source.accountId);
    throw new Fault('NOT_IMPLEMENTED', 'No rail here can pull money from an external account.');
  }
  const account = await internalAccountOf(ctx, source.accountId);
  usable(account, 'source.accountId');
  const owner = account.customer_id;
  if (owner !== null && source.customerId !== undefined && source.customerId !== owner) {
    throw invalidField('source.customerId', 'does not own the source account');
  }
  const customerId = owner ?? source.customerId;
  const customer = await livingOwner(ctx, { customer_id: customerId ?? null });
  if (customer) mayPay(customer, platform);
  return { account, customer };
}

/** The rails that may carry a payment to the account: the one asked for, or every one that reaches it. */
function railsTo(
  account: ExternalAccountRow,
  wanted: string | undefined,
  port: RailPort,
): Pick<Payee & { kind: 'external' }, 'rails' | 'railMode'> {
  const own = railsOfAccount(account);
  if (wanted !== undefined && !own.some((each) => each === wanted)) {
    throw invalidField(
      'destination.paymentRail',
      own.length ? `must be one of ${own.join(', ')}` : 'does not apply to this account',
    );
  }
  const asked = wanted === undefined ? own : own.filter((each) => each === wanted);
  const rails = asked.filter((rail) => port.carries(account.account_type, rail));
  if (own.length ? rails.length === 0 : !port.carries(account.account_type, null)) {
    throw new Fault('NOT_IMPLEMENTED', 'No connected rail reaches this account.');
  }
  if (own.length === 0) return { rails, railMode: null };
  return { rails, railMode: wanted === undefined ? 'AUTO' : 'MANUAL' };
}

/** The receiving account, internal or external, and the rails that reach it. */
export async function payeeOf(
  ctx: Ctx,
  destination: { accountId: string; paymentRail?: string },
  port: RailPort | undefined,
): Promise<Payee> {
  if (!isId(destination.accountId, 'ExternalAccount')) {
    const account = await internalAccountOf(ctx, destination.accountId);
    usable(account, 'destination.accountId');
    const owner = await livingOwner(ctx, account);
    return { kind: 'internal', account, owner, currency: account.currency };
  }
  const account = await externalAccountOf(ctx, destination.accountId);
  await livingOwner(ctx, account);
  if (!port) throw new Fault('NOT_IMPLEMENTED', 'No rail is connected for payouts.');
  const { currency } = account;
  return {
    kind: 'external',
    account,
    currency,
    ...railsTo(account, destination.paymentRail, port),
  };
}
