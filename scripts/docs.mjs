// `npm run docs`: installs the packages of the site and of the SDK, and builds the site into
// site/dist. The server serves the site at /docs, with the references of the SDK and of the operator
// API. With `--out FOLDER`, an export for any host of static files is written, with the API reference.
// `--base /` is the path of the export on its host (default `/docs/`).
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { addressesAt } from '../site/.vitepress/addresses.mjs';
import { writeOperations } from '../site/.vitepress/operations/pages.mjs';
import { writeCollection } from './collection.mjs';
import { llmsTexts, pagesOf } from './llms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = path.join(root, 'site');

/** Exit code if the packages of the site cannot be installed, for example without a network. */
const NOT_INSTALLED = 69;

const print = (line) => process.stderr.write(`${line}\n`);

function fail(message, code) {
  print(message);
  process.exit(code);
}

function run(program, args, env = {}) {
  const options = { cwd: site, stdio: 'inherit', env: { ...process.env, ...env } };
  const { status, error } = spawnSync(program, args, options);
  if (error) print(error.message);
  return status ?? 1;
}

function isInstalled() {
  const lock = fs.readFileSync(path.join(site, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock);
  const installedLock = path.join(site, 'node_modules', '.package-lock.json');
  if (!fs.existsSync(installedLock)) return false;
  const installedPackages = JSON.parse(fs.readFileSync(installedLock, 'utf8')).packages;
  return Object.entries(packages).every(
    ([packagePath, { version, optional }]) =>
      packagePath === '' || optional || installedPackages[packagePath]?.version === version,
  );
}

function options() {
  const flagTypes = { out: { type: 'string' }, base: { type: 'string' } };
  try {
    const { out, base = '/docs/' } = parseArgs({ options: flagTypes }).values;
    if (!/^\/(?:.*\/)?$/.test(base)) fail('--base must begin and end with a slash.', 2);
    return { base, out };
  } catch (error) {
    return fail(error.message, 2);
  }
}

async function build(folder, base, isExport) {
  if (!isInstalled()) {
    print('Installing the packages of the site …');
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel', 'error'];
    if (run('npm', args) !== 0)
      fail('The packages of site/ cannot be installed. See the messages above.', NOT_INSTALLED);
  }
  const link = path.join(site, 'pages');
  if (!fs.existsSync(link)) fs.symlinkSync(path.join('..', 'docs'), link, 'junction');
  writeOperations(site);
  // The reference of the SDK needs the generated types.
  const generateArgs = [path.join(root, 'packages', 'sdk', 'scripts', 'run.mjs'), 'generate'];
  const generationStatus = run(process.execPath, generateArgs);
  if (generationStatus !== 0) process.exit(generationStatus);
  // Imported here because the module needs these packages.
  const { writeSdkReference } = await import('../site/.vitepress/sdk-reference.mjs');
  await writeSdkReference();
  const vitepress = path.join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const args = [vitepress, 'build', '.', '--outDir', folder];
  const status = run(process.execPath, args, {
    RAILHEAD_DOCS_BASE: base,
    RAILHEAD_DOCS_EXPORT: String(isExport),
    NODE_ENV: 'production',
  });
  if (status !== 0) process.exit(status);
}

/**
 * Writes the reference of the operator API. An export also contains the API reference, which a
 * server serves itself.
 */
async function writeReferences(folder, base, addressOf, isStatic) {
  const [{ ensureInstalled }, { ensureBuilt }] = [
    await import('./install.mjs'),
    await import('./build.mjs'),
  ];
  await ensureInstalled({ dev: false });
  const { document } = await ensureBuilt();
  const { referenceFiles, operatorReferenceFiles, withAddresses } = await import(
    pathToFileURL(document).href
  );
  const read = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));
  const openApi = withAddresses(addressOf, read('openapi.json'));
  const operatorOpenApi = withAddresses(addressOf, read('operator-openapi.json'));
  const files = {
    'openapi.json': `${JSON.stringify(openApi, null, 2)}\n`,
    ...(isStatic ? await referenceFiles(base, openApi) : {}),
    ...operatorReferenceFiles(base, operatorOpenApi, { isStatic }),
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
}

const { out, base } = options();
const folder = out === undefined ? path.join(site, 'dist') : path.resolve(out);
const isExport = out !== undefined;
const addressOf = addressesAt(base, isExport);
await build(folder, base, isExport);
const texts = llmsTexts(pagesOf(path.join(root, 'docs')), addressOf);
for (const [name, text] of Object.entries(texts)) fs.writeFileSync(path.join(folder, name), text);
writeCollection(path.join(folder, 'railhead.postman_collection.json'));
await writeReferences(folder, base, addressOf, isExport);
print(`The site is in ${folder}.`);
