// Updates a customer. The complete result of the update is validated. Only violations that the
// request introduces are rejected. A rule that became effective after registration therefore blocks
// no unrelated update.

import type { Input } from '../../../kernel/contract/operation.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
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
import { type CustomerDeps, openAccounts } from './deps.ts';
import { normalizeUmaAddress } from './uma.ts';
import { customerView } from './views.ts';

type Personal = ReturnType<typeof personalOf>;
type Patch = Parameters<typeof updateCustomer>[2] & { personal: Personal };

/** Value after an update: undefined keeps the current value, null clears it. */
const valueAfter = <V>(currentValue: V | null, requestedValue: V | null | undefined): V | null =>
  requestedValue === undefined ? currentValue : requestedValue;

/** Identity number after an update. A new type or issuer requires a new number. */
function identifierAfter(previousPersonal: Personal, body: Change): string | null {
  if (body.customerType !== 'INDIVIDUAL') return null;
  if (body.identifier !== undefined) return body.identifier;
  const { idType, countryOfIssuance: issuer } = previousPersonal.details;
  const isSameType = body.idType === undefined || body.idType === idType;
  const isSameIssuer =
    idType !== 'NON_US_TAX_ID' ||
    body.countryOfIssuance === undefined ||
    body.countryOfIssuance === issuer;
  return isSameType && isSameIssuer ? previousPersonal.identifier : null;
}

function candidateAfter(row: CustomerRow, previousPersonal: Personal, body: Change): Candidate {
  const umaAddress =
    body.umaAddress === undefined ? undefined : normalizeUmaAddress(body.umaAddress);
  return {
    type: row.type,
    region: row.region,
    email: valueAfter(row.email, body.email),
    phone: valueAfter(row.phone, body.phoneNumber),
    details: detailsAfter({ type: row.type, details: previousPersonal.details }, body),
    identifier: identifierAfter(previousPersonal, body),
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
  previousPersonal: Personal,
  body: Change,
): Violation[] {
  const candidate = candidateAfter(row, previousPersonal, body);
  const customer = {
    customerType: row.type,
    ...candidate.details,
    identifier: candidate.identifier ?? undefined,
  };
  const profileViolations = asViolations(customerErrors(customer));
  const profileFields = new Set(profileViolations.map((error) => error.field));
  const otherViolations = violationsOf(candidate, platform, ctx.now).filter(
    (each) => !profileFields.has(each.field),
  );
  return [...profileViolations, ...otherViolations];
}

function patchFor(
  platform: PlatformRow,
  row: CustomerRow,
  previousPersonal: Personal,
  body: Change,
): Patch {
  const candidate = candidateAfter(row, previousPersonal, body);
  const changedContacts = {
    email: candidate.email !== row.email,
    phone: candidate.phone !== row.phone,
  };
  const isRequired = requiresContactVerification(platform, candidate);
  return {
    email: candidate.email,
    phone: candidate.phone,
    uma_address: candidate.umaAddress ?? row.uma_address,
    currencies: candidate.currencies ? [...candidate.currencies] : row.currencies,
    terms_consent: candidate.consent ?? row.terms_consent,
    contact_verification: channelsAfter(isRequired, row.contact_verification, changedContacts),
    personal: { details: candidate.details, identifier: candidate.identifier },
  };
}

/**
 * Stages a telephone number that was verified by other means, so that no code is required. The
 * caller ensures that no credentials depend on the previous number.
 */
export function setVerifiedPhone(
  ctx: Ctx,
  platform: PlatformRow,
  row: CustomerRow,
  phoneNumber: string,
): CustomerRow {
  const change = { customerType: row.type, phoneNumber } as Change;
  const patch = patchFor(platform, row, personalOf(ctx.vault, row), change);
  // Channels after the update. Verification may have become mandatory since registration.
  const channels = patch.contact_verification;
  return updateCustomer(ctx, row, {
    ...patch,
    ...(channels && { contact_verification: { ...channels, phone: 'VERIFIED' as const } }),
  });
}

/** Result of `authorizeContactChange`, or undefined if no contact changes. */
async function challengeFor(
  ctx: Ctx,
  deps: CustomerDeps,
  row: CustomerRow,
  body: Change,
  headers: unknown,
) {
  if (!deps.authorizeContactChange) return undefined;
  const [channel, value] =
    body.email === undefined
      ? (['phoneNumber', body.phoneNumber] as const)
      : (['email', body.email] as const);
  if (value === undefined) return undefined;
  const requestHeaders = headers as Record<string, string | undefined>;
  return deps.authorizeContactChange(ctx, {
    customer: row,
    channel,
    value,
    body,
    headers: requestHeaders,
  });
}

const isDifferent = (row: CustomerRow, previousPersonal: Personal, patch: Patch): boolean =>
  Object.entries(patch).some(
    ([name, value]) =>
      JSON.stringify(name === 'personal' ? previousPersonal : row[name as keyof CustomerRow]) !==
      JSON.stringify(value),
  );

/**
 * Updates a customer with a body that conforms to the contract. Returns 202 with a challenge if a
 * signature is required.
 */
export async function changeCustomer(
  ctx: Ctx,
  deps: CustomerDeps,
  { params, body, headers }: Input<typeof updateCustomerById>,
) {
  const [platform, row] = await Promise.all([
    readOwnPlatform(ctx),
    customerOf(ctx, params.customerId, { rejectDeleted: true }),
  ]);
  if (body.customerType !== row.type) {
    const message = `must be ${row.type}, because the type of a customer cannot be changed`;
    throw invalidField('customerType', message);
  }
  const previousPersonal = personalOf(ctx.vault, row);
  const emptyChange = { customerType: row.type } as Change;
  const invalidFieldsBefore = violationsAfter(
    ctx,
    platform,
    row,
    previousPersonal,
    emptyChange,
  ).map((each) => each.field);
  const violations = violationsAfter(ctx, platform, row, previousPersonal, body);
  rejectViolations(violations.filter((each) => !invalidFieldsBefore.includes(each.field)));
  assertCurrenciesOffered(platform, row.region, body.currencies);
  const challenge = await challengeFor(ctx, deps, row, body, headers);
  if (challenge && 'rejected' in challenge) return challenge;
  if (challenge) return { status: 202 as const, body: challenge };
  const patch = patchFor(platform, row, previousPersonal, body);
  if (!isDifferent(row, previousPersonal, patch))
    return { status: 200 as const, body: await customerView(ctx, row) };
  const updatedCustomer = updateCustomer(ctx, row, patch);
  if (body.currencies || (updatedCustomer.terms_consent && !row.terms_consent)) {
    const internalAccounts = await findInternalAccounts(ctx.db, { customer_id: row.id });
    await openAccounts(ctx, deps, platform, updatedCustomer, internalAccounts);
  }
  return { status: 200 as const, body: await customerView(ctx, updatedCustomer) };
}

export const updateOperation = (deps: CustomerDeps) =>
  handle(updateCustomerById, (ctx, input) => changeCustomer(ctx, deps, input));
