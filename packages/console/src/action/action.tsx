// A button that opens the form of an operation. The form is loaded on first use, and stays open when the
// change removes its button.
import { createContext, lazy, type ReactNode, Suspense, use, useState } from 'react';
import { usePermits } from '../api/session.tsx';
import { ApprovalLink, usePendingApproval } from '../parts/pending-approvals.tsx';
import type { Action } from './types.ts';

const ActionDialog = lazy(() =>
  import('./action-dialog.tsx').then((each) => ({ default: each.ActionDialog })),
);

const OpenContext = createContext<(action: Action) => void>(() => undefined);

/** Shows the form that a descendant button opens. */
export function ActionHost({ children }: { children: ReactNode }) {
  const [action, openAction] = useState<Action>();
  return (
    <OpenContext value={openAction}>
      {children}
      {action && (
        <Suspense fallback={null}>
          <ActionDialog action={action} close={() => openAction(undefined)} />
        </Suspense>
      )}
    </OpenContext>
  );
}

/** Operations of which each request is a separate change, even of the same resource. */
const REPEATABLE_OPERATIONS: readonly string[] = ['createPlatformToken'];

/**
 * While an approval is pending, a link to it replaces the button for users who may read approvals.
 * The button of a repeatable operation remains.
 */
export function ActionButton(action: Action) {
  const permits = usePermits();
  const openAction = use(OpenContext);
  const pendingApproval = usePendingApproval(action.id, Object.values(action.path ?? {}).at(-1));
  if (pendingApproval && !REPEATABLE_OPERATIONS.includes(action.id))
    return <ApprovalLink id={pendingApproval.id} label={action.label} />;
  if (!permits(action.id)) return null;
  const kind = action.isDangerous ? 'dangerous' : action.isPrimary ? 'primary' : '';
  return (
    <button
      type="button"
      className={`button ${kind}`}
      aria-label={action.accessibleLabel}
      onClick={() => openAction(action)}
    >
      {action.label}
    </button>
  );
}

export const ActionButtons = ({ actions }: { actions: readonly Action[] }) =>
  actions.map((action) => <ActionButton key={`${action.id} ${action.label}`} {...action} />);
