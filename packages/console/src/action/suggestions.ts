// Suggested values for form fields.
import { FORMS } from '../generated/forms.ts';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { usePlatform } from '../shell/platform.tsx';

/** Fields with suggestions. */
export const SUGGESTED: readonly string[] = ['platformId', 'operationId'];

interface Suggestion {
  value: string;
  label: string;
}

/** Changes that need a permission. Sign-in and changes of the current session need none. */
const CHANGES: readonly Suggestion[] = Object.entries(FORMS)
  .filter(([id]) => OPERATIONS[id as OperationId].permission !== undefined)
  .map(([value, form]) => ({ value, label: form.summary }));

export function useSuggestions(name: string): readonly Suggestion[] {
  const { platforms } = usePlatform();
  return name === 'operationId'
    ? CHANGES
    : platforms.map(({ id, name: label }) => ({ value: id, label }));
}
