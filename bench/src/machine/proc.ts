// Memory and processor time of processes, from Linux's /proc. On other systems all values are 0.
import fs from 'node:fs';

const KB_PER_MB = 1_024;
/** Duration of a clock tick in /proc. */
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
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / KB_PER_MB;

/** Resident memory of a process. */
export const residentMb = (pid: number) => megabytes(read(pid, 'status'), 'VmRSS');

/** Peak resident memory of a process since it started, or since `resetPeak`. */
export const peakMb = (pid: number) => megabytes(read(pid, 'status'), 'VmHWM');

export function resetPeak(pid: number): void {
  try {
    fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without /proc no peak is read either.
  }
}

/** A process and its children. */
export function familyOf(pid: number): number[] {
  if (!fs.existsSync('/proc/self/stat')) return [pid];
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isChild = (candidate: string) =>
    Number(/^PPid:\s+(\d+)/m.exec(read(candidate, 'status'))?.[1]) === pid;
  return [pid, ...pids.filter(isChild).map(Number)];
}

/** Memory of processes, each with its share of common pages. */
export const sharedMb = (pids: readonly number[]) =>
  pids.reduce((sum, pid) => sum + megabytes(read(pid, 'smaps_rollup'), 'Pss'), 0);

/** Processor time that a process has used, in milliseconds. */
function processorMs(pid: number): number {
  const fields = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/**
 * Processor use of groups of processes from now until `report` is called. The value 1 is one core.
 * The processor time per completed item does not depend on the load of other processes.
 */
export function watchProcessor(groups: Readonly<Record<string, () => readonly number[]>>) {
  const timesOf = (pids: readonly number[]) => new Map(pids.map((pid) => [pid, processorMs(pid)]));
  const timesBefore = new Map(
    Object.entries(groups).map(([name, pids]) => [name, timesOf(pids())]),
  );
  const startMs = performance.now();
  /** Processor time of each group since the start, in milliseconds. */
  const usedMs = () =>
    Object.fromEntries(
      Object.entries(groups).map(([name, pids]) => {
        let sum = 0;
        for (const [pid, ms] of timesOf(pids())) sum += ms - (timesBefore.get(name)?.get(pid) ?? 0);
        return [name, sum] as const;
      }),
    );
  return {
    /** Processor time of a group per item, in microseconds. */
    usPerItem: (name: string, count: number) => ((usedMs()[name] ?? 0) * 1000) / Math.max(1, count),
    report(count: number): string {
      const elapsedMs = performance.now() - startMs;
      const texts = Object.entries(usedMs()).map(([name, ms]) => {
        const perItem = ((ms * 1000) / Math.max(1, count)).toFixed(0);
        return ms === 0 ? '' : `${name} ${(ms / elapsedMs).toFixed(2)} (${perItem} µs each)`;
      });
      return `processor: ${texts.filter((text) => text !== '').join(', ')}`;
    },
  };
}
