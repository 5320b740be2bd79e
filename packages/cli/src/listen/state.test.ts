// Recognition of a killed process that still has an ID.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { expect, it } from 'vitest';
import { isZombie } from './state.ts';

it.runIf(existsSync('/proc/self/stat'))(
  'isZombie recognizes a killed process that still has an ID',
  async () => {
    expect(isZombie(process.pid)).toBe(false);
    // The shell replaces itself by another program, so the exit code of the process is never read.
    const script = 'sleep 60 & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [output] = await once(parent.stdout, 'data');
      const pid = Number(String(output));
      expect(isZombie(pid)).toBe(false);
      // Before it replaces itself, the shell would read the exit code.
      const nameOfParent = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim();
      await expect.poll(nameOfParent).toBe('sleep');
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => isZombie(pid)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
    expect(isZombie(2 ** 30)).toBe(false);
  },
);
