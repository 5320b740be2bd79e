// A second server process from the database's view, with separate connections and a separate
// committer. Two changes of one row conflict in the database, as in production.
import { ENQUEUE } from '../../../src/features/notifications/webhooks/index.ts';
import { createClocks } from '../../../src/runtime/clocks/clocks.ts';
import { createCommitter } from '../../../src/runtime/committer/committer.ts';
import { openDatabase } from '../../../src/runtime/db/database.ts';
import { connectLane } from '../../../src/runtime/db/lane.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';
import type { TestApp } from './harness.ts';

export function openSecondProcess(app: TestApp): Runtime & { close(): Promise<void> } {
  const db = openDatabase({ url: app.databaseUrl });
  const committer = createCommitter({
    connect: () => connectLane(app.databaseUrl),
    enqueue: ENQUEUE,
    elapsed: () => performance.now(),
  });
  return {
    ...app.runtime,
    db,
    clocks: createClocks(db, app.effects),
    committer,
    async close() {
      await committer.close();
      await db.close();
    },
  };
}
