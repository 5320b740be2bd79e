// Creates jobs whose attempts have failed, so that an operator must decide.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../src/kernel/contract/job.ts';
import { createWorker } from '../../../src/runtime/jobs/jobs.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';
import { createMetrics } from '../../../src/runtime/observability/metrics.ts';
import type { TestApp } from '../app/harness.ts';

/** Creates a dead job of a kind with this input and error. Other kinds of jobs are not executed. */
export async function createDeadJob(
  app: TestApp,
  kind: string,
  input: object,
  error = 'The bank is closed.',
): Promise<void> {
  await app.operate(async (ctx) => ctx.later(defineJob(kind, Type.Object({})), input));
  const run = () => Promise.reject(new Error(error));
  const worker = createWorker({
    runtime: app.runtime,
    handlers: [{ kind, maxAttempts: 1, run }],
    sweeps: [],
    log: createLog(app.effects, 'error', () => undefined),
    metrics: createMetrics(),
  });
  while ((await worker.runDue()) > 0);
}
