// Cases that take their time: a job asks the connector again, and what it says then is applied once, to the
// verification that was submitted and only while that one still waits. A decision or a later submission
// that came first wins.

import { Type } from '@sinclair/typebox';
import type { Connectors, IdentityVerdict } from '../../../connectors/ports/index.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { type CustomerRow, isFinal, readCustomer } from '../records/index.ts';
import { caseOf, dossierOf, errorsOf } from './case.ts';
import { decide } from './decide.ts';
import { type VerificationRow, verifications } from './store.ts';

const ASK_AGAIN = defineJob(
  'verification.ask',
  Type.Object({
    verificationId: Type.String(),
    /** False: the submission may have been lost. */
    arrived: Type.Boolean(),
  }),
);

/** Has the connector asked again, if it said to. */
export function askLater(ctx: Ctx, verificationId: string, verdict: IdentityVerdict): void {
  if (verdict.state !== 'review' && verdict.state !== 'unknown') return;
  if (verdict.checkAfterMs === undefined) return;
  const arrived = verdict.state === 'review';
  ctx.later(ASK_AGAIN, { verificationId, arrived }, ctx.now + verdict.checkAfterMs);
}

const LONGEST_PATIENCE_MS = 3_600_000;

/** The longer a service was silent, the rarer it is asked: thousands may wait, and each takes a place. */
const patienceFor = (waitedMs: number): number =>
  Math.min(Math.floor(waitedMs / 10), LONGEST_PATIENCE_MS);

interface Found {
  row: VerificationRow;
  customer: CustomerRow;
}

/** The verification and its customer, while it waits to be decided. */
async function waiting(reader: Pick<Ctx, 'read'>, id: string): Promise<Found | undefined> {
  const row = await reader.read(verifications, id);
  if (!row?.latest || row.status !== 'PENDING_MANUAL_REVIEW') return undefined;
  const customer = await readCustomer(reader, row.customer_id);
  if (!customer || customer.deleted_at !== null || isFinal(customer)) return undefined;
  return { row, customer };
}

async function heed(ctx: Ctx, id: string, arrived: boolean, verdict: IdentityVerdict) {
  const found = await waiting(ctx, id);
  if (!found) return;
  if (verdict.state === 'review') askLater(ctx, id, verdict);
  else if (verdict.state === 'unknown') {
    const checkAfterMs = Math.max(
      verdict.checkAfterMs,
      patienceFor(ctx.now - found.row.created_at),
    );
    // What arrived once is known over there; an answer that got lost does not change that.
    askLater(ctx, id, { state: arrived ? 'review' : 'unknown', checkAfterMs });
  } else {
    const dossier = await dossierOf(ctx, found.customer);
    const findings = 'findings' in verdict ? (verdict.findings ?? []) : [];
    const decision = { ...verdict, errors: errorsOf(dossier, findings) };
    await decide(ctx, found.customer, decision, 'connector');
  }
}

/** Handlers of the jobs that ask again; list them where the worker is built. */
export function verificationJobs(options: {
  connectors: (environment: Mode) => Connectors;
}): JobHandler[] {
  const run = async (runtime: Runtime, job: JobOf<typeof ASK_AGAIN>): Promise<Result> => {
    const { verificationId: id, arrived } = job.input;
    const row = await runtime.db.read(verifications, id);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!platform) throw new Error(`job ${job.id} names no verification`);
    const caller = systemCaller(platform.id, platform.environment);
    const found = await waiting(runtime.db, id);
    const { identity } = options.connectors(platform.environment);
    // Without a connector, taken away since, an operator decides.
    if (!found || !identity) return { caller, stage: async () => {} };
    const submitted = caseOf(runtime.vault, id, await dossierOf(runtime, found.customer));
    const verdict = await (arrived ? identity.check(submitted) : identity.submit(submitted));
    return { caller, stage: (ctx) => heed(ctx, id, arrived, verdict) };
  };
  return [jobHandler(ASK_AGAIN, { run })];
}
