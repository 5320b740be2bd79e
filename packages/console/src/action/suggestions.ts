// Values that a form suggests for a field.
import { FORMS } from '../generated/forms.ts';
import { usePlatform } from '../shell/platform.tsx';

/** Fields with suggestions. */
export const SUGGESTED: readonly string[] = ['platformId', 'operationId'];

interface Suggestion {
  value: string;
  label: string;
}

const OPERATIONS: readonly Suggestion[] = Object.entries(FORMS).map(([value, form]) => ({
  value,
  label: form.summary,
}));

export function useSuggestions(name: string): readonly Suggestion[] {
  const { platforms } = usePlatform();
  return name === 'operationId'
    ? OPERATIONS
    : platforms.map(({ id, name: label }) => ({ value: id, label }));
}
