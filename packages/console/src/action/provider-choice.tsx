// Select list of the providers of an environment, with the built-in rail as the value null.
import { Field } from '@base-ui/react/field';
import { useReply } from '../api/queries.ts';
import { PROVIDER_TEXTS as T } from '../texts/providers.ts';
import { TEXTS } from '../texts/texts.ts';

/** Not the name of a provider, which begins with a letter. */
const BUILT_IN = '-';

interface ProviderChoiceProps {
  value: unknown;
  environment: unknown;
  set(value: string | null | undefined): void;
}

export function ProviderChoice({ value, environment, set }: ProviderChoiceProps) {
  const { data } = useReply('listProviders');
  const providers = (data?.data ?? []).filter(
    (each) => typeof environment !== 'string' || each.environment === environment,
  );
  return (
    <Field.Control
      render={
        <select>
          <option value="">{TEXTS.notSet}</option>
          <option value={BUILT_IN}>{T.builtIn}</option>
          {providers.map(({ providerId }) => (
            <option key={providerId} value={providerId}>
              {providerId}
            </option>
          ))}
        </select>
      }
      value={value === null ? BUILT_IN : typeof value === 'string' ? value : ''}
      onChange={({ target }) => set(target.value === BUILT_IN ? null : target.value || undefined)}
    />
  );
}
