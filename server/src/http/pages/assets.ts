// The style sheet of all hosted pages and the script of the page with card details, generated from the
// sources below `page/`. For a release, scripts/build.mjs replaces this file with the bundled texts. From
// source, they are bundled at first use with the same settings.
import path from 'node:path';
import type { BuildOptions } from 'esbuild';
import settings from './page/build.json' with { type: 'json' };

async function bundle() {
  const { build } = await import('esbuild');
  const absWorkingDir = path.join(import.meta.dirname, 'page');
  const { outputFiles = [] } = await build({ ...(settings as BuildOptions), absWorkingDir });
  const text = (suffix: string) =>
    (outputFiles.find((each) => each.path.endsWith(suffix))?.text ?? '').trim();
  return { script: text('.js'), style: text('.css') };
}

let bundlePromise: ReturnType<typeof bundle> | undefined;

export async function pageAssets(): Promise<{ script: string; style: string }> {
  bundlePromise ??= bundle();
  // A failed bundling is repeated at the next request.
  bundlePromise.catch(() => {
    bundlePromise = undefined;
  });
  return bundlePromise;
}
