// The sender of a payee discovery: a customer by ID or UMA address, or the platform. A payee
// discovery has no source currency. Its rates start from the first sendable currency of the
// platform in which the sender has an ACTIVE account. Without such an account, they start from the
// first sendable currency, or from USD if the platform can send none.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, customerOf, findCustomers } from '../../customers/records/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';

export interface Sender {
  platform: PlatformRow;
  customer: CustomerRow | null;
  address: string;
  currency: string;
}

const DEFAULT_CURRENCY = 'USD';

/** UMA address of the platform itself. */
const platformAddress = (platform: PlatformRow): string =>
  `$${platform.proxy_uma_subdomain}@${platform.uma_domain}`;

/** The customer of the caller's platform with this address. Throws USER_NOT_FOUND. */
async function requireCustomerAt(ctx: Ctx, address: string): Promise<CustomerRow> {
  const [row] = await findCustomers(ctx.db, {
    uma_address: address,
    platform_id: ctx.caller.platformId,
  });
  if (!row || row.deleted_at !== null) {
    throw new Fault('USER_NOT_FOUND', 'No customer of this platform has this UMA address.');
  }
  return row;
}

async function currencyOf(
  ctx: Ctx,
  platform: PlatformRow,
  customer: CustomerRow | null,
): Promise<string> {
  const openInternalAccounts = await findInternalAccounts(ctx.db, {
    platform_id: platform.id,
    customer_id: customer?.id ?? null,
    status: 'ACTIVE',
  });
  const currenciesWithAccount = new Set(openInternalAccounts.map((each) => each.currency));
  const sendableCurrencies = platform.currencies
    .filter((each) => each.enabledTransactionTypes.includes('OUTGOING'))
    .map((each) => each.currencyCode);
  return (
    sendableCurrencies.find((code) => currenciesWithAccount.has(code)) ??
    sendableCurrencies[0] ??
    DEFAULT_CURRENCY
  );
}

/** The sender by ID or UMA address, or the platform. `address` is in lower case. */
export async function senderOf(
  ctx: Ctx,
  { address, customerId }: { address?: string | undefined; customerId?: string | undefined },
): Promise<Sender> {
  const platform = await readOwnPlatform(ctx);
  const [customerById, customerByAddress] = await Promise.all([
    customerId === undefined ? undefined : customerOf(ctx, customerId, { rejectDeleted: true }),
    address === undefined ? undefined : requireCustomerAt(ctx, address),
  ]);
  if (customerById && customerByAddress && customerById.id !== customerByAddress.id) {
    throw invalidField('senderUmaAddress', 'must be the UMA address of the customer in customerId');
  }
  const customer = customerById ?? customerByAddress ?? null;
  return {
    platform,
    customer,
    address: customer?.uma_address ?? platformAddress(platform),
    currency: await currencyOf(ctx, platform, customer),
  };
}
