// The package as its users install it: packed, installed into new projects of both module systems, compiled
// there in strict mode and run. The tests also limit its size.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../../server/test/structure/sources.ts';

const sdk = path.join(root, 'packages/sdk');
const folder = mkdtempSync(path.join(os.tmpdir(), 'sdk-package-'));
const require = createRequire(path.join(sdk, 'package.json'));
const tsc = path.join(path.dirname(require.resolve('typescript')), 'tsc.js');
const NODE_TYPES_FOLDER = path.dirname(require.resolve('@types/node/package.json'));

let tarball = '';
beforeAll(() => {
  // Other tests use the build, which `prepack` would replace.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: sdk, encoding: 'utf8' }));
  tarball = path.join(folder, filename);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createClient, isRailheadError, type Quote } from 'railhead-sdk';
import { fileStore } from 'railhead-sdk/node';
import { providerHandler, type TransferState } from 'railhead-sdk/providers';
import { generateKeys, stamp } from 'railhead-sdk/wallets';
import { verify } from 'railhead-sdk/webhooks';

async function main(): Promise<void> {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
  const quote: Promise<Quote> = client.quotes.getQuoteById({ quoteId: 'Quote:1' });
  const code = await quote.catch((error: unknown) =>
    isRailheadError(error, 'getQuoteById') ? error.code : 'none');
  const keys = await generateKeys();
  const signed = await stamp(keys, 'text');
  const rejected = await verify({ body: '{}', headers: {}, keys: 'whsec_AA==' }).catch(
    (error: unknown) => isRailheadError(error));
  const state: TransferState = { state: 'unknown' };
  providerHandler({ keys: [], calls: { '/transfers/state': () => state } });
  const store = fileStore('cursor');
  console.log(code, signed.length > 100, rejected, await store.load());
}
void main();
`;

const EXPECTED_OUTPUT = 'INVALID_CLIENT_INPUT true true undefined\n';

/** A project with only the package. `type` is its module system. */
function createProject(name: string, type: 'module' | 'commonjs', compilerOptions: object): string {
  const projectFolder = mkdtempSync(path.join(folder, `${name}-`));
  const write = (file: string, content: object | string) =>
    writeFileSync(
      path.join(projectFolder, file),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  write('package.json', { name, type, private: true });
  write('tsconfig.json', {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: 'ES2022',
      lib: ['ES2022'],
      types: [NODE_TYPES_FOLDER],
      ...compilerOptions,
    },
    files: ['main.ts', 'readme.ts', 'samples.ts'],
  });
  write('main.ts', PROGRAM);
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--no-save', tarball];
  execFileSync('npm', args, { cwd: projectFolder });
  return projectFolder;
}

/** The output of a program. Throws if the program fails. */
function run(program: string, args: string[], cwd: string): string {
  const env = { PATH: process.env.PATH };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

function readmeCode(): string {
  const text = readFileSync(path.join(sdk, 'README.md'), 'utf8');
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  expect(blocks.length).toBeGreaterThanOrEqual(10);
  return blocks.join('\n');
}

/** The samples of the pages of operations. Each is a separate scope. */
async function sampleCode(): Promise<string> {
  const load = (name: string) =>
    import(new URL(`../../../site/.vitepress/operations/${name}.mjs`, import.meta.url).href);
  const [{ entries }, { samplesOf }] = [await load('document'), await load('samples')];
  const samples = entries
    .filter(({ isWebhook }: { isWebhook: boolean }) => !isWebhook)
    .map((entry: object) => samplesOf(entry, '').at(-1).text as string);
  expect(samples.length).toBeGreaterThan(170);
  const imports = new Set<string>();
  const scopes = samples.map((text: string) => {
    const lines = text.split('\n');
    for (const line of lines) if (line.startsWith('import ')) imports.add(line);
    return `{\n${lines.filter((line) => !line.startsWith('import ')).join('\n')}\n}`;
  });
  return [...imports, ...scopes].join('\n');
}

const NODE_NEXT_OPTIONS = { module: 'NodeNext', moduleResolution: 'NodeNext' };

describe('the package', () => {
  it.each([
    ['modules', 'module', NODE_NEXT_OPTIONS],
    ['CommonJS', 'commonjs', NODE_NEXT_OPTIONS],
    ['the older resolution', 'commonjs', { module: 'CommonJS', moduleResolution: 'Node10' }],
  ] as const)(
    'compiles with its README and samples in a strict project of %s and runs',
    async (name, type, options) => {
      const projectFolder = createProject(name.replaceAll(' ', '-').toLowerCase(), type, options);
      expect(
        readdirSync(path.join(projectFolder, 'node_modules')).filter((entry) => entry[0] !== '.'),
      ).toEqual(['railhead-sdk']);
      // The code of the README and of the documentation is compiled only in the project of modules.
      const isModuleProject = type === 'module';
      writeFileSync(path.join(projectFolder, 'readme.ts'), isModuleProject ? readmeCode() : '');
      writeFileSync(
        path.join(projectFolder, 'samples.ts'),
        isModuleProject ? await sampleCode() : '',
      );
      run(process.execPath, [tsc, '-p', '.'], projectFolder);
      expect(run(process.execPath, ['main.js'], projectFolder)).toBe(EXPECTED_OUTPUT);
    },
    120_000,
  );

  it('contains only the build, its README and its license, and has no dependencies', () => {
    const names = run('tar', ['-tzf', tarball], folder).split('\n').filter(Boolean);
    const unexpectedFiles = names.filter(
      (name) => !/^package\/(dist\/(esm|cjs)\/|package\.json|README\.md|LICENSE)/.test(name),
    );
    expect(unexpectedFiles).toEqual([]);
    expect(names).toContain('package/LICENSE');
    const { dependencies } = JSON.parse(readFileSync(path.join(sdk, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
  });
});

/** Size in bytes of a compressed browser bundle that imports these names from an entry. */
async function sizeOf(names: string, entry: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names} } from './dist/esm/${entry}.js';`, resolveDir: sdk },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}

describe('the size of a bundle', () => {
  it.each([
    ['createClient, isRailheadError', 'index', 15_000],
    ['verify', 'webhooks', 3_000],
    ['generateKeys, stamp, signed', 'wallets/index', 3_000],
    ['providerHandler, messageSender', 'providers', 3_000],
    ['isRailheadError', 'index', 600],
  ])('of %s from %s is below %i bytes', async (names, entry, limit) => {
    const size = await sizeOf(names, entry);
    console.info(`${entry} (${names}): ${size} bytes compressed`);
    expect(size).toBeLessThan(limit);
    expect(size).toBeGreaterThan(limit / 10);
  });
});
