// Recreation of the sequence that marks the epoch of events. The sequence is unreadable after a
// recovery without its initial state on disk. A replica that becomes the primary soon after the
// migration has no such state.
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../../../test/kit/app/scratch.ts';
import { migrate } from '../../../runtime/db/migrate.ts';
import { startEmbedded } from '../../../runtime/postgres/embedded.ts';
import { openEpoch } from './store.ts';

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const countEpochs = (client: pg.Client) =>
  client.query('select epoch from event_epochs order by epoch').then(({ rows }) => rows.length);

it('the epoch mark is created again if it is unreadable after a recovery', async () => {
  const dir = fs.mkdtempSync(path.join(scratchFolder(), 'epoch-'));
  let server = await startEmbedded({ dir });
  try {
    await migrate(server.url, () => Date.now());
    const file = await withClient(server.url, async (client) => {
      await openEpoch(client);
      await client.query('checkpoint');
      const { rows } = await client.query(
        `select pg_relation_filepath('event_epoch_mark') as file`,
      );
      return `${rows[0].file}_init`;
    });
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    fs.writeFileSync(path.join(dir, 'postgres', file), Buffer.alloc(8_192));
    server = await startEmbedded({ dir });
    await withClient(server.url, async (client) => {
      const epochsBefore = await countEpochs(client);
      await expect(client.query('select open_event_epoch()')).rejects.toThrow('bad magic number');
      await openEpoch(client);
      expect(await countEpochs(client)).toBe(epochsBefore + 1);
      await openEpoch(client);
      expect(await countEpochs(client)).toBe(epochsBefore + 1);
    });
  } finally {
    await server.stop();
    fs.rmSync(dir, { recursive: true, force: true });
  }
}, 60_000);
