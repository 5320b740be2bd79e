// The stream of changes: one connection, which the browser resumes after an interruption. A change
// makes what is shown outdated, so that it is read again.
import { useEffect, useSyncExternalStore } from 'react';
import { queryClient } from './queries.ts';

/** Changes within this time cause one read. */
const GATHER_MS = 1_000;
/** Longer lists are not read again by themselves. */
const MAX_PAGES = 3;
/** Reads that no change affects. */
const UNAFFECTED = new Set(['getOperatorSession', 'listOperatorRoles', 'getSystem']);

export type StreamState = 'connecting' | 'live' | 'interrupted';

let state: StreamState = 'connecting';
const listeners = new Set<() => void>();

function become(next: StreamState): void {
  if (state === next) return;
  state = next;
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

/** Reads again what is shown. */
function refresh(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [id], state: { data } }) =>
      !UNAFFECTED.has(String(id)) && ((data as Pages | undefined)?.pages?.length ?? 0) <= MAX_PAGES,
  });
}

/** Follows changes as long as the component is shown. */
export function useChanges(): void {
  useEffect(() => {
    const source = new EventSource('/operator/v1/stream');
    let timer: ReturnType<typeof setTimeout> | undefined;
    const gather = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, GATHER_MS);
    };
    source.addEventListener('open', () => become('live'));
    source.addEventListener('error', () => become('interrupted'));
    source.addEventListener('change', gather);
    source.addEventListener('reset', gather);
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, []);
}
