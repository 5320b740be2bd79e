// Files of a release: modes that do not depend on the umask, checksums, and archives whose bytes depend on
// their content only.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

export const CHECKSUMS = 'SHA256SUMS';

/** GNU tar can set the order, owners and times of the entries. On macOS it is named `gtar`. */
function gnuTar() {
  for (const name of ['tar', 'gtar']) {
    try {
      if (/GNU tar/.test(execFileSync(name, ['--version'], { encoding: 'utf8' }))) return name;
    } catch {
      // The program is not installed.
    }
  }
  throw new Error('A release needs GNU tar. Install it as tar or gtar.');
}

/** Paths of the files and links below a folder, sorted by their bytes. */
export const filesBelow = (folder) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

const isProgram = (name) => /(^|\/)bin\/[^/]+$/.test(name);

/**
 * Sets the modes: all files are readable, and programs, which are in folders named `bin`, are executable.
 */
export function setModes(folder) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) fs.chmodSync(file, 0o755);
    else if (entry.isFile()) fs.chmodSync(file, isProgram(file) ? 0o755 : 0o644);
  }
}

/** Lines for `sha256sum --check`. */
export const checksumLines = (folder, names) =>
  names
    .map((name) => {
      const data = fs.readFileSync(path.join(folder, name));
      return `${createHash('sha256').update(data).digest('hex')}  ${name}\n`;
    })
    .join('');

/** Packs the folder `name` in `parent` into a gzipped tar file. */
export async function pack({ parent, name, file, time }) {
  const order = ['--sort=name', '--format=gnu', `--mtime=@${Math.floor(time.getTime() / 1000)}`];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const args = [...order, ...owner, '-C', parent, '-cf', '-', name];
  // Names are sorted by their bytes.
  const env = { ...process.env, LC_ALL: 'C' };
  const tar = spawn(gnuTar(), args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const exit = once(tar, 'close');
  await pipeline(tar.stdout, createGzip({ level: 9 }), fs.createWriteStream(file));
  const [code] = await exit;
  if (code !== 0) throw new Error(`tar ended with exit code ${code}.`);
}
