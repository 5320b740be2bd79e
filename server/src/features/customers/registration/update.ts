// Updates a customer. The result of the update is validated as a whole, and only violations that the
// request introduces are rejected: a rule that came into force after registration does not block an
// unrelated update.

import type { Input } from '../../../kernel/contract/operation.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import { requiresContactVerification } from '../eligibility/index.ts';
import { customerErrors, detailsAfter } from '../profiles/index.ts';
import { type CustomerRow, customerOf, personalOf, updateCustomer } from '../records/index.ts';
import {
  assertCurrenciesOffered,
  asViolations,
  type Candidate,
  channelsAfter,
  rejectViolations,
  type Violation,
  violationsOf,
} from './admission.ts';
import { updateCustomerById } from './contract.ts';
import { type Change, consentOf } from './customer.ts';
import { type CustomerParts, openAccounts } from './parts.ts';
import { normalizeUmaAddress } from './uma.ts';
import { customerView } from './views.ts';

type Personal = ReturnType<typeof personalOf>;
type Patch = Parameters<typeof updateCustomer>[2] & { personal: Personal };

/** Value after an update: undefined keeps the current value, null clears it. */
const valueAfter = <V>(current: V | null, requested: V | null | undefined): V | null =>
  requested === undefined ? current : requested;

/** Identity number after an update. A new type or issuer requires a new number. */
function identifierAfter(was: Personal, body: Change): string | null {
  if (body.customerType !== 'INDIVIDUAL') return null;
  if (body.identifier !== undefined) return body.identifier;
  const { idType, countryOfIssuance: issuer } = was.details;
  const isSameType = body.idType === undefined || body.idType === idType;
  const isSameIssuer =
    idType !== 'NON_US_TAX_ID' ||
    body.countryOfIssuance === undefined ||
    body.countryOfIssuance === issuer;
  return isSameType && isSameIssuer ? was.identifier : null;
}

function candidateAfter(row: CustomerRow, was: Personal, body: Change): Candidate {
  const umaAddress =
    body.umaAddress === undefined ? undefined : normalizeUmaAddress(body.umaAddress);
  return {
    type: row.type,
    region: row.region,
    email: valueAfter(row.email, body.email),
    phone: valueAfter(row.phone, body.phoneNumber),
    details: detailsAfter({ type: row.type, details: was.details }, body),
    identifier: identifierAfter(was, body),
    currencies: body.currencies,
    umaAddress: umaAddress === row.uma_address ? undefined : umaAddress,
    consent: body.endUserTermsConsent && consentOf(body.endUserTermsConsent),
  };
}

/** Violations of the customer that the update would produce. */
function violationsAfter(
  ctx: Ctx,
  platform: PlatformRow,
  row: CustomerRow,
  was: Personal,
  body: Change,
): Violation[] {
  const of = candidateAfter(row, was, body);
  const whole = {
    customerType: row.type,
    ...of.details,
    identifier: of.identifier ?? undefined,
  };
  const own = asViolations(customerErrors(whole));
  const known = new Set(own.map((error) => error.field));
  const more = violationsOf(of, platform, ctx.now).filter((each) => !known.has(each.field));
  return [...own, ...more];
}

function patchFor(platform: PlatformRow, row: CustomerRow, was: Personal, body: Change): Patch {
  const of = candidateAfter(row, was, body);
  const changed = { email: of.email !== row.email, phone: of.phone !== row.phone };
  const needed = requiresContactVerification(platform, of);
  return {
    email: of.email,
    phone: of.phone,
    uma_address: of.umaAddress ?? row.uma_address,
    currencies: of.currencies ? [...of.currencies] : row.currencies,
    terms_consent: of.consent ?? row.terms_consent,
    contact_verification: channelsAfter(needed, row.contact_verification, changed),
    personal: { details: of.details, identifier: of.identifier },
  };
}

/**
 * Stages a telephone number that was verified by other means, so that no code is required. The caller
 * ensures that no credentials depend on the previous number.
 */
export function setVerifiedPhone(
  ctx: Ctx,
  platform: PlatformRow,
  row: CustomerRow,
  phoneNumber: string,
): CustomerRow {
  const change = { customerType: row.type, phoneNumber } as Change;
  const patch = patchFor(platform, row, personalOf(ctx.vault, row), change);
  // Channels after the update: verification may have become mandatory since registration.
  const channels = patch.contact_verification;
  return updateCustomer(ctx, row, {
    ...patch,
    ...(channels && { contact_verification: { ...channels, phone: 'VERIFIED' as const } }),
  });
}

/** Challenge to sign if wallet credentials depend on the contact that changes. */
async function challengeFor(
  ctx: Ctx,
  parts: CustomerParts,
  row: CustomerRow,
  body: Change,
  headers: unknown,
) {
  if (!parts.authorizeContactChange) return undefined;
  const [channel, value] =
    body.email === undefined
      ? (['phoneNumber', body.phoneNumber] as const)
      : (['email', body.email] as const);
  if (value === undefined) return undefined;
  const sent = headers as Record<string, string | undefined>;
  return parts.authorizeContactChange(ctx, { customer: row, channel, value, body, headers: sent });
}

const differs = (row: CustomerRow, was: Personal, patch: Patch): boolean =>
  Object.entries(patch).some(
    ([name, value]) =>
      JSON.stringify(name === 'personal' ? was : row[name as keyof CustomerRow]) !==
      JSON.stringify(value),
  );

/**
 * Updates a customer with a body that conforms to the contract. Returns 202 with a challenge if a signature
 * is required.
 */
export async function changeCustomer(
  ctx: Ctx,
  parts: CustomerParts,
  { params, body, headers }: Input<typeof updateCustomerById>,
) {
  const [platform, row] = await Promise.all([
    ownPlatform(ctx),
    customerOf(ctx, params.customerId, { alive: true }),
  ]);
  if (body.customerType !== row.type) {
    throw invalidField('customerType', `this customer is ${row.type}, which cannot be changed`);
  }
  const was = personalOf(ctx.vault, row);
  const nothing = { customerType: row.type } as Change;
  const before = violationsAfter(ctx, platform, row, was, nothing).map((each) => each.field);
  const complaints = violationsAfter(ctx, platform, row, was, body);
  rejectViolations(complaints.filter((each) => !before.includes(each.field)));
  assertCurrenciesOffered(platform, row.region, body.currencies);
  const challenge = await challengeFor(ctx, parts, row, body, headers);
  if (challenge && 'rejected' in challenge) return challenge;
  if (challenge) return { status: 202 as const, body: challenge };
  const patch = patchFor(platform, row, was, body);
  if (!differs(row, was, patch))
    return { status: 200 as const, body: await customerView(ctx, row) };
  const now = updateCustomer(ctx, row, patch);
  if (body.currencies || (now.terms_consent && !row.terms_consent)) {
    const internalAccounts = await findInternalAccounts(ctx.db, { customer_id: row.id });
    await openAccounts(ctx, parts, platform, now, internalAccounts);
  }
  return { status: 200 as const, body: await customerView(ctx, now) };
}

export const updateOperation = (parts: CustomerParts) =>
  handle(updateCustomerById, (ctx, input) => changeCustomer(ctx, parts, input));
