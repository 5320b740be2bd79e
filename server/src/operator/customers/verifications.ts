// `verifications list|show|approve|reject|hold`: the identity check by hand, where no service does it. What a
// reviewer needs is printed whole, personal data included, since that is its purpose. A decision tells the
// platform what a service's decision would; owners of a business follow it unless decided one by one.
import {
  FINDING_TYPES,
  type FindingType,
  findingKind,
  isFindingType,
} from '../../catalog/identity/verification-errors.ts';
import type { IdentityFinding } from '../../connectors/ports/index.ts';
import { documentsOf, markSubmitted } from '../../features/customers/documents/index.ts';
import {
  beneficialOwners,
  type CheckMove,
  type CustomerRow,
  customers,
  isFinal,
  type OwnerRow,
} from '../../features/customers/records/index.ts';
import {
  caseOf,
  decide,
  dossierOf,
  errorsOf,
  findingsOf,
  gapsOfDossier,
  latestOf,
  moveOwner,
  VERIFICATION_STATUSES,
  type VerificationError,
  type VerificationRow,
  verifications,
} from '../../features/customers/verifications/index.ts';
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

/** What an id stands for: a customer, by itself or by its verification, or one of its owners. */
interface Subject {
  customer: CustomerRow;
  owner?: OwnerRow;
}

type Reader = Pick<Ctx, 'read' | 'db'>;

const readerOf = ({ runtime: { db } }: System): Reader => ({ db, read: db.read });

async function customerBehind({ read }: Reader, id: string): Promise<CustomerRow> {
  const customer = await read(customers, id);
  if (!customer) throw notFound('customer');
  return customer;
}

/** Throws for a verification that another took the place of: it is not what would be decided. */
async function subjectOf(reader: Reader, id: string): Promise<Subject> {
  if (isId(id, 'Customer')) return { customer: await customerBehind(reader, id) };
  if (isId(id, 'BeneficialOwner')) {
    const owner = await reader.read(beneficialOwners, id);
    if (!owner) throw notFound('owner');
    return { customer: await customerBehind(reader, owner.customer_id), owner };
  }
  const row = isId(id, 'Verification') ? await reader.read(verifications, id) : undefined;
  if (!row) throw notFound('verification, customer or owner');
  if (!row.latest) throw refused('A later verification took its place.');
  return { customer: await customerBehind(reader, row.customer_id) };
}

const view = (row: VerificationRow) => ({
  verificationId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  status: row.status,
  decidedBy: row.decided_by,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** Nothing is decided any more about customers who were deleted: they would fill the queue for ever. */
export const STANDING = `select v.id from verifications v join customers c on c.id = v.customer_id
  where v.latest and v.status = $1 and ($2::text is null or v.platform_id = $2)
    and c.deleted_at is null and (v.created_at, v.id) > ($3::timestamptz, $4::text)
  order by v.created_at, v.id limit $5`;

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const status = given.text('status') ?? 'PENDING_MANUAL_REVIEW';
  const named = given.text('platform');
  const platform = named === undefined ? null : (await platformOf(system, named)).id;
  const after = given.text('after');
  const before = after === undefined ? undefined : await db.read(verifications, after);
  if (after !== undefined && !before) throw notFound('verification');
  const place = [new Date(before?.created_at ?? 0), before?.id ?? ''];
  const values = [status, platform, ...place, limitIn(given)];
  const found = await db.query<{ id: string }>(STANDING, values);
  const rows = await Promise.all(found.map(({ id }) => db.read(verifications, id)));
  const json = rows.flatMap((row) => (row ? [view(row)] : []));
  const heads = ['SINCE', 'VERIFICATION', 'STATUS', 'CUSTOMER', 'PLATFORM'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [
      each.createdAt,
      each.verificationId,
      each.status,
      each.customerId,
      each.platformId,
    ]),
  );
  return { json, text };
}

/** Names and values below each other, what lies deeper by its path. */
const lines = (value: unknown, path: string): [string, string][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
        lines(inner, path ? `${path}.${name}` : name),
      )
    : [[path, String(value)]];

async function show(system: System, given: Given): Promise<Output> {
  const { vault } = system.runtime;
  const reader = readerOf(system);
  const { customer } = await subjectOf(reader, given.needed('id'));
  const [dossier, latest] = await Promise.all([
    dossierOf(reader, customer),
    latestOf(reader, customer.id),
  ]);
  const { id: _, ...submitted } = caseOf(vault, customer.id, dossier);
  const statuses = new Map(dossier.owners.map((each) => [each.id, each.status]));
  const json = {
    verification: latest ? { ...view(latest), errors: findingsOf(vault, customer, latest) } : null,
    status: customer.status,
    contactVerification: customer.contact_verification,
    missing: gapsOfDossier(vault, dossier),
    ...submitted,
    owners: submitted.owners.map((each) => ({ ...each, status: statuses.get(each.id) })),
  };
  return { json, text: record(lines(json, '')) };
}

/** One finding: `TYPE`, `TYPE@RESOURCE` or `TYPE@RESOURCE#FIELD`. */
function findingIn(word: string, reason: string | undefined): IdentityFinding {
  const [, type = '', resourceId, field] = /^(\w+)(?:@([^#]+))?(?:#(.+))?$/.exec(word) ?? [];
  if (!isFindingType(type)) {
    throw usageError(`--error takes ${FINDING_TYPES.join(', ')}, not ${type || word}`);
  }
  const { about } = findingKind(type);
  if ((about === 'field') !== (field !== undefined)) {
    throw usageError(`${type} ${about === 'field' ? 'needs a' : 'has no'} #FIELD`);
  }
  if (about === 'document' && !resourceId?.startsWith('Document:')) {
    throw usageError(`${type} needs @Document:…`);
  }
  return {
    type,
    ...(resourceId === undefined ? {} : { resourceId }),
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
  };
}

const findingsIn = (given: Given): IdentityFinding[] =>
  (given.list('error') ?? []).map((word) => findingIn(word, given.text('reason')));

async function errorsAbout(
  ctx: Ctx,
  customer: CustomerRow,
  findings: readonly IdentityFinding[],
): Promise<VerificationError[]> {
  const dossier = await dossierOf(ctx, customer);
  const all = [customer, ...dossier.owners, ...dossier.documents].map((each) => each.id);
  const stray = findings.find((each) => each.resourceId && !all.includes(each.resourceId));
  if (stray) throw refused(`${stray.resourceId} does not belong to this customer.`);
  return errorsOf(dossier, findings);
}

type State = 'approved' | 'rejected' | 'unresolved';

const MOVES: Readonly<Record<State, CheckMove>> = {
  approved: 'approve',
  rejected: 'reject',
  unresolved: 'hold',
};

async function decideOwner(
  ctx: Ctx,
  { customer, owner }: Required<Subject>,
  state: State,
): Promise<Output> {
  if (customer.deleted_at !== null) throw refused('The business was deleted.');
  if (isFinal(owner)) throw refused(`The owner is ${owner.status}.`);
  ctx.require(customers, customer);
  if (state !== 'unresolved') markSubmitted(ctx, await documentsOf(ctx, [owner.id]));
  const { status } = moveOwner(ctx, owner, MOVES[state]);
  const json = { ownerId: owner.id, customerId: customer.id, status };
  return { json, text: record(lines(json, '')) };
}

async function settle(system: System, given: Given, state: State): Promise<Output> {
  const id = given.needed('id');
  const findings = findingsIn(given);
  const { customer: known } = await subjectOf(readerOf(system), id);
  const platform = await system.runtime.db.read(platforms, known.platform_id);
  if (!platform) throw notFound('platform');
  const caller = systemCaller(platform.id, platform.environment);
  return operate(system.runtime, caller, async (ctx) => {
    const subject = await subjectOf(ctx, id);
    const { customer, owner } = subject;
    if (owner) {
      if (findings.length) throw refused('Findings are kept with the business, not with an owner.');
      return decideOwner(ctx, { customer, owner }, state);
    }
    if (state === 'unresolved' && !findings.length) throw usageError('--error is needed');
    if (customer.deleted_at !== null) throw refused('The customer was deleted.');
    if (isFinal(customer)) throw refused(`The customer is ${customer.status}, which is final.`);
    const errors = await errorsAbout(ctx, customer, findings);
    const row = await decide(ctx, customer, { state, errors });
    const json = { ...view(row), errors };
    return { json, text: record(lines(json, '')) };
  });
}

const ID: Flags = {
  id: {
    value: 'ID',
    required: true,
    help: 'Id of the verification, of the customer, or of one owner of a business',
  },
};

const aboutTypes = (wanted: 'document' | 'field'): readonly FindingType[] =>
  FINDING_TYPES.filter((type) => findingKind(type).about === wanted);

const FINDINGS: Flags = {
  error: {
    value: 'TYPE[@RESOURCE][#FIELD],…',
    list: true,
    help:
      'What stands in the way, of the customer unless another resource is named; ' +
      `${aboutTypes('field').join(' and ')} need a field, findings about documents the document`,
  },
  reason: {
    value: 'TEXT',
    help: 'The same in words for the platform; those of the type if absent',
  },
};

const decider = (verb: string, state: State, summary: string, more: Flags): Verb => ({
  noun: 'verifications',
  verb,
  summary,
  flags: { ...ID, ...more },
  bare: 'id',
  run: (system, given) => settle(system, given, state),
});

export const verificationVerbs: readonly Verb[] = [
  {
    noun: 'verifications',
    verb: 'list',
    summary: 'List the latest verification of each customer, oldest first',
    flags: {
      status: {
        value: 'STATUS',
        choices: VERIFICATION_STATUSES,
        help: 'Those in this state; those that wait for a decision unless given',
      },
      platform: { value: 'PLATFORM', help: 'Only those of this platform' },
      ...LIMIT,
      after: { value: 'VERIFICATION', help: 'Go on behind this one, the last of a list before' },
    },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'verifications',
    verb: 'show',
    summary: 'Show all there is to decide by, personal data included',
    flags: ID,
    bare: 'id',
    run: show,
  },
  decider('approve', 'approved', 'Say that a customer, or one owner, is who they say they are', {}),
  decider('reject', 'rejected', 'Say that a customer, or one owner, cannot be accepted', FINDINGS),
  decider('hold', 'unresolved', 'Ask for more: the customer mends it and submits again', FINDINGS),
];
