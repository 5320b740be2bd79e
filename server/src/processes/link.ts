// Messages between a supervisor and its processes about start, replacement and metrics, and their
// handling in a process. Processes share data of payments only through the database.
import type { Serving } from '../startup.ts';

export type FromProcess =
  /** Requests are served. */
  | { type: 'serving'; serving: Serving }
  /** The start is complete, and all schemas are compiled. */
  | { type: 'ready' }
  /** Requests the metrics of all processes. */
  | { type: 'collect'; id: number }
  /** The reply to `metrics`. */
  | { type: 'metrics'; id: number; text: string };

export type FromSupervisor =
  /** Another process has replaced this process. */
  | { type: 'replace' }
  /** Requests the metrics of this process. */
  | { type: 'metrics'; id: number }
  /** The reply to `collect`. */
  | { type: 'collected'; id: number; text: string };

/** Settings that a supervisor passes to a process in an environment variable. */
export interface ProcessEnv {
  /** From 1. A replacement has the number of the process that it replaces. */
  number: number;
  port: number;
  databaseUrl: string;
}

export interface SupervisorLink extends ProcessEnv {
  send(message: FromProcess): void;
  onReplace(handle: () => void): void;
  /**
   * Provides the metrics of this process. Returns a function that reads the metrics of all
   * processes.
   */
  shareMetrics(localMetrics: () => Promise<string>): () => Promise<string>;
}

export const PROCESS_ENV = 'RAILHEAD_PROCESS';

/** Timeout, after which only the metrics of this process are returned. */
const COLLECT_MS = 2_000;

function createCollector(send: (message: FromProcess) => void) {
  const resolvers = new Map<number, (text: string) => void>();
  let lastId = 0;
  let readOwnMetrics = async () => '';

  async function collect(): Promise<string> {
    lastId += 1;
    const id = lastId;
    const mergedText = await new Promise<string>((resolve) => {
      const timer = setTimeout(resolve, COLLECT_MS, '');
      resolvers.set(id, (text) => {
        clearTimeout(timer);
        resolve(text);
      });
      send({ type: 'collect', id });
    });
    resolvers.delete(id);
    return mergedText || readOwnMetrics();
  }

  return {
    collected: (id: number, text: string) => resolvers.get(id)?.(text),
    async reply(id: number): Promise<void> {
      send({ type: 'metrics', id, text: await readOwnMetrics() });
    },
    share(read: () => Promise<string>) {
      readOwnMetrics = read;
      return collect;
    },
  };
}

/** The supervisor of this process, or undefined if it has none. */
export function supervisorLink(): SupervisorLink | undefined {
  const text = process.env[PROCESS_ENV];
  if (text === undefined || !process.send) return undefined;
  const processEnv = JSON.parse(text) as ProcessEnv;
  const send = (message: FromProcess) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  const collector = createCollector(send);
  let replace: (() => void) | undefined;
  process.on('message', (message: FromSupervisor) => {
    if (message.type === 'replace') replace?.();
    if (message.type === 'collected') collector.collected(message.id, message.text);
    if (message.type === 'metrics') void collector.reply(message.id);
  });
  return {
    ...processEnv,
    send,
    onReplace(handle) {
      replace = handle;
    },
    shareMetrics: collector.share,
  };
}
