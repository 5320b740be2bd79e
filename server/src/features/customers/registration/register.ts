// Registering a customer: what is decided before anything is written, and the change set. The operation
// and the import of a whole file both come here, so that a customer is the same however it came.

import type { Static } from '@sinclair/typebox';
import type { FieldError } from '../../../kernel/fault.ts';
import type { Id } from '../../../kernel/id.ts';
import type { Time } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import { mustProveContacts } from '../eligibility/index.ts';
import { detailsAfter } from '../profiles/index.ts';
import { addCustomer, type CustomerRow, dataKeyOf } from '../records/index.ts';
import {
  type Candidate,
  channelsAfter,
  complaintsAbout,
  refuse,
  refuseUnserved,
} from './admission.ts';
import type { createCustomer } from './contract.ts';
import { type CustomerView, consentOf, presentCustomer, statusEvent } from './customer.ts';
import { type CustomerParts, openAccounts } from './parts.ts';
import { drawUmaAddress, umaAddressOf } from './uma.ts';

export type CreateBody = Static<(typeof createCustomer)['body']>;

/** Everything that `createCustomer` decides before it writes. */
function candidateOf(body: CreateBody): Candidate {
  return {
    type: body.customerType,
    region: body.region ?? null,
    email: body.email ?? null,
    phone: body.phoneNumber ?? null,
    details: detailsAfter({ type: body.customerType, details: {} }, body),
    identifier: (body.customerType === 'INDIVIDUAL' && body.identifier) || null,
    currencies: body.currencies,
    umaAddress: body.umaAddress === undefined ? undefined : umaAddressOf(body.umaAddress),
    consent: body.endUserTermsConsent && consentOf(body.endUserTermsConsent),
  };
}

/**
 * A platform that does its own compliance brings customers it has checked. In the sandbox their endings are
 * scripted, and those of platforms that were relieved of paperwork; everyone else starts unverified.
 */
function firstStatus(
  platform: PlatformRow,
  of: Candidate,
  parts: CustomerParts,
): CustomerRow['status'] {
  const { identity } = parts.connectors(platform.environment);
  if (!platform.regulated && !platform.skip_paperwork) return 'UNVERIFIED';
  const scripted = identity?.atCreation?.({
    type: of.type,
    fullName: of.details.fullName ?? null,
  });
  return scripted ?? (platform.regulated ? 'APPROVED' : 'UNVERIFIED');
}

/** What a platform's rules reject in a body, in addition to the checks of the contract. */
export const registrationErrors = (
  body: CreateBody,
  platform: PlatformRow,
  now: Time,
): FieldError[] =>
  complaintsAbout(candidateOf(body), platform, now).map(({ code: _, ...error }) => error);

/**
 * Registers a customer whose body has passed the contract's checks, opens its accounts and tells its
 * platform. `id` is given by who must recognise the customer as its own when it comes round again.
 */
export async function registerCustomer(
  ctx: Ctx,
  body: CreateBody,
  parts: CustomerParts,
  { id = ctx.id('Customer') }: { id?: Id<'Customer'> } = {},
): Promise<CustomerView> {
  const platform = await ownPlatform(ctx);
  const of = candidateOf(body);
  refuse(complaintsAbout(of, platform, ctx.now));
  refuseUnserved(platform, of.region, of.currencies);
  const row = addCustomer(ctx, {
    id,
    platform_id: platform.id,
    platform_customer_id: body.platformCustomerId ?? id.slice('Customer:'.length),
    type: of.type,
    status: firstStatus(platform, of, parts),
    uma_address: of.umaAddress ?? drawUmaAddress(ctx.world, platform.uma_domain),
    region: of.region,
    currencies: body.currencies ?? null,
    email: of.email,
    phone: of.phone,
    contact_verification: channelsAfter(mustProveContacts(platform, of), null, {
      email: true,
      phone: true,
    }),
    terms_consent: of.consent ?? null,
    personal: { details: of.details, identifier: of.identifier },
  });
  await openAccounts(ctx, parts, platform, row, []);
  const view = presentCustomer(ctx.vault, row, platform, []);
  const event = statusEvent(row);
  if (event) ctx.emitSealed(dataKeyOf(row), event, row.id, view);
  return view;
}
