// Waits until all stored events are in the list of events. The list ends before the oldest
// transaction in progress in the database cluster, which other test files also use.
import { vi } from 'vitest';
import type { TestApp } from '../app/harness.ts';

const VISIBLE_SQL = `select not exists (select from events where position >= event_horizon())
  as visible`;

export async function waitUntilEventsVisible({ runtime }: Pick<TestApp, 'runtime'>): Promise<void> {
  await vi.waitUntil(
    async () => {
      const [row] = await runtime.db.query<{ visible: boolean }>(VISIBLE_SQL);
      return row?.visible;
    },
    { timeout: 30_000, interval: 5 },
  );
}
