// Naming those who own or control a business, and changing what is known of them. Every such act leans on
// the row of the business, so that none comes after the end of its check; one that is about shares also
// touches that row, without changing anything in it: so two requests that together would hand out more than
// the whole of a business meet there.

import type { Static } from '@sinclair/typebox';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import { iso } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { DataKey } from '../../../runtime/security/vault.ts';
import { digestsOf } from '../digests/index.ts';
import {
  type BeneficialOwnerCreateRequest,
  type BeneficialOwnerUpdateRequest,
  checkDigitErrors,
  type OwnerPersonal,
  wholeOwnerErrors,
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
  ownerPersonal,
  presentOwner,
  sealOwner,
} from './owners.ts';
import { ownerOf, ownersOf } from './reads.ts';

type NewOwner = Static<typeof BeneficialOwnerCreateRequest>;
type OwnerChange = Static<typeof BeneficialOwnerUpdateRequest>;
type InfoChange = NonNullable<OwnerChange['personalInfo']>;

/** Every reply about a business shows all of its owners. */
const MOST_OWNERS = 100;
const WHOLE = 100;

const INFO = [
  ...['firstName', 'middleName', 'lastName', 'birthDate', 'nationality', 'email', 'phoneNumber'],
  ...['address', 'idType', 'identifier', 'countryOfIssuance'],
] as const;
const ADDRESS = ['line1', 'line2', 'city', 'state', 'postalCode', 'country'] as const;

/** The fields of `names` that are there; whatever else came along is left behind. */
const only = (of: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = (of as Record<string, unknown>)[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** A person with the fields we know, in one order; SSN, ITIN and EIN are issued by the US. */
function personOf(info: object): OwnerPersonal {
  const known = only(info, INFO) as OwnerPersonal;
  const person = { ...known, address: only(known.address, ADDRESS) as OwnerPersonal['address'] };
  if (person.idType && person.idType !== 'NON_US_TAX_ID') person.countryOfIssuance ??= 'US';
  return person;
}

/** The person after a change: another type of number has another issuer, no type has no number. */
function personAfter(was: OwnerPersonal, change: InfoChange): OwnerPersonal {
  const isNewType = change.idType !== undefined && change.idType !== was.idType;
  return personOf({
    ...was,
    ...(isNewType ? { countryOfIssuance: null } : {}),
    ...(change.idType === null ? { identifier: null } : {}),
    ...change,
  });
}

/** The values that an owner is found by. */
const searchable = ({ email, phoneNumber: phone, identifier }: OwnerPersonal) => ({
  email,
  phone,
  identifier,
});

interface Wanted {
  roles: readonly OwnerRole[];
  share: number;
  person: OwnerPersonal;
}

const isUbo = (roles: readonly OwnerRole[]) => roles.includes('UBO');

function shareErrors(wanted: Wanted, others: readonly OwnerRow[]): FieldError[] {
  if (!isUbo(wanted.roles)) return [];
  const taken = others
    .filter((each) => isUbo(each.roles))
    .reduce((sum, { share }) => sum + share, 0);
  if (taken + wanted.share <= WHOLE) return [];
  const message = `is more than the ${WHOLE - taken} percent that the other UBOs leave`;
  return [{ field: 'ownershipPercentage', message }];
}

const NUMBER = ['idType', 'identifier', 'countryOfIssuance'] as const;

/** Everything wrong with a person; a number that `change` does not name was accepted as it is. */
function personErrors(ctx: Ctx, person: OwnerPersonal, change: InfoChange | undefined) {
  const errors = wholeOwnerErrors({ personalInfo: person });
  if (ctx.caller.environment === 'production') {
    errors.push(...checkDigitErrors(person, 'personalInfo.'));
  }
  const isKept = change && person.identifier && NUMBER.every((name) => change[name] === undefined);
  if (!isKept) return errors;
  return errors.filter(({ field }) => NUMBER.every((name) => field !== `personalInfo.${name}`));
}

/** Throws everything that stands against the owner that a request would leave behind. */
function refuseWrong(
  ctx: Ctx,
  wanted: Wanted,
  others: readonly OwnerRow[],
  { found = [], change }: { found?: readonly FieldError[]; change?: InfoChange } = {},
): void {
  const rules = personErrors(ctx, wanted.person, change);
  const errors = [
    ...found,
    ...rules.filter((each) => found.every((one) => one.field !== each.field)),
  ];
  if (wanted.roles.length === 0) {
    errors.push({ field: 'roles', message: 'must name at least one role' });
  }
  if (wanted.person.birthDate >= iso(ctx.now).slice(0, 10)) {
    const constraint = { format: 'date' };
    errors.push({ field: 'personalInfo.birthDate', constraint, message: 'must be in the past' });
  }
  errors.push(...shareErrors(wanted, others));
  if (errors.length) throw invalid(errors);
}

interface Open {
  business: CustomerRow;
  key: DataKey;
  owners: OwnerRow[];
}

/** The business whose owners may still be named and changed, held until the commit. */
async function openBusiness(ctx: Ctx, customerId: string, field: string): Promise<Open> {
  const business = await customerOf(ctx, customerId, { alive: true });
  if (business.type !== 'BUSINESS') throw invalidField(field, 'only a business has owners');
  if (isFinal(business)) {
    throw invalidField(field, `the check of this business is over: it is ${business.status}`);
  }
  const key = dataKeyOf(business);
  if (!key) throw new Fault('CUSTOMER_DELETED', 'What was known of this customer was erased.');
  const owners = await ownersOf(ctx, business);
  return { business, key, owners };
}

/**
 * Holds the business to the commit. Alone, it lets nobody else do the same at that moment; else twenty
 * directors may be named at once, and the limit to their number is only counted closely once it is near.
 */
function hold(ctx: Ctx, business: CustomerRow, alone: boolean): void {
  if (alone) touchCustomer(ctx, business);
  else requireCustomer(ctx, business);
}

/**
 * Names an owner of a business. The body has passed its schema. One change set names or changes one owner,
 * because what it staged before is not among the owners it reads.
 */
export async function addOwner(
  ctx: Ctx,
  body: NewOwner,
): Promise<{ business: CustomerRow; owner: OwnerRow }> {
  const { business, key, owners } = await openBusiness(ctx, body.customerId, 'customerId');
  if (owners.length >= MOST_OWNERS) {
    throw invalidField('customerId', `a business has at most ${MOST_OWNERS} owners here`);
  }
  const person = personOf(body.personalInfo);
  const roles = [...new Set(body.roles)];
  refuseWrong(ctx, { roles, share: body.ownershipPercentage, person }, owners);
  const id = ctx.id('BeneficialOwner');
  const owner = ctx.insert(beneficialOwners, {
    id,
    platform_id: business.platform_id,
    customer_id: business.id,
    roles,
    share: body.ownershipPercentage,
    status: 'UNVERIFIED',
    personal: sealOwner(ctx.vault, key, id, person),
    ...digestsOf(ctx.vault, searchable(person)),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  hold(ctx, business, isUbo(roles) || owners.length >= MOST_OWNERS / 2);
  return { business, owner };
}

/** A number goes with its type and its issuer. */
function bareTypeErrors(was: OwnerPersonal, change: InfoChange): FieldError[] {
  const { idType, countryOfIssuance: issuer } = change;
  if (change.identifier !== undefined || idType === null) return [];
  const field = 'personalInfo.identifier';
  if (idType !== undefined && idType !== was.idType) {
    return [{ field, message: 'is required with a new idType' }];
  }
  const isNewIssuer = issuer && was.countryOfIssuance && issuer !== was.countryOfIssuance;
  return isNewIssuer ? [{ field, message: 'is required with a new countryOfIssuance' }] : [];
}

/** Changes what `body`, which has passed its schema, names of an owner. */
export async function changeOwner(
  ctx: Ctx,
  id: string,
  body: OwnerChange,
): Promise<{ business: CustomerRow; owner: OwnerRow }> {
  const row = await ownerOf(ctx, id);
  const { business, key, owners } = await openBusiness(ctx, row.customer_id, 'beneficialOwnerId');
  const was = ownerPersonal(ctx.vault, business, row);
  if (!was || isFinal(row)) {
    throw invalidField('beneficialOwnerId', 'the check of this owner is over');
  }
  const change = body.personalInfo ?? {};
  const person = personAfter(was, change);
  const roles = body.roles ? [...new Set(body.roles)] : row.roles;
  const share = body.ownershipPercentage ?? row.share;
  refuseWrong(
    ctx,
    { roles, share, person },
    owners.filter((each) => each.id !== id),
    { found: bareTypeErrors(was, change), change },
  );
  // Sealing draws anew, so what stays as it was is not sealed again.
  const isSamePerson = JSON.stringify(person) === JSON.stringify(personOf(was));
  const isSame =
    isSamePerson && share === row.share && JSON.stringify(roles) === JSON.stringify(row.roles);
  if (isSame) return { business, owner: row };
  const personal = isSamePerson ? row.personal : sealOwner(ctx.vault, key, id, person);
  const owner = ctx.update(beneficialOwners, row, {
    roles,
    share,
    personal,
    ...digestsOf(ctx.vault, searchable(person)),
    updated_at: ctx.now,
  });
  hold(ctx, business, isUbo(roles) || isUbo(row.roles));
  return { business, owner };
}

const shown = (ctx: Ctx, { business, owner }: { business: CustomerRow; owner: OwnerRow }) =>
  presentOwner(ctx.vault, business, owner);

export const ownerOperations = [
  handle(createBeneficialOwner, async (ctx, { body }) => ({
    status: 201,
    body: shown(ctx, await addOwner(ctx, body)),
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
    body: shown(ctx, await changeOwner(ctx, params.beneficialOwnerId, body)),
  })),
];
