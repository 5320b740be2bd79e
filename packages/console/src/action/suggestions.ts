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

/** Changes, and reads of personal data, that need a permission. Sign-in needs none. */
const PERMITTED_OPERATIONS: readonly Suggestion[] = Object.entries(FORMS)
  .filter(([id]) => OPERATIONS[id as OperationId].permission !== undefined)
  .map(([value, form]) => ({ value, label: form.summary }));

export function useSuggestions(name: string): readonly Suggestion[] {
  const { platforms } = usePlatform();
  return name === 'operationId'
    ? PERMITTED_OPERATIONS
    : platforms.map(({ id, name: label }) => ({ value: id, label }));
}
