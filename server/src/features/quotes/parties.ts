// Who pays and who receives: the two ends of a payment, found, checked to belong to the caller and to be
// usable. Both quotes and same-currency transfers start here.
import { chooseRail, type PaymentRail } from '../../catalog/rails.ts';
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
  | { kind: 'internal'; account: InternalAccountRow; currency: string }
  | {
      kind: 'external';
      account: ExternalAccountRow;
      currency: string;
      /** Null for wallets. */
      rail: PaymentRail | null;
      railMode: 'AUTO' | 'MANUAL' | null;
    };

function usable(account: InternalAccountRow, field: string): void {
  if (account.status !== 'ACTIVE') throw invalidField(field, `the account is ${account.status}`);
}

/** Throws 403 for a customer who may not move money yet. */
export function mayPay(customer: CustomerRow, platform: PlatformRow): void {
  if (awaitsTerms(platform, customer)) {
    throw new Fault('END_USER_TERMS_NOT_ACCEPTED', 'The customer has not accepted the terms.');
  }
  if (!isReady(customer)) {
    throw new Fault('USER_NOT_READY', 'The customer is not approved to move money yet.');
  }
}

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
  if (owner && source.customerId && source.customerId !== owner) {
    throw invalidField('source.customerId', 'does not own the source account');
  }
  const customerId = owner ?? source.customerId;
  const customer = customerId ? await customerOf(ctx, customerId, { alive: true }) : null;
  if (customer) mayPay(customer, platform);
  return { account, customer };
}

function railOf(account: ExternalAccountRow, wanted: string | undefined, port: RailPort) {
  const rails = railsOfAccount(account);
  if (wanted !== undefined) {
    const rail = rails.find((each) => each === wanted);
    if (!rail) {
      throw invalidField(
        'destination.paymentRail',
        rails.length ? `must be one of ${rails.join(', ')}` : 'does not apply to this account',
      );
    }
    return { rail, railMode: 'MANUAL' as const };
  }
  const open = rails.filter((rail) => port.carries(account.account_type, rail));
  const rail = chooseRail(open) ?? null;
  return { rail, railMode: rail && ('AUTO' as const) };
}

/** The receiving account, internal or external, and the rail that will reach it. */
export async function payeeOf(
  ctx: Ctx,
  destination: { accountId: string; paymentRail?: string },
  port: RailPort | undefined,
): Promise<Payee> {
  if (!isId(destination.accountId, 'ExternalAccount')) {
    const account = await internalAccountOf(ctx, destination.accountId);
    usable(account, 'destination.accountId');
    if (account.customer_id) await customerOf(ctx, account.customer_id, { alive: true });
    return { kind: 'internal', account, currency: account.currency };
  }
  const account = await externalAccountOf(ctx, destination.accountId);
  if (account.status === 'PENDING_OWNERSHIP_VERIFICATION' || account.status === 'UNVERIFIED') {
    throw new Fault(
      'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
      'Ownership of the destination must be verified first.',
    );
  }
  if (account.status !== 'ACTIVE') {
    throw new Fault('INVALID_RECEIVER', `The destination account is ${account.status}.`);
  }
  if (!port) throw new Fault('NOT_IMPLEMENTED', 'No rail is connected for payouts.');
  const chosen = railOf(account, destination.paymentRail, port);
  if (!port.carries(account.account_type, chosen.rail)) {
    throw new Fault('NOT_IMPLEMENTED', 'No connected rail reaches this account.');
  }
  return { kind: 'external', account, currency: account.currency, ...chosen };
}
