// `jobs list|show|retry|cancel`: work that waits, runs or is dead. A dead job keeps its last error and waits
// for the operator: a retry gives it all its attempts again; a cancellation removes it and is kept with its
// reason. Inputs may hold personal data, so only the ids in them are shown.
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { col, type RowOf, table as tableOf } from '../../runtime/db/table.ts';
import type { Job } from '../../runtime/jobs/jobs.ts';
import { type JobState, jobs } from '../../runtime/jobs/jobs-table.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { type Given, usageError } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';
import { undoneBy } from './job-kinds.ts';
import { awaitOperator } from './job-waits.ts';

const cancellations = tableOf('job_cancellations', {
  id: col.text,
  platform_id: col.text,
  kind: col.text,
  about: col.json<Record<string, string>>(),
  attempts: col.int4,
  last_error: col.text.null,
  reason: col.text,
  created_at: col.time,
});
type Cancellation = RowOf<typeof cancellations>;

const STATES = ['queued', 'running', 'dead', 'cancelled'];
const MAX_REASON = 255;
/** Jobs of one change set when all of a kind are retried. */
const PAGE = 200;

const ID = /^[A-Za-z]{1,40}:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The ids that an input names. */
const aboutOf = (input: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && ID.test(entry[1]),
    ),
  );

/** A job whose lease expired waits to be claimed again. */
const stateOf = ({ state, due_at }: Job, now: Time): JobState =>
  state === 'running' && due_at <= now ? 'queued' : state;

const view = (row: Job, now: Time) => {
  const state = stateOf(row, now);
  return {
    jobId: row.id,
    kind: row.kind,
    state: state as string,
    platformId: row.platform_id || null,
    dueAt: state === 'queued' ? iso(row.due_at) : null,
    attempts: row.attempts,
    lastError: row.last_error,
    failedAt: row.failed_at === null ? null : iso(row.failed_at),
    about: aboutOf(row.input),
  };
};

const cancelledView = (row: Cancellation) => ({
  jobId: row.id,
  kind: row.kind,
  state: 'cancelled',
  platformId: row.platform_id || null,
  attempts: row.attempts,
  lastError: row.last_error,
  cancelledAt: iso(row.created_at),
  reason: row.reason,
  about: row.about,
});

const WHERE = `($1::text is null or kind = $1) and ($2::text is null or platform_id = $2)`;
const COLUMNS = jobs.columnNames.join(', ');
const WAITS = "state = 'queued' or (state = 'running' and due_at <= $4)";
const CONDITIONS: Readonly<Record<string, string>> = {
  queued: `(${WAITS})`,
  running: "state = 'running' and due_at > $4",
  dead: "state = 'dead' and $4::timestamptz is not null",
};

async function listed(system: System, given: Given) {
  const { db, world } = system.runtime;
  const id = (await platformIn(system, given)) ?? null;
  const [state, limit] = [given.text('state'), limitIn(given)];
  const values = [given.text('kind') ?? null, id, limit];
  if (state === 'cancelled') {
    const sql = `select ${cancellations.columnNames.join(', ')} from job_cancellations
      where ${WHERE} order by created_at desc, id limit $3`;
    return (await db.query<Cancellation>(sql, values)).map(cancelledView);
  }
  const now = world.now();
  const condition = CONDITIONS[state ?? ''] ?? '$4::timestamptz is not null';
  const order = state === 'dead' ? 'failed_at desc' : 'due_at';
  const sql = `select ${COLUMNS} from jobs where ${WHERE} and ${condition}
    order by ${order}, id limit $3`;
  return (await db.query<Job>(sql, [...values, new Date(now)])).map((row) => view(row, now));
}

async function list(system: System, given: Given): Promise<Output> {
  const json = await listed(system, given);
  const heads = ['JOB', 'KIND', 'STATE', 'TIME', 'ATTEMPTS', 'PLATFORM', 'ABOUT', 'LAST ERROR'];
  const time = (each: (typeof json)[number]) =>
    'cancelledAt' in each ? each.cancelledAt : (each.dueAt ?? each.failedAt ?? '-');
  const text = table(
    heads.map((head) => ({ head, align: head === 'ATTEMPTS' ? 'right' : 'left' })),
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

type Shown = ReturnType<typeof view> | ReturnType<typeof cancelledView>;

function shown(each: Shown): Output {
  const undone = undoneBy(each.kind);
  const pairs: (readonly [string, string])[] = [
    ['Job', each.jobId],
    ['Kind', each.kind],
    ['State', each.state],
    ['Platform', each.platformId ?? 'none'],
    ['About', inline(each.about) || 'no id'],
    ['Attempts', `${each.attempts}`],
    ['Last error', each.lastError ?? 'none'],
  ];
  if ('reason' in each) pairs.push(['Cancelled', each.cancelledAt], ['Reason', each.reason]);
  else pairs.push(['Failed', each.failedAt ?? 'no'], ['Due', each.dueAt ?? '-']);
  if (each.state === 'dead' || 'reason' in each) pairs.push(['Undone', undone]);
  return { json: { ...each, undone }, text: record(pairs) };
}

async function show({ runtime }: System, given: Given): Promise<Output> {
  const id = given.needed('job');
  if (!isId(id, 'Job')) throw notFound('job');
  const row = await runtime.db.read(jobs, id);
  if (row) return shown(view(row, runtime.world.now()));
  const cancelled = await runtime.db.read(cancellations, id);
  if (cancelled) return shown(cancelledView(cancelled));
  throw notFound('job');
}

/** The server itself, on behalf of a job's platform where one is known. */
async function callerFor({ db }: System['runtime'], platformId: string) {
  const platform = platformId ? await db.read(platforms, platformId) : undefined;
  return systemCaller(platformId, platform?.environment ?? 'sandbox');
}

/** Makes dead jobs, and those that wait after a failure, due now, with all their attempts. */
async function revive({ runtime }: System, ids: readonly string[], caller: string) {
  return operate(runtime, await callerFor(runtime, caller), async (ctx) => {
    const rows = await Promise.all(ids.map((id) => ctx.read(jobs, id)));
    const revived = rows.filter((row) => row?.failed_at != null && row.state !== 'running');
    return revived.map((row) =>
      ctx.update(jobs, row as Job, { state: 'queued', attempts: 0, due_at: ctx.now }),
    );
  });
}

async function retryOne(system: System, id: string): Promise<Output> {
  const row = isId(id, 'Job') ? await system.runtime.db.read(jobs, id) : undefined;
  if (!row) throw notFound('job');
  const [revived] = await revive(system, [id], row.platform_id);
  if (!revived) throw refused(`It has not failed: it is ${row.state}.`);
  return shown(view(revived, system.runtime.world.now()));
}

const DEAD_OF = `select id from jobs where state = 'dead' and kind = $1 and failed_at <= $2
  order by failed_at, id limit ${PAGE}`;

async function retryAll(system: System, kind: string): Promise<Output> {
  const { db, world } = system.runtime;
  // Those that die meanwhile are left to the next call, so this one ends.
  const before = new Date(world.now());
  let retried = 0;
  for (;;) {
    const found = await db.query<{ id: string }>(DEAD_OF, [kind, before]);
    if (!found.length) break;
    const ids = found.map(({ id }) => id);
    const revived = await revive(system, ids, '');
    if (!revived.length) break;
    retried += revived.length;
  }
  return { json: { kind, retried }, text: `${retried} jobs of kind ${kind} are due again.\n` };
}

async function retry(system: System, given: Given): Promise<Output> {
  const [id, kind, state] = [given.text('job'), given.text('kind'), given.text('state')];
  if ((id === undefined) === (kind === undefined)) {
    throw usageError('Either JOB or --kind KIND --state dead is needed');
  }
  if (id !== undefined) return retryOne(system, id);
  if (state === undefined) throw usageError('--state dead is needed with --kind');
  return retryAll(system, kind as string);
}

async function cancel(system: System, given: Given): Promise<Output> {
  const { runtime } = system;
  const [id, reason] = [given.needed('job'), given.needed('reason')];
  if (reason.length > MAX_REASON) {
    throw usageError(`--reason must have at most ${MAX_REASON} characters`);
  }
  const known = isId(id, 'Job') ? await runtime.db.read(jobs, id) : undefined;
  if (!known) throw notFound('job');
  const caller = await callerFor(runtime, known.platform_id);
  const cancelled = await operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(jobs, id);
    if (!row) throw notFound('job');
    if (stateOf(row, ctx.now) === 'running') {
      throw refused('It runs now. Its result decides; try again when it waits or is dead.');
    }
    await awaitOperator(ctx, row);
    ctx.remove(jobs, row);
    const { kind, platform_id, attempts, last_error } = row;
    const about = aboutOf(row.input);
    const kept = { kind, platform_id, about, attempts, last_error, reason, created_at: ctx.now };
    return ctx.insert(cancellations, { id, ...kept });
  });
  return shown(cancelledView(cancelled));
}

const JOB = { value: 'JOB', help: 'Id of the job' };
const KIND = { value: 'KIND', help: 'Of one kind, such as payout.send (all)' };

export const jobVerbs: readonly Verb[] = [
  {
    noun: 'jobs',
    verb: 'list',
    summary: 'List jobs, those that are due first; dead ones by the time they died',
    flags: {
      state: { value: 'STATE', choices: STATES, help: 'In one state (all but cancelled)' },
      kind: KIND,
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'jobs',
    verb: 'show',
    summary: 'Show a job, its last error, and what it leaves undone',
    flags: { job: { ...JOB, required: true } },
    bare: 'job',
    run: show,
  },
  {
    noun: 'jobs',
    verb: 'retry',
    summary: 'Run a job that failed again now, or all dead ones of a kind',
    flags: {
      job: JOB,
      kind: { value: 'KIND', help: 'All of this kind; with --state dead' },
      state: { value: 'STATE', choices: ['dead'], help: 'Which of the kind' },
    },
    bare: 'job',
    run: retry,
  },
  {
    noun: 'jobs',
    verb: 'cancel',
    summary: 'Remove a job for good; says what it leaves undone',
    flags: {
      job: { ...JOB, required: true },
      reason: { value: 'TEXT', required: true, help: 'Why; kept, nothing personal' },
    },
    bare: 'job',
    run: cancel,
  },
];
