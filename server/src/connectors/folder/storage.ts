// Files in a folder. An object is written under a temporary name beside its place and renamed once
// it is on the disk, so a crash leaves either the whole object or a fragment that is ignored. Only
// the owner of the process can read folder and files; the content is sealed.
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { StoragePort } from '../ports/index.ts';

/** Names are made by us; one with a path in it would be our own mistake. */
function checked(name: string): string {
  if (!/^[\w-]{1,100}$/.test(name)) throw new Error('not the name of an object');
  return name;
}

/** A new name is only safe once the folder is; Windows cannot do that, and needs it less. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

async function writeAll(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of bytes) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Several machines must be given the same folder. It is made when first needed. */
export function folderStorage(folder: string): StoragePort {
  const placeOf = (name: string) => path.join(folder, checked(name));
  const partOf = (name: string) => `${placeOf(name)}.part`;
  return {
    async put(name, bytes) {
      const part = partOf(name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      try {
        await writeAll(await open(part, 'w', 0o600), bytes);
        await rename(part, placeOf(name));
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      await syncFolder(folder);
    },
    get: (name, from = 0) => createReadStream(placeOf(name), { start: from }),
    async remove(name) {
      await rm(partOf(name), { force: true });
      await rm(placeOf(name), { force: true });
    },
  };
}
