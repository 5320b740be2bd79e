// Files that a verb writes for the user.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes to a new file that only its owner can read. Throws if the file exists. An incomplete file
 * is removed.
 */
export async function writeNew(
  file: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const out = createWriteStream(file, { mode: 0o600, flags: 'wx' });
  await once(out, 'open');
  try {
    await pipeline(Readable.from(chunks), out);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
