// Resolves a UMA address. Hosts of a connector take precedence, so that no customer can have a
// simulated address of the sandbox. Then customers of any platform in the same environment are
// searched. All other hosts cannot be reached.

import {
  COUNTERPARTY_FIELDS,
  type CounterpartyFieldDefinition,
  type CounterpartyFieldName,
} from '../../../catalog/accounts/field-names.ts';
import { parseUmaAddress, type UmaAddress } from '../../../catalog/rails/uma-address.ts';
import type { Connectors, UmaPort } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts, isBalance } from '../../balances/internal-accounts/index.ts';
import { isReady } from '../../customers/eligibility/index.ts';
import { type CustomerRow, findCustomers } from '../../customers/records/index.ts';
import {
  type PlatformRow,
  platformOfUmaDomain,
  readPlatform,
} from '../../tenancy/platform/index.ts';
import { findExternalAccounts } from '../external-accounts/index.ts';
import type { Offer } from './payee-discovery.ts';
import type { DiscoveryResult } from './save-discovery.ts';
import type { Sender } from './sender.ts';

const umaNotFound = () =>
  new Fault('UMA_NOT_FOUND', 'UMA address not found, or it cannot receive payments.');

/** Throws COUNTERPARTY_NOT_ALLOWED for an address at a blocked provider. */
export function rejectBlockedProvider(port: UmaPort | undefined, address: string): void {
  const host = parseUmaAddress(address)?.host;
  const provider = port?.providers?.().find((each) => each.domain === host);
  if (provider && !provider.isAllowed) {
    const reason = `Payments to and from ${provider.name} are not allowed.`;
    throw new Fault('COUNTERPARTY_NOT_ALLOWED', reason);
  }
}

const SUPPORTED_FIELDS: readonly string[] = COUNTERPARTY_FIELDS;

/** The fields required by a provider that this server supports. */
const knownFields = (requiredFields: readonly { name: string; mandatory: boolean }[]) =>
  requiredFields.filter((each): each is CounterpartyFieldDefinition =>
    SUPPORTED_FIELDS.includes(each.name),
  );

function rejectUnknownFields(
  requiredFields: readonly { name: string; mandatory: boolean }[],
): void {
  const unknownFields = requiredFields.filter(
    ({ name, mandatory }) => mandatory && !SUPPORTED_FIELDS.includes(name),
  );
  if (unknownFields.length === 0) return;
  const names = unknownFields.map(({ name }) => name).join(', ');
  throw new Fault(
    'UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY',
    `The provider of the receiver requires unsupported fields: ${names}.`,
  );
}

async function resolveExternalReceiver(
  ctx: Ctx,
  port: UmaPort,
  sender: Sender,
  { address }: UmaAddress,
): Promise<DiscoveryResult> {
  const reply = await port.discoverPayee({
    receiver: address,
    sender: sender.address,
    at: ctx.now,
  });
  if (reply.state === 'rejected') throw new Fault(reply.code, reply.reason);
  rejectUnknownFields(reply.requiredPayerData);
  return {
    kind: 'UMA',
    receiver: address,
    offers: reply.currencies.map(({ code, ...range }) => ({ currency: code, ...range })),
    requiredFields: knownFields(reply.requiredPayerData),
  };
}

/**
 * Currencies that a customer can receive, starting with the currency of its default UMA account.
 */
async function findReceivableCurrencies(ctx: Ctx, customer: CustomerRow): Promise<string[]> {
  const [externalAccounts, internalAccounts] = await Promise.all([
    findExternalAccounts(ctx.db, {
      customer_id: customer.id,
      default_uma: true,
      status: 'ACTIVE',
      deleted_at: null,
    }),
    findInternalAccounts(ctx.db, { customer_id: customer.id, status: 'ACTIVE' }),
  ]);
  const accounts = [...externalAccounts, ...internalAccounts.filter(isBalance)];
  return [...new Set(accounts.map((each) => each.currency))];
}

/** Offers within the settings of the platform, the preferred currency first. */
function offersOf(platform: PlatformRow, currencies: readonly string[]): Offer[] {
  const [preferredCurrency] = currencies;
  const openCurrencies = platform.currencies.filter(
    ({ currencyCode, enabledTransactionTypes, minAmount, maxAmount }) =>
      currencies.includes(currencyCode) &&
      enabledTransactionTypes.includes('INCOMING') &&
      maxAmount >= Math.max(minAmount, 1),
  );
  const offers = openCurrencies.map(({ currencyCode, minAmount, maxAmount }) => ({
    currency: currencyCode,
    min: BigInt(minAmount),
    max: BigInt(maxAmount),
  }));
  return offers.sort(
    (a, b) => Number(b.currency === preferredCurrency) - Number(a.currency === preferredCurrency),
  );
}

/** Payer data that the platform requires, over all offered currencies. */
function requiredFieldsOf(platform: PlatformRow, offers: readonly Offer[]) {
  const fields = new Map<string, boolean>();
  for (const { currencyCode, requiredCounterpartyFields } of platform.currencies) {
    if (!offers.some((offer) => offer.currency === currencyCode)) continue;
    for (const { name, mandatory } of requiredCounterpartyFields) {
      fields.set(name, mandatory || (fields.get(name) ?? false));
    }
  }
  return [...fields].map(([name, mandatory]) => ({
    name: name as CounterpartyFieldName,
    mandatory,
  }));
}

async function resolveInternalReceiver(
  ctx: Ctx,
  customer: CustomerRow,
  platform: PlatformRow,
): Promise<DiscoveryResult> {
  const offers = isReady(customer)
    ? offersOf(platform, await findReceivableCurrencies(ctx, customer))
    : [];
  if (offers.length === 0) throw umaNotFound();
  return {
    kind: 'UMA',
    receiver: customer.uma_address,
    receiverCustomerId: customer.id,
    offers,
    requiredFields: requiredFieldsOf(platform, offers),
  };
}

/** The customer of this server with this address, in the caller's environment, and its platform. */
async function findInternalCustomer(ctx: Ctx, address: string) {
  const [customer] = await findCustomers(ctx.db, { uma_address: address, deleted_at: null });
  const platform = customer && (await readPlatform(ctx, customer.platform_id));
  if (platform?.environment !== ctx.caller.environment) return undefined;
  return { customer: customer as CustomerRow, platform };
}

/** Whether the host is the UMA domain of a platform in the caller's environment. */
async function isOwnDomain(ctx: Ctx, host: string): Promise<boolean> {
  const { environment } = ctx.caller;
  return (await platformOfUmaDomain(ctx.db, host, environment)) !== undefined;
}

/** Throws if the receiver cannot be found. */
export async function findUma(
  ctx: Ctx,
  { uma }: Connectors,
  sender: Sender,
  receiver: UmaAddress,
): Promise<DiscoveryResult> {
  if (receiver.address === sender.address) {
    throw new Fault(
      'SELF_PAYMENT',
      'The sender and the receiver are the same. Use another receiver.',
    );
  }
  rejectBlockedProvider(uma, receiver.address);
  if (uma?.reaches(receiver.address)) return resolveExternalReceiver(ctx, uma, sender, receiver);
  const ownCustomer = await findInternalCustomer(ctx, receiver.address);
  if (ownCustomer) return resolveInternalReceiver(ctx, ownCustomer.customer, ownCustomer.platform);
  if (await isOwnDomain(ctx, receiver.host)) throw umaNotFound();
  if (!uma) {
    throw new Fault('NOT_IMPLEMENTED', 'No connection to UMA providers is configured.');
  }
  throw new Fault(
    'LNURLP_REQUEST_FAILED',
    `The UMA provider at ${receiver.host} cannot be reached.`,
  );
}
