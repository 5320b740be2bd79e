// Names of the providers for filters and select lists.
import { useReply } from '../../api/queries.ts';

/** Names of the providers that use the protocol, in one environment or in both. */
export function useProviderNames(environment?: unknown): string[] {
  const { data } = useReply('listProviders');
  return (data?.data ?? [])
    .filter(({ kind }) => kind === 'GATEWAY')
    .filter((each) => typeof environment !== 'string' || each.environment === environment)
    .map(({ providerId }) => providerId);
}
