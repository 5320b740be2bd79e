// The commands of docs/backups.md, run as the page shows them on the data folder of a stopped
// server.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createDataFolder, type Running } from '../kit/crash/server.ts';

const PAGE = fs.readFileSync(path.join(projectRoot(), 'docs', 'backups.md'), 'utf8');
const COMMANDS = [...PAGE.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands]) => commands ?? '');
const [, OUTPUT = ''] = /^```text\n(.*?)^```/ms.exec(PAGE) ?? [];

const dataFolder = createDataFolder('backup');
afterAll(() => dataFolder.remove(), 60_000);

async function call({ credentials }: Running, method: string, path: string, body?: object) {
  const { baseUrl, clientId, clientSecret } = credentials;
  const reply = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await reply.json()) as { id: string; fullName: string };
}

async function stop({ child }: Running) {
  const whenExited = dataFolder.waitForExit(child);
  child.kill('SIGTERM');
  expect((await whenExited).code).toBe(0);
}

it('a restored backup has balanced books and readable personal data', async () => {
  const server = await dataFolder.start();
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  const { id } = await call(server, 'POST', '/customers', person);
  await stop(server);

  const baseFolder = path.dirname(dataFolder.dir);
  const [backup, restoredFolder] = ['backup.tar.gz', 'restored'].map((name) =>
    path.join(baseFolder, name),
  );
  const env = { ...process.env, DATA: dataFolder.dir, BACKUP: backup, RESTORED: restoredFolder };
  const run = (commands: string) =>
    execFileSync('bash', ['-euc', commands], { cwd: projectRoot(), env, encoding: 'utf8' });
  expect(COMMANDS).toHaveLength(2);
  expect(COMMANDS.map(run).join('')).toBe(OUTPUT);
  expect(fs.statSync(backup as string).mode & 0o077).toBe(0);

  fs.rmSync(dataFolder.dir, { recursive: true });
  fs.renameSync(restoredFolder as string, dataFolder.dir);
  const restartedServer = await dataFolder.start();
  expect(await call(restartedServer, 'GET', `/customers/${id}`)).toMatchObject({
    fullName: 'Ada Lovelace',
  });
  await stop(restartedServer);
}, 180_000);
