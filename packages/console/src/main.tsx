// Entry point of the console. Without a session, the sign-in page opens.
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { queryClient } from './api/queries.ts';
import { SessionProvider, signInUrl, useSessionQuery } from './api/session.tsx';
import { Problem, Skeleton } from './parts/feedback.tsx';
import { router } from './routes.tsx';
import './style/console.css';

const HINT_DELAY_MS = 400;

function Console() {
  const { data, error, refetch } = useSessionQuery();
  if (data)
    return (
      <SessionProvider session={data}>
        <RouterProvider router={router} />
      </SessionProvider>
    );
  if (error instanceof ApiError && error.status === 401) {
    location.replace(signInUrl());
    return null;
  }
  return (
    <main className="alone">
      {error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />}
    </main>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delay={HINT_DELAY_MS}>
          <Console />
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
