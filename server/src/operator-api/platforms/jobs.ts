// Operations on jobs of all platforms: lists, details, retries and cancellation.
import { Type } from '@sinclair/typebox';
import {
  cancelJob,
  JOB_STATES,
  jobDetails,
  pageOfJobs,
  retryDeadJobs,
  retryJob,
} from '../../features/jobs/index.ts';
import { type ListOrder, operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter } from '../schemas.ts';

const TAG = 'Jobs';
const optional = Type.Optional;
const params = Type.Object({ jobId: text('ID of the job.') });

const State = named(
  'JobState',
  oneOf(JOB_STATES, {
    description:
      'queued: not due yet, or not started. running: being executed. dead: failed permanently, and ' +
      'an operator must retry or cancel it. cancelled: removed by an operator.',
  }),
);

const JOB = {
  jobId: text('ID of the job.'),
  kind: text('Kind of the job, such as `payout.send`.'),
  state: State,
  platformId: nullable(text('Platform of the job, or null if there is none.')),
  attempts: Type.Integer({
    description: 'Number of attempts since the creation or the last retry.',
  }),
  lastError: nullable(text('Error of the last failed attempt, or null if none failed.')),
  about: Type.Record(Type.String(), Type.String(), {
    description: 'IDs in the input of the job. Other values are not shown.',
  }),
  dueAt: optional(
    nullable(
      text(
        'Time at which the job is due, or null unless the job is queued. Absent if the job was canceled.',
      ),
    ),
  ),
  failedAt: optional(
    nullable(
      text(
        'Time of the last failed attempt, or null if none failed. Absent if the job was canceled.',
      ),
    ),
  ),
  cancelledAt: optional(time('Time of the cancellation. Absent unless canceled.')),
  reason: optional(text('Reason for the cancellation. Absent unless canceled.')),
};
const Job = named('Job', Type.Object(JOB, { description: 'Background work of the server.' }));
const JobDetails = named(
  'JobDetails',
  Type.Object(
    {
      ...JOB,
      undone: text('Consequence while the job is dead, and after its cancellation.'),
    },
    { description: 'A job, with the consequence of its failure or cancellation.' },
  ),
);

/** Running jobs have no due time and precede all others. Dead jobs follow all others. */
function jobOrder({ state }: Readonly<Record<string, unknown>>): ListOrder {
  if (state === 'dead') return { keyOf: (job) => `${job.failedAt}`, isOldestFirst: false };
  if (state === 'cancelled') return { keyOf: (job) => `${job.cancelledAt}`, isOldestFirst: false };
  const keyOf = (job: Readonly<Record<string, unknown>>) =>
    job.state === 'dead' ? 'dead' : `${job.dueAt ?? ''}`;
  return { keyOf, isOldestFirst: true };
}

const list = operation({
  operationId: 'listJobs',
  method: 'GET',
  path: '/jobs',
  tag: TAG,
  summary: 'List jobs',
  listOrder: jobOrder,
  description:
    'Returns running jobs, then queued jobs in the order of their due times, then dead jobs. ' +
    'With `state` dead or cancelled, the newest are first. Jobs that change between two ' +
    'pages may be on both pages or on neither.',
  auth: 'operator',
  operatorPermission: 'jobs.read',
  commands: ['jobs list'],
  query: Type.Object({
    state: optional(
      oneOf(JOB_STATES, {
        description: 'Return only jobs in this state. Defaults to all states except canceled.',
      }),
    ),
    kind: optional(text('Return only jobs of this kind.')),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'JobPage',
      page(Job, {
        description: 'A page of jobs: running jobs, then queued jobs by due time, then dead jobs.',
      }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const get = operation({
  operationId: 'getJob',
  method: 'GET',
  path: '/jobs/{jobId}',
  tag: TAG,
  summary: 'Get a job',
  description:
    'Returns a job, or the record of a canceled job, with the consequence of its failure or ' +
    'cancellation.',
  auth: 'operator',
  operatorPermission: 'jobs.read',
  commands: ['jobs show'],
  params,
  replies: { 200: JobDetails },
  errors: [],
  notFound: 'NOT_FOUND',
});

const retry = operation({
  operationId: 'retryJob',
  method: 'POST',
  path: '/jobs/{jobId}/retry',
  tag: TAG,
  summary: 'Retry a job',
  description:
    'Makes a job due now and resets its attempts. The job must be dead, or queued after a failed attempt. ' +
    'Returns CONFLICT for any other job.',
  auth: 'operator',
  operatorPermission: 'jobs.manage',
  commands: ['jobs retry'],
  params,
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: JobDetails },
  errors: [],
  notFound: 'NOT_FOUND',
});

const retryDead = operation({
  operationId: 'retryDeadJobs',
  method: 'POST',
  path: '/jobs/retry',
  tag: TAG,
  summary: 'Retry all dead jobs of a kind',
  description: 'Makes all dead jobs of a kind due now, of every platform.',
  auth: 'operator',
  operatorPermission: 'jobs.manage',
  wholeInstallation: true,
  commands: ['jobs retry'],
  body: Type.Object({
    kind: text('Kind of the jobs, such as `payout.send`.', { minLength: 1, maxLength: 100 }),
    ...OptionalReason,
  }),
  replies: {
    200: Type.Object({
      kind: text('Kind of the jobs.'),
      retried: Type.Integer({ description: 'Number of jobs that were made due.' }),
    }),
  },
  errors: [],
});

const cancel = operation({
  operationId: 'cancelJob',
  method: 'POST',
  path: '/jobs/{jobId}/cancel',
  tag: TAG,
  summary: 'Cancel a job',
  description:
    'Removes a job permanently, records the reason, and returns the consequence. ' +
    'Returns CONFLICT for a running job, and for an internal refund. If the job sends or follows an ' +
    'open transfer in production, an operator must record the result of the transfer afterwards.',
  auth: 'operator',
  operatorPermission: 'jobs.manage',
  commands: ['jobs cancel'],
  params,
  body: Type.Object({
    reason: text('Reason, stored with the job. Must not contain personal data.', {
      minLength: 1,
      maxLength: 255,
    }),
  }),
  replies: { 200: JobDetails },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const jobOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfJobs(installation.runtime, query),
  })),
  operatorHandle(get, async ({ installation: { runtime }, operator }, { params: { jobId } }) => ({
    status: 200,
    body: await jobDetails(runtime, jobId, operator.platformIds),
  })),
  operatorHandle(retry, async ({ installation: { runtime }, operator }, { params: { jobId } }) => ({
    status: 200,
    body: await retryJob(runtime, jobId, operator.platformIds),
  })),
  operatorHandle(retryDead, async ({ installation: { runtime } }, { body: { kind } }) => ({
    status: 200,
    body: { kind, retried: await retryDeadJobs(runtime, kind) },
  })),
  operatorHandle(cancel, async ({ installation, operator }, { params: { jobId }, body }) => {
    const { platformIds } = operator;
    const request = { jobId, reason: body.reason, platformIds };
    return { status: 200, body: await cancelJob(installation.runtime, request) };
  }),
];
