// On whose behalf somebody is looked up: a customer named by id or by UMA address, or else the platform
// itself. Rates are shown from the first currency, in the platform's order, that the sender may send and
// holds an open account in; a lookup names no other currency to start from.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, customerOf, findCustomers } from '../../customers/records/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';

export interface Sender {
  platform: PlatformRow;
  customer: CustomerRow | null;
  address: string;
  currency: string;
}

const DEFAULT_CURRENCY = 'USD';

/** The address a platform speaks with when it asks for itself. */
const platformAddress = (platform: PlatformRow): string =>
  `$${platform.proxy_uma_subdomain}@${platform.uma_domain}`;

/** The living customer of the calling platform with this address; USER_NOT_FOUND for every other. */
async function customerAt(ctx: Ctx, address: string): Promise<CustomerRow> {
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
  const open = await findInternalAccounts(ctx.db, {
    platform_id: platform.id,
    customer_id: customer?.id ?? null,
    status: 'ACTIVE',
  });
  const held = new Set(open.map((each) => each.currency));
  const sendable = platform.currencies
    .filter((each) => each.enabledTransactionTypes.includes('OUTGOING'))
    .map((each) => each.currencyCode);
  return sendable.find((code) => held.has(code)) ?? sendable[0] ?? DEFAULT_CURRENCY;
}

/** Who asks. `address` must be a UMA address in small letters. */
export async function senderOf(
  ctx: Ctx,
  { address, customerId }: { address?: string | undefined; customerId?: string | undefined },
): Promise<Sender> {
  const platform = await ownPlatform(ctx);
  const [byId, byAddress] = await Promise.all([
    customerId === undefined ? undefined : customerOf(ctx, customerId, { alive: true }),
    address === undefined ? undefined : customerAt(ctx, address),
  ]);
  if (byId && byAddress && byId.id !== byAddress.id) {
    throw invalidField('senderUmaAddress', 'must be the UMA address of the customer in customerId');
  }
  const customer = byId ?? byAddress ?? null;
  return {
    platform,
    customer,
    address: customer?.uma_address ?? platformAddress(platform),
    currency: await currencyOf(ctx, platform, customer),
  };
}
