// Reads of the operator API, cached by operation and input.
import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { ApiError, call, type Input, type Reply } from './client.ts';

const MAX_RETRIES = 2;

/** Reads are retried after a lost connection, an overload, or an error of the client. */
const isTemporary = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MAX_RETRIES && isTemporary(error),
      staleTime: 5_000,
      // The change stream marks outdated data.
      refetchOnWindowFocus: false,
    },
  },
});

type ReadInput = Pick<Input, 'path' | 'query'>;

interface ReadOptions<T> {
  enabled?: boolean;
  /** Polling interval in milliseconds for data without change events. False disables polling. */
  refetchInterval?: (reply: T) => number | false;
}

/** A read. While another input is loading, `data` remains the previous reply. */
export function useReply<Id extends OperationId>(
  id: Id,
  input: ReadInput = {},
  { refetchInterval, ...options }: ReadOptions<Reply<Id>> = {},
) {
  return useQuery<Reply<Id>>({
    queryKey: [id, input],
    queryFn: ({ signal }) => call(id, { ...input, signal }),
    placeholderData: keepPreviousData as never,
    ...(refetchInterval && {
      refetchInterval: ({ state: { data } }) => (data ? refetchInterval(data) : false),
    }),
    ...options,
  });
}

interface Page {
  data: unknown[];
  hasMore?: boolean;
  nextCursor?: string | null;
}

/** Number of rows of a page. */
const PAGE_SIZE = 50;

interface PageRequest {
  cursor: string | undefined;
  limit?: number;
  signal?: AbortSignal;
}

/** Reads a page of a list. Lists without pages contain their rows in `keys` or `deliveries`. */
async function readPage(
  id: OperationId,
  input: ReadInput,
  { cursor, limit = PAGE_SIZE, signal }: PageRequest,
): Promise<Page> {
  const size = OPERATIONS[id].query?.includes('limit') ? { limit } : {};
  const query = { ...size, ...input.query, cursor };
  const reply = await call(id, { ...input, query, ...(signal && { signal }) });
  const { data, keys, deliveries, ...otherFields } = reply as Omit<Page, 'data'> &
    Record<'data' | 'keys' | 'deliveries', unknown[] | undefined>;
  return { ...otherFields, data: data ?? keys ?? deliveries ?? [] };
}

const EXPORT_PAGE_SIZE = 100;

/**
 * Reads pages until there are at least `maxRows` rows or no more pages. Returns the rows, and
 * whether there are more.
 */
export async function readRows(id: OperationId, input: ReadInput, maxRows: number) {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(id, input, { cursor, limit: EXPORT_PAGE_SIZE });
    rows.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor && rows.length < maxRows);
  return { rows, hasMore: cursor !== undefined };
}

/** The pages of a list. Further pages are loaded on demand. */
export function usePages(id: OperationId, input: ReadInput, enabled = true) {
  return useInfiniteQuery({
    queryKey: [id, input],
    enabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(id, input, { cursor: pageParam, signal }),
    getNextPageParam: ({ hasMore, nextCursor }) =>
      hasMore ? (nextCursor ?? undefined) : undefined,
    placeholderData: keepPreviousData,
  });
}
