// Script and style of the pages for operators, bundled from `page/`. In a built server scripts/build.mjs
// replaces this file with the bundled texts. From source they are bundled at first use.
import path from 'node:path';
import type { BuildOptions } from 'esbuild';
import settings from './page/build.json' with { type: 'json' };

export async function pageAssets(): Promise<{ script: string; style: string }> {
  const { build } = await import('esbuild');
  const absWorkingDir = path.join(import.meta.dirname, 'page');
  const { outputFiles = [] } = await build({ ...(settings as BuildOptions), absWorkingDir });
  const text = (suffix: string) => outputFiles.find((each) => each.path.endsWith(suffix))?.text;
  return { script: text('.js') ?? '', style: text('.css') ?? '' };
}
