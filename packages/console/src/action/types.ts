// An operation that an operator can start from a screen.
import type { ReactNode } from 'react';
import type { OperationId } from '../generated/operations.ts';
import type { Values } from './schema.ts';

/** The actions that a state allows, from a table of states. */
export const actionsIn = <A>(
  table: Readonly<Record<string, readonly A[]>>,
  state: string | null | undefined,
): readonly A[] => (state && table[state]) || [];

export interface Action {
  id: OperationId;
  label: string;
  /** Accessible name of the button if several have the same label. */
  accessibleLabel?: string;
  /** Fields of the reply that the result shows. All by default. */
  shownFields?: readonly string[];
  /** Information that the reply does not contain. */
  doneText?: string;
  /** Platform of the changed resource, for choices of the form. */
  platformId?: string | undefined;
  path?: Readonly<Record<string, string>>;
  /** Initial values of the form. */
  initialValues?: Values;
  /** Current values. The form shows them and sends only changed and required values. */
  current?: Values;
  /** Fields that the screen sets. The form shows them without an input. */
  fixedFields?: Values;
  /** Fields that the screen sets and describes in `description`. */
  describedFields?: Values;
  /** Current data of the changed resource. */
  description?: ReactNode;
  isDangerous?: boolean;
  isPrimary?: boolean;
  onDone?(reply: unknown): void;
  /** Label of the button after the change, if `onDone` opens another page. */
  doneLabel?: string;
}
