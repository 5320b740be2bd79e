// An operation that changes something, as a button that opens its form. The form is loaded when it is
// first needed.
import { lazy, Suspense, useState } from 'react';
import { usePermits } from '../api/session.tsx';
import type { Action } from './types.ts';

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
