// Registers a customer: validation, then one change set. The operation and the bulk import share
// this function and therefore apply the same rules.

import type { Static } from '@sinclair/typebox';
import type { Time } from '../../../kernel/effects.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import type { Id } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import { requiresContactVerification } from '../eligibility/index.ts';
import { detailsAfter } from '../profiles/index.ts';
import { addCustomer, type CustomerRow, dataKeyOf } from '../records/index.ts';
import {
  assertCurrenciesOffered,
  type Candidate,
  channelsAfter,
  rejectViolations,
  violationsOf,
} from './admission.ts';
import type { createCustomer } from './contract.ts';
import { type CustomerView, consentOf, presentCustomer, statusEvent } from './customer.ts';
import { type CustomerDeps, openAccounts } from './deps.ts';
import { generateUmaAddress, normalizeUmaAddress } from './uma.ts';

export type CreateBody = Static<(typeof createCustomer)['body']>;

/** Customer as requested, before validation. */
function candidateOf(body: CreateBody): Candidate {
  return {
    type: body.customerType,
    region: body.region ?? null,
    email: body.email ?? null,
    phone: body.phoneNumber ?? null,
    details: detailsAfter({ type: body.customerType, details: {} }, body),
    identifier: (body.customerType === 'INDIVIDUAL' && body.identifier) || null,
    currencies: body.currencies,
    umaAddress: body.umaAddress === undefined ? undefined : normalizeUmaAddress(body.umaAddress),
    consent: body.endUserTermsConsent && consentOf(body.endUserTermsConsent),
  };
}

/**
 * Initial status. Customers of a regulated platform are verified by the platform. In the sandbox a
 * test suffix can select the outcome for regulated platforms and for platforms with optional
 * documents. All others start unverified.
 */
function initialStatus(
  platform: PlatformRow,
  candidate: Candidate,
  deps: CustomerDeps,
): CustomerRow['status'] {
  const { identity } = deps.connectors(platform.environment);
  if (!platform.regulated && !platform.documents_optional) return 'UNVERIFIED';
  const scriptedStatus = identity?.atCreation?.({
    type: candidate.type,
    fullName: candidate.details.fullName ?? null,
  });
  return scriptedStatus ?? (platform.regulated ? 'APPROVED' : 'UNVERIFIED');
}

/** Errors that the rules of the platform add to the errors of the contract. */
export const registrationErrors = (
  body: CreateBody,
  platform: PlatformRow,
  now: Time,
): FieldError[] =>
  violationsOf(candidateOf(body), platform, now).map(({ code: _, ...error }) => error);

/**
 * Registers a customer with a body that conforms to the contract, opens its accounts and emits the
 * event of its status, if any. A caller that must identify the customer on a retry provides the
 * `id`.
 */
export async function registerCustomer(
  ctx: Ctx,
  body: CreateBody,
  deps: CustomerDeps,
  { id = ctx.id('Customer') }: { id?: Id<'Customer'> } = {},
): Promise<CustomerView> {
  const platform = await readOwnPlatform(ctx);
  const candidate = candidateOf(body);
  rejectViolations(violationsOf(candidate, platform, ctx.now));
  assertCurrenciesOffered(platform, candidate.region, candidate.currencies);
  const row = addCustomer(ctx, {
    id,
    platform_id: platform.id,
    platform_customer_id: body.platformCustomerId ?? id.slice('Customer:'.length),
    type: candidate.type,
    status: initialStatus(platform, candidate, deps),
    uma_address: candidate.umaAddress ?? generateUmaAddress(ctx.effects, platform.uma_domain),
    region: candidate.region,
    currencies: body.currencies ?? null,
    email: candidate.email,
    phone: candidate.phone,
    contact_verification: channelsAfter(requiresContactVerification(platform, candidate), null, {
      email: true,
      phone: true,
    }),
    terms_consent: candidate.consent ?? null,
    personal: { details: candidate.details, identifier: candidate.identifier },
  });
  await openAccounts(ctx, deps, platform, row, []);
  const view = presentCustomer(ctx.vault, row, platform, []);
  const event = statusEvent(row);
  if (event) ctx.emitSealed(dataKeyOf(row), event, row.id, view);
  return view;
}
