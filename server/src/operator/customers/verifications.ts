// `verifications list|show|approve|reject|hold`: manual identity verification, without an identity
// service. The operator passes the findings as arguments. The verbs print all data for the review,
// including personal data.
import {
  FINDING_TYPES,
  type FindingType,
  findingKind,
  isFindingType,
} from '../../catalog/identity/verification-errors.ts';
import type { IdentityFinding } from '../../connectors/ports/index.ts';
import {
  type Decision,
  decideVerification,
  findingProblem,
  listVerifications,
  showVerification,
  VERIFICATION_STATUSES,
} from '../../features/customers/verifications/index.ts';
import { isId } from '../../kernel/id.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listVerifications(system.runtime, {
    status: args.text('status') ?? 'PENDING_MANUAL_REVIEW',
    platformId: await platformIn(system, args),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const heads = ['SINCE', 'VERIFICATION', 'STATUS', 'CUSTOMER', 'PLATFORM'];
  const text = table(
    heads,
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

/** Pairs of name and value. The name of a nested value is its path. */
const pairsOf = (value: unknown, path: string): [string, string][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, nestedValue]) =>
        pairsOf(nestedValue, path ? `${path}.${name}` : name),
      )
    : [[path, String(value)]];

const outputOf = (json: unknown): Output => ({ json, text: record(pairsOf(json, '')) });

const PROBLEMS = {
  'field-missing': 'needs a #FIELD',
  'field-unexpected': 'must not have a #FIELD',
  'document-missing': 'needs @Document:…',
} as const;

/** One finding: `TYPE`, `TYPE@RESOURCE` or `TYPE@RESOURCE#FIELD`. */
function findingIn(findingText: string, reason: string | undefined): IdentityFinding {
  const [, type = '', resourceId, field] = /^(\w+)(?:@([^#]+))?(?:#(.+))?$/.exec(findingText) ?? [];
  if (!isFindingType(type)) {
    throw usageError(
      `--error must be one of ${FINDING_TYPES.join(', ')}, not ${type || findingText}`,
    );
  }
  const finding = {
    type,
    ...(resourceId === undefined ? {} : { resourceId }),
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
  };
  const problem = findingProblem(finding);
  if (problem) throw usageError(`${type} ${PROBLEMS[problem]}`);
  return finding;
}

const findingsIn = (args: CommandArgs): IdentityFinding[] =>
  (args.list('error') ?? []).map((findingText) => findingIn(findingText, args.text('reason')));

async function decide({ runtime }: System, args: CommandArgs, state: Decision): Promise<Output> {
  const id = args.required('id');
  const findings = findingsIn(args);
  if (state === 'unresolved' && !findings.length && !isId(id, 'BeneficialOwner')) {
    throw usageError('--error is required, except for a beneficial owner');
  }
  return outputOf(await decideVerification(runtime, { id, state, findings }));
}

const ID: Flags = {
  id: {
    value: 'ID',
    required: true,
    help: 'ID of the verification, of the customer, or of one beneficial owner',
  },
};

const typesAbout = (subject: 'document' | 'field'): readonly FindingType[] =>
  FINDING_TYPES.filter((type) => findingKind(type).subject === subject);

const FINDINGS: Flags = {
  error: {
    value: 'TYPE[@RESOURCE][#FIELD],…',
    list: true,
    help:
      'Finding about the customer, or about another resource if named. ' +
      `${typesAbout('field').join(' and ')} need a field. Findings about documents need the document`,
  },
  reason: {
    value: 'TEXT',
    help: 'Explanation for the platform (default: the explanation of the type)',
  },
};

const decisionVerb = (verb: string, state: Decision, summary: string, flags: Flags): Verb => ({
  noun: 'verifications',
  verb,
  summary,
  flags: { ...ID, ...flags },
  positional: 'id',
  run: (system, args) => decide(system, args, state),
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
        help: 'Filter by state (default: PENDING_MANUAL_REVIEW)',
      },
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      ...LIMIT,
      after: {
        value: 'VERIFICATION',
        help: 'Continue after this verification, the last of the previous list',
      },
    },
    positional: 'platform',
    run: list,
  },
  {
    noun: 'verifications',
    verb: 'show',
    summary: 'Show a verification case, including personal data',
    flags: ID,
    positional: 'id',
    run: async ({ runtime }, args) =>
      outputOf(await showVerification(runtime, args.required('id'))),
  },
  decisionVerb(
    'approve',
    'approved',
    'Approve the identity of a customer, or of one beneficial owner',
    {},
  ),
  decisionVerb('reject', 'rejected', 'Reject a customer, or one beneficial owner', FINDINGS),
  decisionVerb(
    'hold',
    'unresolved',
    'Request corrections. The customer fixes the findings and submits again',
    FINDINGS,
  ),
];
