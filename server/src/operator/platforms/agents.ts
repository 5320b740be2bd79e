// `agents list|show|pause|resume|audit`: agents that act for customers, their pauses, and their
// audit log. The log contains no personal data except the names that platforms give their agents.
import {
  type AgentDetails,
  pauseAgentByOperator,
  readAgentDetails,
  searchAgentAudit,
  searchAgents,
} from '../../features/agents/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from './platform.ts';

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchAgents(system.runtime, {
    platformId: await platformIn(system, args),
    customerId: args.text('customer'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const heads = ['CREATED', 'AGENT', 'CUSTOMER', 'STATE', 'NAME'];
  const text = table(
    heads,
    json.map((each) => [each.createdAt, each.agentId, each.customerId, each.state, each.name]),
  );
  return { json, text };
}

function outputOf(json: AgentDetails): Output {
  const { policy, usage } = json;
  const text = record([
    ['Agent', json.id],
    ['Name', json.name],
    ['Platform', json.platformId],
    ['Customer', json.customerId],
    ['State', json.state],
    ['Created', json.createdAt],
    ['Permissions', policy.permissions.join(', ') || 'none'],
    ['Mode', policy.defaultExecutionMode],
    ['Limits', inline(policy.spendingLimits)],
    ['Accounts', inline(policy.accountRestrictions ?? {}) || 'all'],
    ['Threshold', inline(policy.approvalThresholds ?? {}) || 'none'],
    ['Usage', inline(usage)],
  ]);
  return { json, text };
}

const depsOf = ({ connectorsOf }: System) => ({ connectors: connectorsOf });

const show = async (system: System, args: CommandArgs): Promise<Output> =>
  outputOf(await readAgentDetails(system.runtime, depsOf(system), args.required('agent')));

const MAX_REASON = 255;

const pause = (isPaused: boolean) => async (system: System, args: CommandArgs) => {
  const [agentId, reason] = [args.required('agent'), args.required('reason')];
  if (reason.length > MAX_REASON) {
    throw usageError(`--reason must have at most ${MAX_REASON} characters`);
  }
  const input = { agentId, paused: isPaused, reason };
  return outputOf(await pauseAgentByOperator(system.runtime, depsOf(system), input));
};

function sinceIn(args: CommandArgs): number | undefined {
  const text = args.text('since');
  const time = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(time)) throw usageError('--since must be a day or a time, such as 2026-01-31');
  return time;
}

async function listAudit(system: System, args: CommandArgs): Promise<Output> {
  const filter = {
    platformId: await platformIn(system, args),
    customerId: args.text('customer'),
    agentId: args.text('agent'),
  };
  const sinceTime = sinceIn(args);
  if (Object.values(filter).every((id) => id === undefined)) {
    throw usageError('--agent, --customer or --platform is required');
  }
  const page = { after: args.text('after'), limit: limitIn(args) };
  const { data: json } = await searchAgentAudit(system.runtime, {
    ...filter,
    since: sinceTime,
    ...page,
  });
  const heads = ['AT', 'EVENT', 'BY', 'AGENT', 'ACTION', 'DETAILS'];
  const text = table(
    heads,
    json.map((each) => [
      each.at,
      each.what,
      each.actor,
      each.agentId,
      each.actionId ?? '-',
      inline(each.details) || '-',
    ]),
  );
  return { json, text };
}

const AGENT: Flags = { agent: { value: 'AGENT', required: true, help: 'ID of the agent' } };
const REASON: Flags = {
  reason: {
    value: 'TEXT',
    required: true,
    help: 'Reason, stored in the audit log. No personal data',
  },
};
const FILTERS: Flags = {
  platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
  customer: { value: 'CUSTOMER', help: 'Filter by customer (default: all)' },
};

export const agentVerbs: readonly Verb[] = [
  {
    noun: 'agents',
    verb: 'list',
    summary: 'List agents, newest first. Deleted agents are omitted',
    flags: {
      ...FILTERS,
      ...LIMIT,
      after: { value: 'AGENT', help: 'Continue after this agent, the last of the previous list' },
    },
    run: list,
  },
  {
    noun: 'agents',
    verb: 'show',
    summary: 'Show an agent, its policy and its spending',
    flags: AGENT,
    positional: 'agent',
    run: show,
  },
  {
    noun: 'agents',
    verb: 'pause',
    summary: 'Pause an agent: read-only',
    flags: { ...AGENT, ...REASON },
    positional: 'agent',
    run: pause(true),
  },
  {
    noun: 'agents',
    verb: 'resume',
    summary: 'Resume a paused agent',
    flags: { ...AGENT, ...REASON },
    positional: 'agent',
    run: pause(false),
  },
  {
    noun: 'agents',
    verb: 'audit',
    summary: 'List the audit log of agents, newest first',
    flags: {
      agent: {
        value: 'AGENT',
        help: 'Filter by agent. --agent, --customer or --platform is required',
      },
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      customer: { value: 'CUSTOMER', help: 'Filter by customer (default: all)' },
      since: { value: 'TIME', help: 'Earliest day or time (default: all)' },
      ...LIMIT,
      after: {
        value: 'LINE',
        help: 'Continue after this entry, the last of the previous list (with --json)',
      },
    },
    run: listAudit,
  },
];
