// Names of ledger accounts and of the steps of postings.
import { shortId } from './identifier.tsx';
import { statusText } from './status.tsx';

/** `system:sandbox:fx_position:USD` → `FX position`. An ID is shortened. */
export function accountName(id: string): string {
  const [kind, , purpose] = id.split(':');
  return kind === 'system' && purpose ? statusText(purpose.toUpperCase()) : shortId(id);
}

/** `fee.service!`, which ends a hold, → `Fee service`. */
export const stepText = (step: string): string =>
  statusText(step.replace(/!$/, '').replaceAll('.', '_').toUpperCase());
