// Two complete builds of the same commit, in two folders of different depth, have the same bytes.
// Only a long run builds them, because each build needs minutes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { lengthOf } from '../kit/length.ts';

const BUILDS_MS = 1_500_000;
const root = projectRoot();
/** Folders whose packages build a release. */
const PACKAGE_FOLDERS = ['', 'site', 'packages/console', 'packages/sdk', 'packages/cli'];
const isPossible = PACKAGE_FOLDERS.every((folder) =>
  fs.existsSync(path.join(root, folder, 'node_modules')),
);

// The folder is on the file system of the checkout, so that packages are links to the same files.
fs.mkdirSync(path.join(root, 'dist'), { recursive: true });
const folder = fs.mkdtempSync(path.join(root, 'dist', 'two-builds-'));

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Builds the last commit in a clone. Returns the hash of each file of the release. */
function build(name: string): Record<string, string> {
  const clone = path.join(folder, name);
  execFileSync('git', ['clone', '--quiet', '--shared', root, clone]);
  for (const folder of PACKAGE_FOLDERS)
    execFileSync('cp', ['-al', path.join(root, folder, 'node_modules'), path.join(clone, folder)]);
  execFileSync(process.execPath, [path.join(clone, 'scripts', 'release.mjs')], { stdio: 'pipe' });
  const out = path.join(clone, 'dist');
  const hashes = fs.readdirSync(out).map((file) => {
    const data = fs.readFileSync(path.join(out, file));
    return [file, createHash('sha256').update(data).digest('hex')] as const;
  });
  return Object.fromEntries(hashes);
}

describe.runIf(isPossible && lengthOf(0, 1) === 1)('two builds of a commit', () => {
  it(
    'have equal bytes',
    () => {
      const hashes = build('one');
      expect(Object.keys(hashes).sort()).toEqual([
        'SHA256SUMS',
        expect.stringMatching(/^railhead-.*\.cdx\.json$/),
        expect.stringMatching(/^railhead-.*\.tar\.gz$/),
        expect.stringMatching(/^railhead-cli-.*\.tgz$/),
        expect.stringMatching(/^railhead-sdk-.*\.tgz$/),
        expect.stringMatching(/^railhead-server-.*\.tgz$/),
      ]);
      expect(build('another/folder')).toEqual(hashes);
    },
    BUILDS_MS,
  );
});
