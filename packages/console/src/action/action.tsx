// An operation that changes something, as a button that opens its form. The form is loaded when it is
// first needed.
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { usePermits } from '../api/session.tsx';
import type { OperationId } from '../generated/operations.ts';
import type { Values } from './schema.ts';

export interface Action {
  id: OperationId;
  label: string;
  path?: Readonly<Record<string, string>>;
  /** Values of the form at first. */
  initial?: Values;
  /** Fields that the screen sets; the form shows them without an input. */
  fixed?: Values;
  /** What the change is about, as it is now. */
  about?: ReactNode;
  isDangerous?: boolean;
  isPrimary?: boolean;
  onDone?(reply: unknown): void;
}

const ActionDialog = lazy(() =>
  import('./action-dialog.tsx').then((each) => ({ default: each.ActionDialog })),
);

export function ActionButton(action: Action) {
  const permits = usePermits();
  const [isOpen, open] = useState(false);
  if (!permits(action.id)) return null;
  const kind = action.isDangerous ? 'dangerous' : action.isPrimary ? 'primary' : '';
  return (
    <>
      <button type="button" className={`button ${kind}`} onClick={() => open(true)}>
        {action.label}
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <ActionDialog action={action} close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}

export const ActionButtons = ({ actions }: { actions: readonly Action[] }) =>
  actions.map((action) => <ActionButton key={`${action.id} ${action.label}`} {...action} />);
