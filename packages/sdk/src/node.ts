// Entry `railhead-sdk/node`: functions that use files.
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { CursorStore } from './follow.ts';
import type { FileInput } from './http/upload.ts';

/** Stores a follower's position in a file, which is replaced atomically. */
export function fileStore(file: string): CursorStore {
  const temporaryFile = `${file}.${process.pid}`;
  return {
    async load() {
      try {
        return (await readFile(file, 'utf8')).trim() || undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async save(cursor) {
      await mkdir(dirname(file), { recursive: true });
      const handle = await open(temporaryFile, 'w', 0o600);
      try {
        await handle.writeFile(`${cursor}\n`);
        // A crash of the machine must not leave an empty file.
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(temporaryFile, file);
    },
  };
}

/** A file for an upload, read while it is sent. Such a call is not retried. */
export const fileStream = (file: string, type?: string): FileInput => ({
  content: createReadStream(file),
  name: basename(file),
  ...(type !== undefined && { type }),
});
