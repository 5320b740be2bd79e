// `sca resets|pass-reset|reject-reset|show|unlock|events`: manual strong customer authentication.
// Without an identity service, the operator verifies the customer before a lost factor is removed.
// Decisions are recorded with actor and reason. The content of a factor is never shown.
import {
  decideFactorReset,
  scaDetails,
  scaFeature,
  searchFactorResets,
} from '../../features/sca/authentication/index.ts';
import { listScaEvents } from '../../features/sca/events/index.ts';
import { unlockByOperator } from '../../features/sca/lockout/index.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const actorArgument = (args: CommandArgs) => ({
  actor: args.text('actor') ?? 'operator',
  reason: args.required('reason'),
});

async function listResets(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchFactorResets(system.runtime, {
    status: args.text('status') ?? 'PENDING_REVIEW',
    platformId: await platformIn(system, args),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    ['SINCE', 'RESET', 'FACTOR', 'STATUS', 'EXPIRES', 'CUSTOMER', 'PLATFORM'],
    json.map((each) => [
      ...[each.createdAt, each.resetId, each.factor, each.status, each.expiresAt],
      ...[each.customerId, each.platformId],
    ]),
  );
  return { json, text };
}

async function decide(
  { runtime }: System,
  args: CommandArgs,
  decision: 'pass' | 'reject',
): Promise<Output> {
  const input = { resetId: args.required('reset'), decision, by: actorArgument(args) };
  const json = await decideFactorReset(runtime, input);
  const text = record([
    ['Reset', json.resetId],
    ['Customer', json.customerId],
    ['Factor', json.factor],
    ['Status', json.status],
    ['Expires', json.expiresAt],
  ]);
  return { json, text };
}

async function show({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await scaDetails(runtime, args.required('customer'));
  const overview = record([
    ['Customer', json.customerId],
    ['Platform', json.platformId],
    ['Strong authentication', json.isUnderSca ? 'applies' : 'does not apply'],
    ['Failures', String(json.failedAttempts)],
    ['Locked until', json.suspended ? 'suspended' : (json.lockedUntil ?? 'not locked')],
    ['Session expires', json.sessionExpiresAt ?? 'none'],
  ]);
  const factorTable = table(
    ['FACTOR', 'SINCE', 'ID', 'RECOVERY CODES'],
    json.factors.map(({ factor, enrolledAt, factorId, recoveryCodesLeft }) => [
      ...[factor, enrolledAt ?? '', factorId ?? '', String(recoveryCodesLeft ?? '')],
    ]),
  );
  const resetTable = table(
    ['RESET', 'FACTOR', 'STATUS', 'EXPIRES'],
    json.openResets.map((each) => [each.resetId, each.factor, each.status, each.expiresAt]),
  );
  const accountTable = table(
    ['ACCOUNT', 'TRUSTED SINCE'],
    json.trustedAccounts.map(({ accountId, trustedAt }) => [accountId, trustedAt ?? '']),
  );
  const sections = [`Factors\n${factorTable}`, `Resets\n${resetTable}`];
  return {
    json,
    text: [overview, ...sections, `Trusted accounts\n${accountTable}`].join('\n'),
  };
}

async function unlockOne({ runtime }: System, args: CommandArgs): Promise<Output> {
  const input = { customerId: args.required('customer'), by: actorArgument(args) };
  const json = await unlockByOperator(runtime, input);
  return { json, text: `${json.customerId} is not locked and has no failures.\n` };
}

async function listEvents({ runtime }: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listScaEvents(runtime, {
    customerId: args.required('customer'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    ['AT', 'EVENT', 'FACTOR', 'ABOUT', 'FROM', 'ACTOR', 'REASON'],
    json.map((each) => [
      ...[each.createdAt, each.type, each.factor ?? '', each.subject ?? ''],
      ...[each.ipAddress ?? '', each.actor ?? '', each.reason ?? ''],
    ]),
  );
  return { json, text };
}

const CUSTOMER: Flags = {
  customer: { value: 'CUSTOMER', required: true, help: 'ID of the customer' },
};
const DECISION: Flags = {
  reason: { value: 'TEXT', required: true, help: 'Reason, stored with the decision' },
  actor: { value: 'NAME', help: 'Name of the person who decides (default: operator)' },
};

const decisionVerb = (verb: string, decision: 'pass' | 'reject', summary: string): Verb => ({
  noun: 'sca',
  verb,
  summary,
  flags: { reset: { value: 'RESET', required: true, help: 'ID of the reset' }, ...DECISION },
  positional: 'reset',
  run: (system, args) => decide(system, args, decision),
});

const LIST_FLAGS: Flags = {
  platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
  status: {
    value: 'STATUS',
    choices: Object.keys(scaFeature.states.reset.transitions),
    help: 'Filter by state (default: PENDING_REVIEW)',
  },
  ...LIMIT,
  after: { value: 'RESET', help: 'Continue after this reset, the last of the previous list' },
};

const EVENT_FLAGS: Flags = {
  ...CUSTOMER,
  ...LIMIT,
  after: { value: 'EVENT', help: 'Continue after this event, the last of the previous list' },
};

const verb = (
  name: string,
  summary: string,
  flags: Flags,
  run: Verb['run'],
  positional = 'customer',
) => ({ noun: 'sca', verb: name, summary, flags, positional, run }) satisfies Verb;

export const scaVerbs: readonly Verb[] = [
  verb('resets', 'List resets of lost factors, oldest first', LIST_FLAGS, listResets, 'platform'),
  decisionVerb(
    'pass-reset',
    'pass',
    'Record that the customer was verified. The factor may be removed',
  ),
  decisionVerb('reject-reset', 'reject', 'Record that the request did not come from the customer'),
  verb(
    'show',
    'Show factors, failures, session, resets and trusted accounts of a customer',
    CUSTOMER,
    show,
  ),
  verb(
    'unlock',
    'Reset failures, and end a lockout or suspension',
    { ...CUSTOMER, ...DECISION },
    unlockOne,
  ),
  verb(
    'events',
    'List authentication events with IP addresses, newest first',
    EVENT_FLAGS,
    listEvents,
  ),
];
