// The built documentation site. Tests that need the site are skipped if it is missing or older than its
// sources.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../src/runtime/config/root.ts';

const root = projectRoot();

export const SITE_FOLDER = path.join(root, 'site', 'dist');

const findNewestTime = (...places: string[]): number =>
  Math.max(
    ...places.flatMap((place) =>
      statSync(place).isDirectory()
        ? readdirSync(place, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile() && !entry.parentPath.includes('cache'))
            .map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs)
        : [statSync(place).mtimeMs],
    ),
  );

/** Reason for skipping the tests, or undefined if the site is built from the current sources. */
export function findReasonToSkipSite(): string | undefined {
  const builtMs = statSync(path.join(SITE_FOLDER, 'index.html'), {
    throwIfNoEntry: false,
  })?.mtimeMs;
  const sources = [
    ...['docs', 'site/.vitepress', 'site/package-lock.json', 'scripts/docs.mjs', 'openapi.json'],
    'operator-openapi.json',
  ];
  if (builtMs === undefined) return 'The documentation site is not built. Run: npm run docs';
  const isCurrent = builtMs > findNewestTime(...sources.map((source) => path.join(root, source)));
  return isCurrent ? undefined : 'site/dist is older than its sources. Run: npm run docs';
}
