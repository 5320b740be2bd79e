// Location of the checkout or of the release, which has the same paths. Files that are read at run time
// (migrations, examples, the site) are outside the bundle. A search of the parent folders for
// `server/migrations` finds the location from `server/src` and from a bundle in `server/dist`.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/** The absolute path of the folder that contains `server/migrations`. */
export function projectRoot(): string {
  if (root !== undefined) return root;
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'server', 'migrations'))) {
      root = folder;
      return folder;
    }
    if (folder === path.dirname(folder)) {
      throw new Error(
        `No folder above ${start} contains server/migrations. Start the server from a complete ` +
          'release or checkout.',
      );
    }
  }
}

/** Version and commit of a release. A checkout does not have this file. */
export const RELEASE_FILE = 'release.json';

export const isRelease = (): boolean => existsSync(path.join(projectRoot(), RELEASE_FILE));

/**
 * Base folder of relative paths in settings. For a release it is the working folder, because the next
 * release replaces the folder of this release.
 */
export const settingsFolder = (): string => (isRelease() ? process.cwd() : projectRoot());
