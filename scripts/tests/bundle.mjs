// Bundles a program of the server's tests, which `npm run sim` and `npm run cluster` run.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The bundle of a program below `server/test`. Packages are not bundled, so `outdir` must be below the folder
 * that contains them.
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
