// The metric of the delay of the event loop.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

/** Delay of the event loop in seconds, by quantile, since the last call. */
async function readDelays(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.text();
  const line = /^railhead_event_loop_delay_seconds\{quantile="([\d.]+)"\} (\S+)$/gm;
  return Object.fromEntries(
    [...text.matchAll(line)].map(([, name, value]) => [name, Number(value)]),
  );
}

function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('railhead_event_loop_delay_seconds', () => {
  it('has the median, the 99th percentile and the longest delay', async () => {
    const metrics = createMetrics();
    await sleep(50);
    expect(Object.keys(await readDelays(metrics)).sort()).toEqual(['0.5', '0.99', '1']);
  });

  it('shows a delay of the event loop once', async () => {
    const metrics = createMetrics();
    await sleep(20);
    block(400);
    await sleep(20);
    const { 1: longestSeconds } = await readDelays(metrics);
    expect(longestSeconds).toBeGreaterThan(0.35);
    await sleep(50);
    expect((await readDelays(metrics))[1]).toBeLessThan(longestSeconds as number);
  });
});
