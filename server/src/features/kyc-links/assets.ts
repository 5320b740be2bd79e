// The page's script and style, made from the sources below `page/`. A built server has both inside:
// scripts/build.mjs puts the finished texts in the place of this file. From source they are bundled when
// first asked for, by the same settings.
import path from 'node:path';
import type { BuildOptions } from 'esbuild';
import type { PageAssets } from '../../kernel/page.ts';
import settings from './page/build.json' with { type: 'json' };

export async function pageAssets(): Promise<PageAssets> {
  const { build } = await import('esbuild');
  const absWorkingDir = path.join(import.meta.dirname, 'page');
  const { outputFiles = [] } = await build({ ...(settings as BuildOptions), absWorkingDir });
  const text = (ending: string) => outputFiles.find((each) => each.path.endsWith(ending))?.text;
  return { script: text('.js') ?? '', style: text('.css') ?? '' };
}
