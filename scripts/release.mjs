// `npm run release [-- --out FOLDER]`: builds the archive of this platform and the packages of the
// server, the SDK and the command line into dist/. The bytes depend only on the commit and on the
// versions of Node, npm and tar. `--built` uses existing builds of the site and the SDK, and builds
// the command line only if a source has changed. `--server-only` omits the SDK and the command
// line, and `--uncommitted` allows uncommitted changes.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { CHECKSUMS, checksumLines, filesBelow, pack, setModes } from './release/archive.mjs';
import { licensesText, packagesIn, sbomOf } from './release/packages.mjs';

const root = path.resolve(fileURLToPath(new URL('..', import.meta.url)));
const inRoot = (...names) => path.join(root, ...names);
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const writeJson = (file, value) => fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
const SBOM = 'sbom.cdx.json';
/** The platform as in the names of the packages of the database, such as `linux-x64`. */
const PLATFORM = `${process.platform}-${process.arch}`;

const print = (line) => process.stderr.write(`${line}\n`);

function fail(message, code = 1) {
  print(message);
  process.exit(code);
}

function options() {
  const flagTypes = {
    out: { type: 'string', default: 'dist' },
    built: { type: 'boolean', default: false },
    uncommitted: { type: 'boolean', default: false },
    'server-only': { type: 'boolean', default: false },
  };
  try {
    return parseArgs({ options: flagTypes }).values;
  } catch (error) {
    return fail(error.message, 2);
  }
}

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/**
 * Version, commit and time of the release. The time is SOURCE_DATE_EPOCH, or else the time of the
 * commit.
 */
function releaseOf({ uncommitted }) {
  const { version } = readJson(inRoot('package.json'));
  if (readJson(inRoot('server', 'package.json')).version !== version)
    fail('The versions in package.json and server/package.json differ. Set the same version.');
  const commit = git('rev-parse', 'HEAD');
  const isChanged = git('status', '--porcelain') !== '';
  if (isChanged && !uncommitted)
    fail('There are changes that are not committed. Commit them, or add --uncommitted.');
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct');
  const build = `${commit.slice(0, 12)}${isChanged ? '.changed' : ''}`;
  return { version, fullVersion: `${version}+${build}`, commit, time: new Date(seconds * 1_000) };
}

const run = (program, args, cwd = root) =>
  execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
const runNode = (...names) => run(process.execPath, [inRoot(...names.slice(0, -1)), names.at(-1)]);

/** Builds the site, the console, the SDK and the command line. */
function buildParts({ built, 'server-only': serverOnly }) {
  const hasSite = fs.existsSync(inRoot('site', 'dist', 'packages.json'));
  if (!built || !hasSite) run(process.execPath, [inRoot('scripts', 'docs.mjs')]);
  runNode('packages', 'console', 'scripts', 'run.mjs', 'build');
  if (serverOnly) return;
  if (!built) runNode('packages', 'sdk', 'scripts', 'run.mjs', 'build');
  if (!built) runNode('packages', 'cli', 'scripts', 'run.mjs', 'build');
  runNode('packages', 'cli', 'scripts', 'run.mjs', 'pack');
}

const npmPack = (folder, outFolder) =>
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', outFolder], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });

/** package.json of the release. The package of npm installs the database of its platform. */
function packageJson({ version }, isPackage) {
  const { license, engines, optionalDependencies } = readJson(inRoot('server', 'package.json'));
  const { description } = readJson(inRoot('package.json'));
  const databases = isPackage ? { optionalDependencies } : {};
  const bin = { 'railhead-server': 'bin/railhead-server' };
  const facts = { name: '@railhead/server', version, description, license };
  return { ...facts, type: 'module', engines, bin, ...databases };
}

function writeInventory(folder, release, packageFolders, files) {
  const packages = packagesIn(packageFolders);
  const licenseFile = inRoot('deploy', 'release', 'licenses', 'embedded-postgresql.txt');
  const texts = files.length > 0 ? [fs.readFileSync(licenseFile, 'utf8')] : [];
  fs.writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), licensesText(packages, texts));
  const { fullVersion, time } = release;
  const lockFolders = [root, inRoot('packages', 'console'), inRoot('site')];
  const sbom = sbomOf({ version: fullVersion, time, packages, files, lockFolders });
  fs.writeFileSync(path.join(folder, SBOM), sbom);
}

async function build(release, out, parent) {
  const { stage, addDatabase } = await import('./release/stage.mjs');
  const name = `railhead-${release.version}-${PLATFORM}`;
  const folder = path.join(parent, name);
  const packages = await stage(root, folder);
  const { fullVersion, commit, time } = release;
  writeJson(path.join(folder, 'release.json'), { version: fullVersion, commit });

  writeJson(path.join(folder, 'package.json'), packageJson(release, true));
  writeInventory(folder, release, packages, []);
  setModes(folder);
  npmPack(folder, out);

  const database = addDatabase(root, folder, PLATFORM);
  writeJson(path.join(folder, 'package.json'), packageJson(release, false));
  writeInventory(folder, release, [...packages, database.package], database.files);
  setModes(folder);
  const names = filesBelow(folder).filter(
    (fileName) => !fs.lstatSync(path.join(folder, fileName)).isSymbolicLink(),
  );
  fs.writeFileSync(path.join(folder, CHECKSUMS), checksumLines(folder, names), { mode: 0o644 });
  await pack({ parent, name, file: path.join(out, `${name}.tar.gz`), time });
  fs.copyFileSync(path.join(folder, SBOM), path.join(out, `${name}.cdx.json`));
  return [`${name}.tar.gz`, `${name}.cdx.json`, `railhead-server-${release.version}.tgz`];
}

const flags = options();
const release = releaseOf(flags);
await ensureInstalled({ dev: false });
buildParts(flags);
const out = path.resolve(root, flags.out);
fs.mkdirSync(out, { recursive: true });
const files = [];
const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-release-'));
try {
  files.push(...(await build(release, out, parent)));
} finally {
  fs.rmSync(parent, { recursive: true, force: true });
}
for (const name of flags['server-only'] ? [] : ['railhead-sdk', 'railhead-cli']) {
  const { version } = readJson(inRoot('packages', name.slice(9), 'package.json'));
  const file = `${name}-${version}.tgz`;
  fs.copyFileSync(inRoot('packages', 'dist', `${name}.tgz`), path.join(out, file));
  files.push(file);
}
fs.writeFileSync(path.join(out, CHECKSUMS), checksumLines(out, files.sort()));
print(`Release ${release.fullVersion} is in ${out}.`);
