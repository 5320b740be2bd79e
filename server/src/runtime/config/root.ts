// Location of the checkout. Files read at run time (migrations, openapi.json, the API reference)
// remain in the checkout and are not copied by the build, so code must find them both from
// `server/src` and from a bundle in `server/dist`. Both are below the folder that contains
// `server/migrations`: walk up to it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/** The absolute path of the checkout: the folder that contains `server/migrations`. */
export function projectRoot(): string {
  if (root !== undefined) return root;
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'server', 'migrations'))) {
      root = folder;
      return folder;
    }
    if (folder === path.dirname(folder)) {
      throw new Error(`No folder above ${start} contains server/migrations.`);
    }
  }
}
