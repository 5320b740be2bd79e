// What the outside sees of a real process that starts.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createPlace, type Place } from './crash-server.ts';
import { createTestDatabase } from './database.ts';

const places: Place[] = [];

function place(): Place {
  const made = createPlace('start');
  places.push(made);
  return made;
}

afterAll(async () => {
  await Promise.all(places.map((each) => each.remove()));
}, 60_000);

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 6_000; tries++) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error('it did not come');
}

describe('readyz of a start', () => {
  it('is 503 until credentials.json is written', async () => {
    const own = place();
    const database = await createTestDatabase();
    const lock = new pg.Client({ connectionString: database.url });
    await lock.connect();
    try {
      // The first platform cannot be made meanwhile.
      await lock.query('begin; lock table done_once in access exclusive mode');
      const port = await freePort();
      const child = own.launch(['--port', String(port)], { DATABASE_URL: database.url });
      const ready = () => fetch(`http://127.0.0.1:${port}/readyz`);
      const early = await until(ready);
      expect([early.status, await early.json()]).toEqual([503, { status: 'starting' }]);
      expect(fs.existsSync(path.join(own.dir, 'credentials.json'))).toBe(false);
      await lock.query('rollback');
      await own.ready(child);
      expect((await ready()).status).toBe(200);
      child.kill('SIGTERM');
      expect(await own.ended(child)).toMatchObject({ code: 0 });
    } finally {
      await lock.end();
      await database.drop();
    }
  }, 90_000);
});
