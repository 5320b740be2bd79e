// `jobs list|show|retry|cancel`: jobs that are queued, running or dead. A dead job remains until an
// operator retries or cancels it. A retry resets the attempts. Inputs may contain personal data, so
// only the IDs in the inputs are shown.
import {
  cancelJob,
  JOB_STATES,
  type JobDetails,
  jobDetails,
  listJobs,
  retryDeadJobs,
  retryJob,
} from '../../features/jobs/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const MAX_REASON = 255;

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await listJobs(system.runtime, {
    state: args.text('state'),
    kind: args.text('kind'),
    platformId: await platformIn(system, args),
    limit: limitIn(args),
  });
  const heads = ['JOB', 'KIND', 'STATE', 'TIME', 'ATTEMPTS', 'PLATFORM', 'ABOUT', 'LAST ERROR'];
  const time = (each: (typeof json)[number]) =>
    'cancelledAt' in each ? each.cancelledAt : (each.dueAt ?? each.failedAt ?? '-');
  const text = table(
    heads.map((heading) => ({ heading, align: heading === 'ATTEMPTS' ? 'right' : 'left' })),
    json.map((each) => [
      each.jobId,
      each.kind,
      each.state,
      time(each),
      `${each.attempts}`,
      each.platformId ?? '-',
      inline(each.about) || '-',
      each.lastError ?? '-',
    ]),
  );
  return { json, text };
}

function outputOf(each: JobDetails): Output {
  const pairs: (readonly [string, string])[] = [
    ['Job', each.jobId],
    ['Kind', each.kind],
    ['State', each.state],
    ['Platform', each.platformId ?? 'none'],
    ['About', inline(each.about) || 'no ID'],
    ['Attempts', `${each.attempts}`],
    ['Last error', each.lastError ?? 'none'],
  ];
  if ('reason' in each) pairs.push(['Cancelled', each.cancelledAt], ['Reason', each.reason]);
  else pairs.push(['Failed', each.failedAt ?? 'no'], ['Due', each.dueAt ?? '-']);
  if (each.state === 'dead' || 'reason' in each) pairs.push(['Pending effect', each.undone]);
  return { json: each, text: record(pairs) };
}

async function retry({ runtime }: System, args: CommandArgs): Promise<Output> {
  const [id, kind, state] = [args.text('job'), args.text('kind'), args.text('state')];
  if ((id === undefined) === (kind === undefined)) {
    throw usageError('Either JOB or --kind KIND --state dead is required');
  }
  if (id !== undefined) return outputOf(await retryJob(runtime, id));
  if (kind === undefined || state === undefined) {
    throw usageError('--state dead is required with --kind');
  }
  const retriedCount = await retryDeadJobs(runtime, kind);
  const text = `${retriedCount} jobs of kind ${kind} are due now.\n`;
  return { json: { kind, retried: retriedCount }, text };
}

async function cancel({ runtime }: System, args: CommandArgs): Promise<Output> {
  const [jobId, reason] = [args.required('job'), args.required('reason')];
  if (reason.length > MAX_REASON) {
    throw usageError(`--reason must have at most ${MAX_REASON} characters`);
  }
  return outputOf(await cancelJob(runtime, { jobId, reason }));
}

const JOB = { value: 'JOB', help: 'ID of the job' };
const KIND = { value: 'KIND', help: 'Filter by kind, such as payout.send (default: all)' };

export const jobVerbs: readonly Verb[] = [
  {
    noun: 'jobs',
    verb: 'list',
    summary: 'List jobs by due time, and dead jobs by time of failure',
    flags: {
      state: {
        value: 'STATE',
        choices: JOB_STATES,
        help: 'Filter by state (default: all except cancelled)',
      },
      kind: KIND,
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'jobs',
    verb: 'show',
    summary: 'Show a job, its last error, and its pending effect',
    flags: { job: { ...JOB, required: true } },
    positional: 'job',
    run: async ({ runtime }, args) => outputOf(await jobDetails(runtime, args.required('job'))),
  },
  {
    noun: 'jobs',
    verb: 'retry',
    summary: 'Run a failed job again now, or all dead jobs of a kind',
    flags: {
      job: { ...JOB, help: 'ID of the job. Required without --kind' },
      kind: { value: 'KIND', help: 'Retry all jobs of this kind. Requires --state dead' },
      state: {
        value: 'STATE',
        choices: ['dead'],
        help: 'State of the jobs to retry. Required with --kind',
      },
    },
    positional: 'job',
    run: retry,
  },
  {
    noun: 'jobs',
    verb: 'cancel',
    summary: 'Remove a job permanently. Prints its pending effect',
    flags: {
      job: { ...JOB, required: true },
      reason: {
        value: 'TEXT',
        required: true,
        help: 'Reason, stored with the job. No personal data',
      },
    },
    positional: 'job',
    run: cancel,
  },
];
