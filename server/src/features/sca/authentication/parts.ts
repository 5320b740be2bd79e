// What strong customer authentication is built with, and to whom it applies.

import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isUnderSca } from '../../customers/eligibility/index.ts';
import { type CustomerRow, customerOf } from '../../customers/records/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';

export interface ScaParts {
  connectors(environment: Mode): Connectors;
  /** What links to pages of this server begin with. */
  origin(): string;
}

/** What money in these currencies is regulated as in the region. */
const REGULATED: readonly string[] = ['EUR', 'USDC'];

/** Whether there is anything to prove for money in this currency, by anybody. */
export const isRegulated = (currency: string): boolean => REGULATED.includes(currency);

/** Whether money that this customer sends in the currency waits for its word. */
export const needsSca = (
  ctx: Ctx,
  platform: PlatformRow,
  customer: CustomerRow | null,
  currency: string,
): customer is CustomerRow =>
  customer !== null && isRegulated(currency) && isUnderSca(ctx.vault, platform, customer);

/** A living customer of the region and its platform; CONFLICT for one elsewhere. */
export async function scaCustomer(
  ctx: Ctx,
  id: string,
): Promise<{ customer: CustomerRow; platform: PlatformRow }> {
  const [customer, platform] = await Promise.all([
    customerOf(ctx, id, { alive: true }),
    ownPlatform(ctx),
  ]);
  if (!isUnderSca(ctx.vault, platform, customer)) {
    throw new Fault('CONFLICT', 'Strong customer authentication does not apply to this customer.');
  }
  return { customer, platform };
}
