// Paths of the console's build, and the check whether the build is up to date.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const folder = path.join(root, 'packages', 'console');
export const dist = path.join(folder, 'dist');
/** Progress of a build, for the page that waits for it. Ignored by git, like `dist`. */
export const progress = path.join(folder, 'dist-progress.json');
/** Design tokens that the console shares with the hosted pages. */
const SHARED = path.join(root, 'server', 'src', 'http', 'pages', 'page', 'tokens.css');
export const DOCUMENT = path.join(root, 'operator-openapi.json');

/** Output of a build in the background. */
export const LOG = path.join(folder, 'dist-build.log');

/** Stores the progress of a build, for the page that waits for it. */
export const report = (step, { failed = false, pid = process.pid } = {}) =>
  fs.writeFileSync(progress, JSON.stringify({ step, failed, pid }));

function filesIn(directory) {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !each.parentPath.includes('generated'))
    .map((each) => path.join(each.parentPath, each.name))
    .sort();
}

/** Returns the hash of the sources of the console. */
export function sourceHash() {
  const hash = createHash('sha256');
  const singleFiles = ['package-lock.json', 'index.html', 'vite.config.ts'].map((name) =>
    path.join(folder, name),
  );
  const sources = [...filesIn(path.join(folder, 'src')), ...filesIn(path.join(folder, 'scripts'))];
  for (const file of [...singleFiles, SHARED, DOCUMENT, ...sources])
    hash.update(path.relative(root, file)).update('\0').update(fs.readFileSync(file));
  return hash.digest('hex');
}

/** File of a build with the hash of its sources. */
export const STAMP = 'source.json';

export function isBuilt() {
  try {
    return JSON.parse(fs.readFileSync(path.join(dist, STAMP), 'utf8')).hash === sourceHash();
  } catch {
    return false;
  }
}
