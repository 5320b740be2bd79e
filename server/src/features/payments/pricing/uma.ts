// Paying to a UMA address: what the lookup offered decides the currency and what must be told of the payer,
// and the receiver's side is asked to take the payment before it is quoted. A receiver who is a customer of
// the same platform is paid like any account inside; no provider is asked about them.

import { readUma } from '../../../catalog/rails/uma-address.ts';
import type { RailPort, UmaPort } from '../../../connectors/ports/index.ts';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { findInternalAccounts, isBalance } from '../../balances/internal-accounts/index.ts';
import {
  type CustomerRow,
  customerOf,
  factsOfCustomer,
  readCustomer,
} from '../../customers/records/index.ts';
import { findExternalAccounts } from '../../payees/external-accounts/index.ts';
import {
  missingPayerData,
  offerOf,
  type PayeeDiscoveryRow,
  payeeDiscoveryOf,
} from '../../payees/receivers/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import { type Payee, payeeOf } from './parties.ts';

interface UmaDestination {
  umaAddress: string;
  currency?: string;
}

/** The lookup that a payment to this address must name. */
async function namedLookup(
  ctx: Ctx,
  { umaAddress }: UmaDestination,
  lookupId: string | undefined,
): Promise<PayeeDiscoveryRow> {
  const uma = readUma(umaAddress);
  if (!uma) {
    const field = 'destination.umaAddress';
    throw invalidField(field, 'must have the form $name@example.com', 'INVALID_UMA_ADDRESS');
  }
  if (lookupId === undefined) {
    const why = 'is required for a UMA address; call lookupUma first';
    throw invalidField('lookupId', why, 'MISSING_REQUIRED_UMA_PARAMETERS');
  }
  const lookup = await payeeDiscoveryOf(ctx, lookupId);
  if (lookup.kind !== 'UMA' || lookup.receiver !== uma.address) {
    throw invalidField('lookupId', 'belongs to a lookup of another receiver');
  }
  return lookup;
}

/** A customer of this platform: the account their UMA payments go to. */
async function payeeInside(
  ctx: Ctx,
  customerId: string,
  currency: string,
  umaAddress: string,
  port: RailPort | undefined,
): Promise<Payee> {
  const receiver = await readCustomer(ctx, customerId);
  if (receiver?.platform_id !== ctx.caller.platformId) {
    const why = 'Payments to customers of another platform on this server are not supported.';
    throw new Fault('NOT_IMPLEMENTED', why);
  }
  const owner = await customerOf(ctx, customerId, { alive: true });
  const [outside] = await findExternalAccounts(ctx.db, {
    customer_id: customerId,
    default_uma: true,
  });
  if (outside?.status === 'ACTIVE' && outside.currency === currency) {
    return payeeOf(ctx, { accountId: outside.id }, port);
  }
  const own = await findInternalAccounts(ctx.db, { customer_id: customerId, currency });
  const account = own.find((each) => each.status === 'ACTIVE' && isBalance(each));
  if (!account)
    throw new Fault('INVALID_RECEIVER', `The receiver has no ACTIVE ${currency} account.`);
  return { kind: 'internal', account, owner, currency, umaAddress };
}

/** Whoever a UMA address stands for, as the lookup found them. */
export async function payeeOfUma(
  ctx: Ctx,
  destination: UmaDestination,
  lookupId: string | undefined,
  port: RailPort | undefined,
): Promise<Payee> {
  const lookup = await namedLookup(ctx, destination, lookupId);
  const offer = offerOf(lookup, destination.currency);
  const { receiver: umaAddress, receiver_customer_id: local } = lookup;
  if (local === null) return { kind: 'uma', umaAddress, currency: offer.currency, lookup, offer };
  return payeeInside(ctx, local, offer.currency, umaAddress, port);
}

/** What is told of the payer; MISSING_MANDATORY_USER_INFO names everything that is not known. */
export function payerData(
  vault: Vault,
  lookup: PayeeDiscoveryRow,
  customer: CustomerRow | null,
  given: Record<string, unknown> = {},
): Record<string, unknown> {
  const known: Record<string, unknown> = {
    ...(customer ? factsOfCustomer(vault, customer) : {}),
    ...given,
  };
  const missing = missingPayerData(lookup, known);
  if (missing.length) {
    const errors = missing.map((name) => ({
      field: `senderCustomerInfo.${name}`,
      message: 'is required by the receiver',
    }));
    throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
  }
  const asked = lookup.required_payer_data.map(({ name }) => name as string);
  return Object.fromEntries(asked.flatMap((name) => (known[name] ? [[name, known[name]]] : [])));
}

/** Whose address the payment carries: the payer's own, never that of somebody whom a lookup was made for. */
export function senderOf(lookup: PayeeDiscoveryRow, customer: CustomerRow | null): string {
  if (lookup.customer_id !== null && lookup.customer_id !== customer?.id) {
    throw invalidField('lookupId', 'belongs to a lookup for another customer');
  }
  return customer?.uma_address ?? lookup.sender;
}

/** Holds a payment to an account to the lookup that it names. */
export async function checkAccountDiscovery(
  ctx: Ctx,
  lookupId: string,
  accountId: string,
  customer: CustomerRow | null,
  given: Record<string, unknown>,
): Promise<void> {
  const lookup = await payeeDiscoveryOf(ctx, lookupId);
  if (lookup.kind !== 'ACCOUNT' || lookup.receiver !== accountId) {
    throw invalidField('lookupId', 'belongs to a lookup of another receiver');
  }
  payerData(ctx.vault, lookup, customer, given);
}

/** Asks the receiver's side to take the payment, and answers what settling it will need. */
export async function requestPayment(
  ctx: Ctx,
  port: UmaPort | undefined,
  payee: Payee & { kind: 'uma' },
  payment: Money & { id: string; sender: string; payerData: Record<string, unknown> },
): Promise<NonNullable<OutgoingRow['rail_payload']>> {
  if (!port) throw new Fault('NOT_IMPLEMENTED', 'No connection to UMA providers is configured.');
  const { sender } = payment;
  const reply = await port.payRequest({
    ...payment,
    receiver: payee.umaAddress,
    at: ctx.now,
  });
  if (reply.state === 'refused') throw new Fault(reply.code, reply.reason);
  return { uma: { reference: reply.reference, sender, payerData: payment.payerData } };
}
