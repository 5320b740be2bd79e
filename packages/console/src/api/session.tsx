// The operator's session and its permissions.
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, use } from 'react';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { ApiError, call, type Reply, setCsrfToken } from './client.ts';

export type Session = Reply<'getOperatorSession'>;

const SessionContext = createContext<Session | undefined>(undefined);

/** The session. Requires `SessionProvider` as an ancestor. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession requires SessionProvider as an ancestor');
  return session;
}

/** Whether the operator may call an operation. */
export function usePermits(): (id: OperationId) => boolean {
  const { permissions } = useSession();
  return (id) => {
    const { permission } = OPERATIONS[id];
    return permission === undefined || permissions.some((each) => each === permission);
  };
}

export async function readSession(): Promise<Session> {
  const session = await call('getOperatorSession');
  setCsrfToken(session.csrfToken);
  return session;
}

/** URL of the sign-in page, which returns to the current page. */
export const signInUrl = (): string =>
  `/operator/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;

export const useSessionQuery = () =>
  useQuery({
    queryKey: ['getOperatorSession'],
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
    retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status !== 0),
  });

export const SessionProvider = ({
  session,
  children,
}: {
  session: Session;
  children: ReactNode;
}) => <SessionContext value={session}>{children}</SessionContext>;
