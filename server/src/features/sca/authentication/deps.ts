// Dependencies of strong customer authentication, and the payments and customers that it applies
// to.

import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isUnderSca } from '../../customers/eligibility/index.ts';
import { type CustomerRow, customerOf } from '../../customers/records/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';

export interface ScaDeps {
  connectors(environment: Mode): Connectors;
  /** Base URL of links to pages of this server. */
  origin(): string;
}

/** Currencies whose payments require SCA if the customer is under SCA. */
const REGULATED_CURRENCIES: readonly string[] = ['EUR', 'USDC'];

/** Whether payments in this currency can require SCA. */
export const isRegulated = (currency: string): boolean => REGULATED_CURRENCIES.includes(currency);

/** Whether a payment of this customer in the currency requires SCA. */
export const needsSca = (
  ctx: Ctx,
  platform: PlatformRow,
  customer: CustomerRow | null,
  currency: string,
): customer is CustomerRow =>
  customer !== null && isRegulated(currency) && isUnderSca(ctx.vault, platform, customer);

/** A customer under SCA with its platform. Throws CONFLICT if SCA does not apply. */
export async function scaCustomer(
  ctx: Ctx,
  id: string,
): Promise<{ customer: CustomerRow; platform: PlatformRow }> {
  const [customer, platform] = await Promise.all([
    customerOf(ctx, id, { rejectDeleted: true }),
    readOwnPlatform(ctx),
  ]);
  if (!isUnderSca(ctx.vault, platform, customer)) {
    throw new Fault(
      'CONFLICT',
      'Strong customer authentication does not apply to this customer. Create payments without it.',
    );
  }
  return { customer, platform };
}
