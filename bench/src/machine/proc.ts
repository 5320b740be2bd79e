// What Linux tells about processes: memory, and processor time. Elsewhere everything is 0.
import fs from 'node:fs';

const MB = 1_024;
/** Of the clock that /proc counts in. */
const TICK_MS = 10;

function read(pid: number | string, name: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** A line like `VmRSS:   123 kB`, in megabytes. */
const megabytes = (text: string, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / MB;

/** Memory that a process keeps resident. */
export const residentMb = (pid: number) => megabytes(read(pid, 'status'), 'VmRSS');

/** The most memory that a process has kept resident since it started, or since `resetPeak`. */
export const peakMb = (pid: number) => megabytes(read(pid, 'status'), 'VmHWM');

export function resetPeak(pid: number): void {
  try {
    fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Elsewhere there is no peak to read either.
  }
}

/** A process and its children. */
export function familyOf(pid: number): number[] {
  if (!fs.existsSync('/proc/self/stat')) return [pid];
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isChild = (each: string) =>
    Number(/^PPid:\s+(\d+)/m.exec(read(each, 'status'))?.[1]) === pid;
  return [pid, ...pids.filter(isChild).map(Number)];
}

/** Memory of processes, each with its share of what they have in common. */
export const sharedMb = (pids: readonly number[]) =>
  pids.reduce((sum, pid) => sum + megabytes(read(pid, 'smaps_rollup'), 'Pss'), 0);

/** Processor time that a process has used, milliseconds. */
function processorMs(pid: number): number {
  const fields = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/**
 * How busy groups of processes are from now until `report` is asked: 1 is one core. With what was done
 * meanwhile it tells the processor time of each, which stays the same when others take the processor away.
 */
export function watchProcessor(groups: Readonly<Record<string, () => readonly number[]>>) {
  const timesOf = (pids: readonly number[]) => new Map(pids.map((pid) => [pid, processorMs(pid)]));
  const before = new Map(Object.entries(groups).map(([name, pids]) => [name, timesOf(pids())]));
  const started = performance.now();
  return {
    report(done: number): string {
      const passed = performance.now() - started;
      const parts = Object.entries(groups).map(([name, pids]) => {
        let used = 0;
        for (const [pid, ms] of timesOf(pids())) used += ms - (before.get(name)?.get(pid) ?? 0);
        const each = ((used * 1000) / Math.max(1, done)).toFixed(0);
        return used === 0 ? '' : `${name} ${(used / passed).toFixed(2)} (${each} µs each)`;
      });
      return `processor: ${parts.filter((part) => part !== '').join(', ')}`;
    },
  };
}
