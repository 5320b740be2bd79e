// Script of the verification page, bundled from `page/`. In a built server scripts/build.mjs
// replaces this file with the bundled text. From source the script is bundled at first use with the
// same settings.
import path from 'node:path';
import type { BuildOptions } from 'esbuild';
import settings from './page/build.json' with { type: 'json' };

export async function pageAssets(): Promise<{ script: string }> {
  const { build } = await import('esbuild');
  const absWorkingDir = path.join(import.meta.dirname, 'page');
  const { outputFiles = [] } = await build({ ...(settings as BuildOptions), absWorkingDir });
  const text = (suffix: string) => outputFiles.find((each) => each.path.endsWith(suffix))?.text;
  return { script: text('.js') ?? '' };
}
