// The list of events ends before the oldest transaction in progress in the database cluster. Other
// test files use the same cluster.
import { vi } from 'vitest';
import type { TestApp } from '../app/harness.ts';

const VISIBLE_SQL = `select not exists (select from events where position >= event_horizon())
  as visible`;

/** Waits until all stored events are in the list of events. */
export async function waitUntilEventsVisible({ runtime }: Pick<TestApp, 'runtime'>): Promise<void> {
  await vi.waitUntil(
    async () => {
      const [row] = await runtime.db.query<{ visible: boolean }>(VISIBLE_SQL);
      return row?.visible;
    },
    { timeout: 30_000, interval: 5 },
  );
}
