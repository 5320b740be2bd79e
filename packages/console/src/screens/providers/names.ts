// Names of the providers that routes and messages can have.
import { useReply } from '../../api/queries.ts';

/** Names of the providers that speak the protocol, of one environment or of both. */
export function useProviderNames(environment?: unknown): string[] {
  const { data } = useReply('listProviders');
  return (data?.data ?? [])
    .filter(({ kind }) => kind === 'GATEWAY')
    .filter((each) => typeof environment !== 'string' || each.environment === environment)
    .map(({ providerId }) => providerId);
}
