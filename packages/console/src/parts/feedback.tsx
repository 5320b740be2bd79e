// Loading, empty and error states.
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { TEXTS } from '../texts/texts.ts';
import { CopyButton } from './identifier.tsx';
import { Screen } from './panel.tsx';

/** Gray lines, shown after a short delay. */
export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div className="skeleton" role="status" aria-label={TEXTS.loading}>
    {Array.from({ length: lines }, (_, index) => (
      <div key={index.toString()} />
    ))}
  </div>
);

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { status, requestId, message } =
    error instanceof ApiError
      ? error
      : { status: 0, requestId: undefined, message: TEXTS.errors.failed };
  return (
    <div className="problem" role="alert">
      <p>{status === 403 ? TEXTS.errors.forbidden : message}</p>
      {requestId && (
        <p className="soft">
          {TEXTS.errors.requestId} <span className="code">{requestId}</span>{' '}
          <CopyButton text={requestId} label={requestId} />
        </p>
      )}
      {retry && (
        <button type="button" className="button" onClick={retry}>
          {TEXTS.tryAgain}
        </button>
      )}
    </div>
  );
}

export const EmptyState = ({ children }: { children: ReactNode }) => (
  <p className="empty">{children}</p>
);

interface QueryViewProps<T> {
  query: { data: T | undefined; error: unknown; refetch(): unknown };
  lines?: number;
  /** Title of the screen, if the data fills a whole screen. */
  title?: string;
  children: (data: T) => ReactNode;
}

/** The data of a query, or its loading and error states. Data remains shown if a later read fails. */
export function QueryView<T>({ query, lines, title, children }: QueryViewProps<T>) {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  const content = error ? (
    <Problem error={error} retry={() => void refetch()} />
  ) : (
    <Skeleton {...(lines && { lines })} />
  );
  return title ? <Screen title={title}>{content}</Screen> : content;
}
