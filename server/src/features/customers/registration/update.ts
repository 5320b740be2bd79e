// Changing a customer. A request names what changes; it is judged by the customer it would leave behind,
// and only for what it makes worse: a rule that came into force after the customer was registered does not
// stand in the way of an unrelated change.

import type { Input } from '../../../kernel/contract/operation.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import { mustProveContacts } from '../eligibility/index.ts';
import { customerErrors, detailsAfter } from '../profiles/index.ts';
import { type CustomerRow, customerOf, personalOf, updateCustomer } from '../records/index.ts';
import {
  asInvalid,
  type Candidate,
  type Complaint,
  channelsAfter,
  complaintsAbout,
  refuse,
  refuseUnserved,
} from './admission.ts';
import { updateCustomerById } from './contract.ts';
import { type Change, consentOf } from './customer.ts';
import { type CustomerParts, openAccounts } from './parts.ts';
import { umaAddressOf } from './uma.ts';
import { customerView } from './views.ts';

type Personal = ReturnType<typeof personalOf>;
type Patch = Parameters<typeof updateCustomer>[2] & { personal: Personal };

/** A value the request may leave alone (undefined), set, or empty (null). */
const after = <V>(was: V | null, given: V | null | undefined): V | null =>
  given === undefined ? was : given;

/** The identity number after a change: another type or another issuer needs another number. */
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
  const umaAddress = body.umaAddress === undefined ? undefined : umaAddressOf(body.umaAddress);
  return {
    type: row.type,
    region: row.region,
    email: after(row.email, body.email),
    phone: after(row.phone, body.phoneNumber),
    details: detailsAfter({ type: row.type, details: was.details }, body),
    identifier: identifierAfter(was, body),
    currencies: body.currencies,
    umaAddress: umaAddress === row.uma_address ? undefined : umaAddress,
    consent: body.endUserTermsConsent && consentOf(body.endUserTermsConsent),
  };
}

/** Everything that stands against the customer `body` would leave behind. */
function complaintsAfter(
  ctx: Ctx,
  platform: PlatformRow,
  row: CustomerRow,
  was: Personal,
  body: Change,
): Complaint[] {
  const of = candidateAfter(row, was, body);
  const whole = {
    customerType: row.type,
    ...of.details,
    identifier: of.identifier ?? undefined,
  };
  const own = asInvalid(customerErrors(whole));
  const known = new Set(own.map((error) => error.field));
  const more = complaintsAbout(of, platform, ctx.now).filter((each) => !known.has(each.field));
  return [...own, ...more];
}

function patchFor(platform: PlatformRow, row: CustomerRow, was: Personal, body: Change): Patch {
  const of = candidateAfter(row, was, body);
  const changed = { email: of.email !== row.email, phone: of.phone !== row.phone };
  const needed = mustProveContacts(platform, of);
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
 * Stages the telephone number of a customer who has shown by other means to be itself: it needs no code any
 * more. Whoever calls makes sure that nothing else hangs on the number that was there.
 */
export function setProvenPhone(
  ctx: Ctx,
  platform: PlatformRow,
  row: CustomerRow,
  phoneNumber: string,
): CustomerRow {
  const change = { customerType: row.type, phoneNumber } as Change;
  const patch = patchFor(platform, row, personalOf(ctx.vault, row), change);
  // As they are after the change: what was never asked of the customer may be asked by now.
  const channels = patch.contact_verification;
  return updateCustomer(ctx, row, {
    ...patch,
    ...(channels && { contact_verification: { ...channels, phone: 'VERIFIED' as const } }),
  });
}

/** The challenge a change of contact is answered with, where credentials hang on it. */
async function challengeFor(
  ctx: Ctx,
  parts: CustomerParts,
  row: CustomerRow,
  body: Change,
  headers: unknown,
) {
  if (!parts.credentialsTiedTo) return undefined;
  const [channel, value] =
    body.email === undefined
      ? (['phoneNumber', body.phoneNumber] as const)
      : (['email', body.email] as const);
  if (value === undefined) return undefined;
  const sent = headers as Record<string, string | undefined>;
  return parts.credentialsTiedTo(ctx, { customer: row, channel, value, body, headers: sent });
}

const differs = (row: CustomerRow, was: Personal, patch: Patch): boolean =>
  Object.entries(patch).some(
    ([name, value]) =>
      JSON.stringify(name === 'personal' ? was : row[name as keyof CustomerRow]) !==
      JSON.stringify(value),
  );

/** Changes a customer as a body that has passed the contract's checks asks; 202 with a challenge to sign. */
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
  const before = complaintsAfter(ctx, platform, row, was, nothing).map((each) => each.field);
  const complaints = complaintsAfter(ctx, platform, row, was, body);
  refuse(complaints.filter((each) => !before.includes(each.field)));
  refuseUnserved(platform, row.region, body.currencies);
  const challenge = await challengeFor(ctx, parts, row, body, headers);
  if (challenge && 'refused' in challenge) return challenge;
  if (challenge) return { status: 202 as const, body: challenge };
  const patch = patchFor(platform, row, was, body);
  if (!differs(row, was, patch))
    return { status: 200 as const, body: await customerView(ctx, row) };
  const now = updateCustomer(ctx, row, patch);
  if (body.currencies || (now.terms_consent && !row.terms_consent)) {
    const held = await findInternalAccounts(ctx.db, { customer_id: row.id });
    await openAccounts(ctx, parts, platform, now, held);
  }
  return { status: 200 as const, body: await customerView(ctx, now) };
}

export const updateOperation = (parts: CustomerParts) =>
  handle(updateCustomerById, (ctx, input) => changeCustomer(ctx, parts, input));
