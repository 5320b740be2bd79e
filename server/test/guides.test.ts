// The guides in docs/guides as a reader follows them: a real server on a fresh data folder, a platform for
// each guide, and its commands in the order they stand, with nothing at hand but curl, node, railhead, cat
// and sleep, and the packages of the checkout.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../src/runtime/root.ts';
import { createPlace, type Place, type Running } from './crash-server.ts';
import { absentPrograms, gatherPrograms, runGuide } from './guide.ts';

const START_MS = 120_000;
const GUIDE_MS = 180_000;
const FOLDER = path.join(projectRoot(), 'docs', 'guides');
const RAILHEAD = path.join(projectRoot(), 'server', 'bin', 'railhead.js');
const GUIDES = fs.readdirSync(FOLDER).filter((name) => name.endsWith('.md'));

let place: Place;
let running: Running;
let base: string;
let bin: string;
const absent = absentPrograms();

const environment = () => ({
  HOME: process.env.HOME ?? base,
  TMPDIR: os.tmpdir(),
  RAILHEAD_DATA_DIR: place.dir,
});

/** A platform of the guide's own, so that guides can run side by side. */
function createPlatform(name: string): Promise<{ clientId: string; clientSecret: string }> {
  const env = { ...environment(), PATH: process.env.PATH };
  const args = [RAILHEAD, 'platform', 'create', '--name', name, '--json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, out, err) =>
      error ? reject(new Error(err)) : resolve(JSON.parse(out)),
    );
  });
}

async function follow(name: string): Promise<string[]> {
  const made = await createPlatform(name);
  const credentials = { ...running.credentials, ...made };
  const cwd = path.join(base, name);
  // As in the checkout, where `npm start` leaves its credentials and where the packages are.
  fs.mkdirSync(path.join(cwd, '.railhead'), { recursive: true });
  fs.writeFileSync(path.join(cwd, '.railhead', 'credentials.json'), JSON.stringify(credentials));
  for (const name of ['node_modules', 'server']) {
    fs.symlinkSync(path.join(projectRoot(), name), path.join(cwd, name));
  }
  const env = {
    ...environment(),
    RAILHEAD_URL: credentials.baseUrl,
    CLIENT_ID: made.clientId,
    CLIENT_SECRET: made.clientSecret,
  };
  return runGuide(path.join(FOLDER, name), { bin, cwd, env, limitMs: GUIDE_MS - 10_000 });
}

beforeAll(async () => {
  place = createPlace('guides');
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-guides-'));
  if (absent.length > 0) return;
  bin = gatherPrograms(base);
  running = await place.start();
}, START_MS);

afterAll(async () => {
  await place.remove();
  fs.rmSync(base, { recursive: true, force: true });
}, 60_000);

describe('guides', () => {
  it.concurrent.for(GUIDES)(
    '%s does what it says',
    { timeout: GUIDE_MS },
    async (name, { skip }) => {
      skip(absent.length > 0, `guides need ${absent.join(' and ')}`);
      expect(await follow(name)).toEqual([]);
    },
  );

  it('are linked from the README', () => {
    const readme = fs.readFileSync(path.join(projectRoot(), 'README.md'), 'utf8');
    expect(GUIDES.filter((name) => !readme.includes(`docs/guides/${name}`))).toEqual([]);
  });
});
