// Where tests keep data that may be lost with the machine: in memory where Linux has plenty of it. A database
// is then copied in a tenth of the time, and flushes of one test do not hold up the disk for all others.
import fs from 'node:fs';
import os from 'node:os';

const SHARED_MEMORY = '/dev/shm';
/** Free bytes that a whole run does not fill. */
const ENOUGH = 6 * 1024 ** 3;

function hasRoom(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize >= ENOUGH;
  } catch {
    return false;
  }
}

/** The folder for temporary files that need not survive a loss of power. */
export const scratchFolder = (): string =>
  process.platform === 'linux' && hasRoom(SHARED_MEMORY) ? SHARED_MEMORY : os.tmpdir();
