// Bundles and runs programs of the server's tests: `npm run sim`, `npm run attack` and `npm run cluster`.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from '../install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles a program below `server/test`. Returns the path of the bundle. Packages are not bundled,
 * so `outdir` must be below the folder that contains them.
 */
export async function bundleTest(program, outdir) {
  const { build } = createRequire(import.meta.url)('esbuild');
  await build({
    entryPoints: [path.join(root, 'server/test', program)],
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'error',
  });
  return path.join(outdir, path.basename(program).replace(/ts$/, 'js'));
}

/** The value of a flag as a whole number from 1. Throws for another value. */
export function countOf(values, name, fallback) {
  const value = Number(values[name] ?? fallback);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`--${name} must be a whole number from 1.`);
}

/** The flags that `read` returns. After an error, prints the error with `usage` and exits. */
export function flagsOrExit(read, usage) {
  try {
    return read();
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    return process.exit(2);
  }
}

/** Runs `main` of a program below `server/test` and exits with its result. */
export async function runTest(program, flags) {
  await ensureInstalled({ dev: true });
  const dist = path.join(root, 'server', 'dist');
  fs.mkdirSync(dist, { recursive: true });
  const folder = fs.mkdtempSync(path.join(dist, `${path.dirname(program)}-`));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  process.setSourceMapsEnabled(true);
  const { main } = await import(pathToFileURL(await bundleTest(program, folder)).href);
  process.exit((await main(flags)) ? 0 : 1);
}
