// Select list of the providers of an environment, with the built-in rail as the value null.
import { Field } from '@base-ui/react/field';
import { useProviderNames } from '../screens/providers/names.ts';
import { PROVIDER_TEXTS as T } from '../texts/providers.ts';
import { TEXTS } from '../texts/texts.ts';

/** Value of the built-in rail. Names of providers begin with a letter. */
const BUILT_IN = '-';

interface ProviderChoiceProps {
  value: unknown;
  environment: unknown;
  set(value: string | null | undefined): void;
}

export function ProviderChoice({ value, environment, set }: ProviderChoiceProps) {
  const names = useProviderNames(environment);
  return (
    <Field.Control
      render={
        <select>
          <option value="">{TEXTS.notSet}</option>
          <option value={BUILT_IN}>{T.builtIn}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      }
      value={value === null ? BUILT_IN : typeof value === 'string' ? value : ''}
      onChange={({ target }) => set(target.value === BUILT_IN ? null : target.value || undefined)}
    />
  );
}
