// The change stream: one connection, which the browser resumes after an interruption. A change marks the
// displayed data as outdated, so that it is read again.
import { useEffect, useSyncExternalStore } from 'react';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { queryClient } from './queries.ts';

/** Changes within this period are combined into one read. */
const GATHER_MS = 1_000;
/** Delay before another attempt after a rejection, such as an expired session. */
const REOPEN_MS = 5_000;
/** Lists with more loaded pages are not refreshed automatically. */
const MAX_PAGES = 3;
/** Reads that are not repeated after a change. */
const UNAFFECTED_READS = new Set([
  ...['getOperatorSession', 'listOperatorRoles', 'getSystem'],
  // Each search creates an audit record, which is itself a change.
  'searchResources',
]);

/** Reads of personal data are not repeated, because the audit record of each read is itself a change. */
const isAffected = (id: string) =>
  !UNAFFECTED_READS.has(id) && !OPERATIONS[id as OperationId]?.reveals;

export type StreamState = 'connecting' | 'live' | 'interrupted';

let state: StreamState = 'connecting';
const listeners = new Set<() => void>();

function setState(nextState: StreamState): void {
  if (state === nextState) return;
  state = nextState;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useStreamState = (): StreamState => useSyncExternalStore(subscribe, () => state);

interface Pages {
  pages?: unknown[];
}

/** Reads the displayed data again. */
function refresh(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [id], state: { data } }) =>
      isAffected(String(id)) && ((data as Pages | undefined)?.pages?.length ?? 0) <= MAX_PAGES,
  });
}

/** Follows changes while the component is mounted. */
export function useChanges(): void {
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let reopenTimer: ReturnType<typeof setTimeout> | undefined;
    let cursor = '';
    const gather = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, GATHER_MS);
    };
    const storeCursor = ({ lastEventId }: MessageEvent) => {
      cursor = lastEventId || cursor;
    };
    const openStream = () => {
      const query = cursor && `?after=${encodeURIComponent(cursor)}`;
      source = new EventSource(`/operator/v1/stream${query}`);
      source.addEventListener('open', () => setState('live'));
      for (const name of ['ready', 'change', 'reset']) source.addEventListener(name, storeCursor);
      for (const name of ['change', 'reset']) source.addEventListener(name, gather);
      // The session has expired, or its permissions have changed.
      source.addEventListener('end', () => {
        void queryClient.invalidateQueries({ queryKey: ['getOperatorSession'] });
      });
      source.addEventListener('error', () => {
        setState('interrupted');
        // The browser reconnects automatically unless the server rejected the request.
        if (source?.readyState === EventSource.CLOSED)
          reopenTimer = setTimeout(openStream, REOPEN_MS);
      });
    };
    openStream();
    return () => {
      clearTimeout(timer);
      clearTimeout(reopenTimer);
      source?.close();
    };
  }, []);
}
