// An operation that changes something, as a button that opens its form. The form is loaded when it is
// first needed, and remains when the change removes its button.
import { createContext, lazy, type ReactNode, Suspense, use, useState } from 'react';
import { usePermits } from '../api/session.tsx';
import { useWaiting, WaitingLink } from '../parts/waiting.tsx';
import type { Action } from './types.ts';

const ActionDialog = lazy(() =>
  import('./action-dialog.tsx').then((each) => ({ default: each.ActionDialog })),
);

const OpenContext = createContext<(action: Action) => void>(() => undefined);

/** Shows the form that a button below it opens. */
export function ActionHost({ children }: { children: ReactNode }) {
  const [action, open] = useState<Action>();
  return (
    <OpenContext value={open}>
      {children}
      {action && (
        <Suspense fallback={null}>
          <ActionDialog action={action} close={() => open(undefined)} />
        </Suspense>
      )}
    </OpenContext>
  );
}

/** Each request of these is another change, although all of them are about the same resource. */
const REPEATED: readonly string[] = ['createPlatformToken'];

/** A change that waits for an approval is a link to it, for everyone who may read approvals. */
export function ActionButton(action: Action) {
  const permits = usePermits();
  const open = use(OpenContext);
  const waiting = useWaiting(action.id, Object.values(action.path ?? {}).at(-1));
  if (waiting && !REPEATED.includes(action.id))
    return <WaitingLink id={waiting.id} label={action.label} />;
  if (!permits(action.id)) return null;
  const kind = action.isDangerous ? 'dangerous' : action.isPrimary ? 'primary' : '';
  return (
    <button
      type="button"
      className={`button ${kind}`}
      aria-label={action.accessibleLabel}
      onClick={() => open(action)}
    >
      {action.label}
    </button>
  );
}

export const ActionButtons = ({ actions }: { actions: readonly Action[] }) =>
  actions.map((action) => <ActionButton key={`${action.id} ${action.label}`} {...action} />);
