// Creates and updates beneficial owners. Every change requires that the business is unchanged since
// it was read, so that no change commits after the verification is complete. Changes of UBOs also
// update the version of the business. They are therefore serialized, so that shares cannot exceed
// 100 percent in total.

import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { DataKey } from '../../../runtime/security/vault.ts';
import {
  type BeneficialOwnerCreateRequest,
  type BeneficialOwnerUpdateRequest,
  checkDigitErrors,
  type OwnerPersonal,
  ownerErrors,
} from '../profiles/index.ts';
import {
  type CustomerRow,
  customerOf,
  dataKeyOf,
  isFinal,
  requireCustomer,
  touchCustomer,
} from '../records/index.ts';
import {
  createBeneficialOwner,
  getBeneficialOwner,
  listBeneficialOwners,
  updateBeneficialOwner,
} from './contract.ts';
import {
  beneficialOwners,
  type OwnerRole,
  type OwnerRow,
  ownerDigests,
  ownerPersonal,
  presentOwner,
  sealOwner,
} from './owners.ts';
import { ownerOf, ownersOf } from './reads.ts';

type NewOwner = Static<typeof BeneficialOwnerCreateRequest>;
type OwnerChange = Static<typeof BeneficialOwnerUpdateRequest>;
type InfoChange = NonNullable<OwnerChange['personalInfo']>;

/** Maximum number of owners, because every reply about a business contains all of its owners. */
const MAX_OWNERS = 100;
const MAX_TOTAL_SHARE = 100;

const PERSONAL_INFO_FIELDS = [
  ...['firstName', 'middleName', 'lastName', 'birthDate', 'nationality', 'email', 'phoneNumber'],
  ...['address', 'idType', 'identifier', 'countryOfIssuance'],
] as const;
const ADDRESS_FIELDS = ['line1', 'line2', 'city', 'state', 'postalCode', 'country'] as const;

/** Picks the fields of `names` that have a value. */
const pick = (source: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = (source as Record<string, unknown>)[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** Copies the known fields in a fixed order. SSN, ITIN and EIN are issued by the US. */
function personOf(info: object): OwnerPersonal {
  const personal = pick(info, PERSONAL_INFO_FIELDS) as OwnerPersonal;
  const person = {
    ...personal,
    address: pick(personal.address, ADDRESS_FIELDS) as OwnerPersonal['address'],
  };
  if (person.idType && person.idType !== 'NON_US_TAX_ID') person.countryOfIssuance ??= 'US';
  return person;
}

/**
 * Personal data after an update. A new `idType` clears the issuer. A null `idType` clears the
 * number.
 */
function personAfter(previousPersonal: OwnerPersonal, change: InfoChange): OwnerPersonal {
  const isNewType = change.idType !== undefined && change.idType !== previousPersonal.idType;
  return personOf({
    ...previousPersonal,
    ...(isNewType ? { countryOfIssuance: null } : {}),
    ...(change.idType === null ? { identifier: null } : {}),
    ...change,
  });
}

interface OwnerCandidate {
  roles: readonly OwnerRole[];
  share: number;
  person: OwnerPersonal;
}

const isUbo = (roles: readonly OwnerRole[]) => roles.includes('UBO');

function shareErrors(candidate: OwnerCandidate, otherOwners: readonly OwnerRow[]): FieldError[] {
  if (!isUbo(candidate.roles)) return [];
  const otherShares = otherOwners
    .filter((each) => isUbo(each.roles))
    .reduce((sum, { share }) => sum + share, 0);
  if (otherShares + candidate.share <= MAX_TOTAL_SHARE) return [];
  const maximum = MAX_TOTAL_SHARE - otherShares;
  const message = `must not exceed ${maximum}, the percentage that other UBOs do not hold`;
  return [{ field: 'ownershipPercentage', message }];
}

const IDENTIFIER_FIELDS = ['idType', 'identifier', 'countryOfIssuance'] as const;

/**
 * Errors of the personal data. A stored number that `change` leaves unchanged is not validated
 * again.
 */
function personErrors(ctx: Ctx, person: OwnerPersonal, change: InfoChange | undefined) {
  const errors = ownerErrors({ personalInfo: person });
  if (ctx.caller.environment === 'production') {
    errors.push(...checkDigitErrors(person, 'personalInfo.'));
  }
  const isUnchanged =
    change && person.identifier && IDENTIFIER_FIELDS.every((name) => change[name] === undefined);
  if (!isUnchanged) return errors;
  return errors.filter(({ field }) =>
    IDENTIFIER_FIELDS.every((name) => field !== `personalInfo.${name}`),
  );
}

/** Throws all errors of the owner that a request would produce. */
function rejectInvalid(
  ctx: Ctx,
  candidate: OwnerCandidate,
  otherOwners: readonly OwnerRow[],
  {
    identifierErrors = [],
    change,
  }: { identifierErrors?: readonly FieldError[]; change?: InfoChange } = {},
): void {
  const ruleErrors = personErrors(ctx, candidate.person, change);
  const errors = [
    ...identifierErrors,
    ...ruleErrors.filter((each) =>
      identifierErrors.every((fieldError) => fieldError.field !== each.field),
    ),
  ];
  if (candidate.roles.length === 0) {
    errors.push({ field: 'roles', message: 'must contain at least one role' });
  }
  if (candidate.person.birthDate >= iso(ctx.now).slice(0, 10)) {
    const constraint = { format: 'date' };
    errors.push({ field: 'personalInfo.birthDate', constraint, message: 'must be in the past' });
  }
  errors.push(...shareErrors(candidate, otherOwners));
  if (errors.length) throw invalid(errors);
}

interface OpenBusiness {
  business: CustomerRow;
  key: DataKey;
  owners: OwnerRow[];
}

/** Reads a business whose owners can still be created and updated. */
async function openBusiness(ctx: Ctx, customerId: string, field: string): Promise<OpenBusiness> {
  const business = await customerOf(ctx, customerId, { rejectDeleted: true });
  if (business.type !== 'BUSINESS') throw invalidField(field, 'must be a business customer');
  if (isFinal(business)) {
    throw invalidField(
      field,
      `the verification of the business is ${business.status}, so its owners cannot be changed`,
    );
  }
  const key = dataKeyOf(business);
  if (!key) throw new Fault('CUSTOMER_DELETED', 'The data of the customer was erased.');
  const owners = await ownersOf(ctx, business);
  return { business, key, owners };
}

/**
 * Requires at commit that the business is unchanged. `isExclusive` also serializes concurrent
 * changes. Without `isExclusive` several directors can be created concurrently.
 */
function requireBusiness(ctx: Ctx, business: CustomerRow, isExclusive: boolean): void {
  if (isExclusive) touchCustomer(ctx, business);
  else requireCustomer(ctx, business);
}

/**
 * Creates a beneficial owner. The body conforms to the schema. A change set must change at most one
 * owner, because staged rows are not among the owners that are read.
 */
export async function addOwner(
  ctx: Ctx,
  body: NewOwner,
): Promise<{ business: CustomerRow; owner: OwnerRow }> {
  const { business, key, owners } = await openBusiness(ctx, body.customerId, 'customerId');
  if (owners.length >= MAX_OWNERS) {
    throw invalidField('customerId', `the business has the maximum of ${MAX_OWNERS} owners`);
  }
  const person = personOf(body.personalInfo);
  const roles = [...new Set(body.roles)];
  rejectInvalid(ctx, { roles, share: body.ownershipPercentage, person }, owners);
  const id = ctx.id('BeneficialOwner');
  const owner = ctx.insert(beneficialOwners, {
    id,
    platform_id: business.platform_id,
    customer_id: business.id,
    roles,
    share: body.ownershipPercentage,
    status: 'UNVERIFIED',
    personal: sealOwner(ctx.vault, key, id, person),
    ...ownerDigests(ctx.vault, person),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  // Creations from half of the maximum on are serialized, so that concurrent creations cannot
  // exceed the maximum.
  requireBusiness(ctx, business, isUbo(roles) || owners.length >= MAX_OWNERS / 2);
  return { business, owner };
}

/** A new type or issuer requires a new number. */
function missingIdentifierErrors(
  previousPersonal: OwnerPersonal,
  change: InfoChange,
): FieldError[] {
  const { idType, countryOfIssuance: issuer } = change;
  if (change.identifier !== undefined || idType === null) return [];
  const field = 'personalInfo.identifier';
  if (idType !== undefined && idType !== previousPersonal.idType) {
    return [{ field, message: 'is required with a new idType' }];
  }
  const isNewIssuer =
    issuer && previousPersonal.countryOfIssuance && issuer !== previousPersonal.countryOfIssuance;
  return isNewIssuer ? [{ field, message: 'is required with a new countryOfIssuance' }] : [];
}

/** Updates an owner with a body that conforms to the schema. */
export async function changeOwner(
  ctx: Ctx,
  id: string,
  body: OwnerChange,
): Promise<{ business: CustomerRow; owner: OwnerRow }> {
  const row = await ownerOf(ctx, id);
  const { business, key, owners } = await openBusiness(ctx, row.customer_id, 'beneficialOwnerId');
  const previousPersonal = ownerPersonal(ctx.vault, business, row);
  if (!previousPersonal || isFinal(row)) {
    const message = 'the verification of the owner is complete, so the owner cannot be changed';
    throw invalidField('beneficialOwnerId', message);
  }
  const change = body.personalInfo ?? {};
  const person = personAfter(previousPersonal, change);
  const roles = body.roles ? [...new Set(body.roles)] : row.roles;
  const share = body.ownershipPercentage ?? row.share;
  rejectInvalid(
    ctx,
    { roles, share, person },
    owners.filter((each) => each.id !== id),
    { identifierErrors: missingIdentifierErrors(previousPersonal, change), change },
  );
  // Unchanged data is not encrypted again, because every encryption uses a new nonce.
  const isSamePerson = JSON.stringify(person) === JSON.stringify(personOf(previousPersonal));
  const isSame =
    isSamePerson && share === row.share && JSON.stringify(roles) === JSON.stringify(row.roles);
  if (isSame) return { business, owner: row };
  const personal = isSamePerson ? row.personal : sealOwner(ctx.vault, key, id, person);
  const owner = ctx.update(beneficialOwners, row, {
    roles,
    share,
    personal,
    ...ownerDigests(ctx.vault, person),
    updated_at: ctx.now,
  });
  requireBusiness(ctx, business, isUbo(roles) || isUbo(row.roles));
  return { business, owner };
}

const viewOf = (ctx: Ctx, { business, owner }: { business: CustomerRow; owner: OwnerRow }) =>
  presentOwner(ctx.vault, business, owner);

export const ownerOperations = [
  handle(createBeneficialOwner, async (ctx, { body }) => ({
    status: 201,
    body: viewOf(ctx, await addOwner(ctx, body)),
  })),

  handle(listBeneficialOwners, async (ctx, { query }) => {
    const { customerId, limit = 20, cursor } = query;
    const { rows, ...rest } = await ctx.db.page(beneficialOwners, {
      filters: [
        { column: 'platform_id', op: '=', value: ctx.caller.platformId },
        { column: 'customer_id', op: '=', value: customerId },
      ],
      sort: 'desc',
      limit,
      cursor,
    });
    const business = rows.length ? await customerOf(ctx, customerId) : undefined;
    const data = rows.map((owner) => presentOwner(ctx.vault, business as CustomerRow, owner));
    return { status: 200, body: { data, ...rest } };
  }),

  handle(getBeneficialOwner, async (ctx, { params }) => {
    const owner = await ownerOf(ctx, params.beneficialOwnerId);
    const business = await customerOf(ctx, owner.customer_id);
    return { status: 200, body: presentOwner(ctx.vault, business, owner) };
  }),

  handle(updateBeneficialOwner, async (ctx, { params, body }) => ({
    status: 200,
    body: viewOf(ctx, await changeOwner(ctx, params.beneficialOwnerId, body)),
  })),
];
