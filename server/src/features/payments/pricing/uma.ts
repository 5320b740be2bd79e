// Payments to UMA addresses. The payee discovery determines currency and required payer data. The
// receiving provider accepts the payment before the quote is created. A receiver who is a customer
// of the same platform is paid without a UMA provider.

import { parseUmaAddress } from '../../../catalog/rails/uma-address.ts';
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

/** The payee discovery of `lookupId`. Throws if `lookupId` is absent or belongs to another receiver. */
async function requireDiscovery(
  ctx: Ctx,
  { umaAddress }: UmaDestination,
  lookupId: string | undefined,
): Promise<PayeeDiscoveryRow> {
  const uma = parseUmaAddress(umaAddress);
  if (!uma) {
    const field = 'destination.umaAddress';
    throw invalidField(field, 'must have the form $name@example.com', 'INVALID_UMA_ADDRESS');
  }
  if (lookupId === undefined) {
    const reason = 'is required for a UMA address. Call lookupUma first';
    throw invalidField('lookupId', reason, 'MISSING_REQUIRED_UMA_PARAMETERS');
  }
  const discovery = await payeeDiscoveryOf(ctx, lookupId);
  if (discovery.kind !== 'UMA' || discovery.receiver !== uma.address) {
    throw invalidField('lookupId', 'must be the ID of a payee discovery for this receiver');
  }
  return discovery;
}

/** The account of a customer of this platform that receives UMA payments. */
async function findInternalPayee(
  ctx: Ctx,
  customerId: string,
  currency: string,
  umaAddress: string,
  port: RailPort | undefined,
): Promise<Payee> {
  const receiver = await readCustomer(ctx, customerId);
  if (receiver?.platform_id !== ctx.caller.platformId) {
    const reason = 'Payments to customers of another platform on this server are not supported.';
    throw new Fault('NOT_IMPLEMENTED', reason);
  }
  const owner = await customerOf(ctx, customerId, { rejectDeleted: true });
  const [externalAccount] = await findExternalAccounts(ctx.db, {
    customer_id: customerId,
    default_uma: true,
  });
  if (externalAccount?.status === 'ACTIVE' && externalAccount.currency === currency) {
    return payeeOf(ctx, { accountId: externalAccount.id }, port);
  }
  const customerAccounts = await findInternalAccounts(ctx.db, {
    customer_id: customerId,
    currency,
  });
  const account = customerAccounts.find((each) => each.status === 'ACTIVE' && isBalance(each));
  if (!account) {
    const reason =
      `The receiver no longer has an ACTIVE ${currency} account. Call lookupUma again and use ` +
      'one of its supportedCurrencies.';
    throw new Fault('INVALID_RECEIVER', reason);
  }
  return { kind: 'internal', account, owner, currency, umaAddress };
}

/** The payee of a UMA address, from its payee discovery. */
export async function payeeOfUma(
  ctx: Ctx,
  destination: UmaDestination,
  lookupId: string | undefined,
  port: RailPort | undefined,
): Promise<Payee> {
  const discovery = await requireDiscovery(ctx, destination, lookupId);
  const offer = offerOf(discovery, destination.currency);
  const { receiver: umaAddress, receiver_customer_id: customerId } = discovery;
  if (customerId === null) {
    return { kind: 'uma', umaAddress, currency: offer.currency, discovery, offer };
  }
  return findInternalPayee(ctx, customerId, offer.currency, umaAddress, port);
}

/** The payer data that the receiver requires. Throws MISSING_MANDATORY_USER_INFO with all missing fields. */
export function payerData(
  vault: Vault,
  discovery: PayeeDiscoveryRow,
  customer: CustomerRow | null,
  senderInfo: Record<string, unknown> = {},
): Record<string, unknown> {
  const providedFields: Record<string, unknown> = {
    ...(customer ? factsOfCustomer(vault, customer) : {}),
    ...senderInfo,
  };
  const missingNames = missingPayerData(discovery, providedFields);
  if (missingNames.length) {
    const errors = missingNames.map((name) => ({
      field: `senderCustomerInfo.${name}`,
      message: 'is required by the receiver',
    }));
    throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
  }
  const requiredNames = discovery.required_payer_data.map(({ name }) => name as string);
  return Object.fromEntries(
    requiredNames.flatMap((name) => (providedFields[name] ? [[name, providedFields[name]]] : [])),
  );
}

/** The sender's UMA address in the payment. A discovery for another customer is rejected. */
export function senderOf(discovery: PayeeDiscoveryRow, customer: CustomerRow | null): string {
  if (discovery.customer_id !== null && discovery.customer_id !== customer?.id) {
    throw invalidField('lookupId', 'must be the ID of a payee discovery for this customer');
  }
  return customer?.uma_address ?? discovery.sender;
}

/** Checks a payment to an account against the discovery in its `lookupId`. */
export async function checkAccountDiscovery(
  ctx: Ctx,
  lookupId: string,
  accountId: string,
  customer: CustomerRow | null,
  senderInfo: Record<string, unknown>,
): Promise<void> {
  const discovery = await payeeDiscoveryOf(ctx, lookupId);
  if (discovery.kind !== 'ACCOUNT' || discovery.receiver !== accountId) {
    throw invalidField('lookupId', 'must be the ID of a payee discovery for this receiver');
  }
  payerData(ctx.vault, discovery, customer, senderInfo);
}

/** Sends the pay request to the receiving provider and returns the rail payload of the payment. */
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
  if (reply.state === 'rejected') throw new Fault(reply.code, reply.reason);
  return { uma: { reference: reply.reference, sender, payerData: payment.payerData } };
}
