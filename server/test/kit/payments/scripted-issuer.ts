// A stablecoin provider for tests of mint and burn orders: the sandbox provider with scripted
// replies about orders. A separate worker calls the provider.
import type {
  MintOrder,
  MintPort,
  OrderProgress,
} from '../../../src/connectors/ports/stablecoins.ts';
import { operationJobs } from '../../../src/features/stablecoins/minting/operation-jobs.ts';
import { createWorker } from '../../../src/runtime/jobs/jobs.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';
import { createMetrics } from '../../../src/runtime/observability/metrics.ts';
import type { TestApp } from '../app/harness.ts';

export type ProviderReply = Awaited<ReturnType<MintPort['submit']>>;

/** A reply. An error is thrown, and a function is awaited. */
export type ScriptedReply = ProviderReply | Error | (() => Promise<ProviderReply>);

/** A worker whose provider returns the replies in order, and repeats the last reply. */
export function workerWithReplies(app: TestApp, ...responses: readonly ScriptedReply[]) {
  const { mint } = app.connectorsOf('sandbox');
  const calls: { type: string; id: string }[] = [];
  const nextReply = async (type: string, { id }: MintOrder): Promise<ProviderReply> => {
    const response = responses[Math.min(calls.push({ type, id }), responses.length) - 1];
    if (response instanceof Error || !response) throw response;
    return typeof response === 'function' ? response() : response;
  };
  const port: MintPort = {
    ...(mint as MintPort),
    submit: (_, order) => nextReply('submit', order),
    check: (_, order) => nextReply('check', order),
  };
  const worker = createWorker({
    runtime: app.runtime,
    // The jobs of the order use only this port.
    handlers: operationJobs({ connectors: () => ({ mint: port }) as never }),
    sweeps: [],
    log: createLog(app.effects, 'silent', () => {}),
    metrics: createMetrics(),
  });
  /** Runs all jobs that are due by `time`, including new jobs. */
  const runUntil = async (time: number) => {
    for (let round = 0; round < 1_000; round++) {
      while ((await worker.runDue()) > 0);
      const [next] = await app.runtime.db.query<{ due: string }>(
        `select (extract(epoch from min(due_at)) * 1000)::text as due from jobs
          where kind like 'stablecoins.%'`,
      );
      if (next?.due == null || Number(next.due) > time) break;
      app.effects.set(Math.max(app.effects.now(), Math.ceil(Number(next.due))));
    }
    app.effects.set(Math.max(app.effects.now(), time));
  };
  return { calls, runFor: (ms: number) => runUntil(app.effects.now() + ms), runDue: worker.runDue };
}

export const progressReply = (
  state: Exclude<OrderProgress['state'], 'failed'>,
  overrides: object = {},
): OrderProgress => ({
  state,
  providerStatus: state,
  ...overrides,
});
export const failedOrder: OrderProgress = {
  state: 'failed',
  providerStatus: 'returned',
  reason: 'R01',
};
/** The order has expired permanently. */
export const FINAL_EXPIRY = progressReply('expired', { final: true });
