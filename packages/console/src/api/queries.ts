// Reads of the operator API, cached by operation and input.
import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { ApiError, call, type Input, type Reply } from './client.ts';

const MAX_RETRIES = 2;

/** A lost connection and an overloaded server are tried again, a rejection is not. */
const isTemporary = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MAX_RETRIES && isTemporary(error),
      staleTime: 5_000,
      // The stream of changes reports what is outdated.
      refetchOnWindowFocus: false,
    },
  },
});

type ReadInput = Pick<Input, 'path' | 'query'>;

/** The reply of a read; undefined while it is loading. */
export function useReply<Id extends OperationId>(
  id: Id,
  input: ReadInput = {},
  options: { enabled?: boolean; refetchInterval?: number } = {},
) {
  return useQuery<Reply<Id>>({
    queryKey: [id, input],
    queryFn: ({ signal }) => call(id, { ...input, signal }),
    placeholderData: keepPreviousData as never,
    ...options,
  });
}

interface PageReply {
  data: unknown[];
  hasMore?: boolean;
  nextCursor?: string | null;
}

/** Rows of a page of a list. */
const PAGE_SIZE = 50;

/** The pages of a list, more of which are loaded on demand. */
export function usePages(id: OperationId, input: ReadInput, enabled = true) {
  return useInfiniteQuery({
    queryKey: [id, input],
    enabled,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      // Some lists are short and have no pages.
      const page = OPERATIONS[id].query?.includes('limit') ? { limit: PAGE_SIZE } : {};
      const query = { ...page, ...input.query, cursor: pageParam };
      return (await call(id, { ...input, query, signal })) as PageReply;
    },
    getNextPageParam: ({ hasMore, nextCursor }) =>
      hasMore ? (nextCursor ?? undefined) : undefined,
    placeholderData: keepPreviousData,
  });
}
