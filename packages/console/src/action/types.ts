// An operation that an operator can start from a screen.
import type { ReactNode } from 'react';
import type { OperationId } from '../generated/operations.ts';
import type { Values } from './schema.ts';

export interface Action {
  id: OperationId;
  label: string;
  /** Name of the button if several have the same label. */
  accessibleLabel?: string;
  /** What the reply does not say. */
  doneText?: string;
  path?: Readonly<Record<string, string>>;
  /** Initial values of the form. */
  initial?: Values;
  /** Present values: the form shows them, and sends only what differs. */
  current?: Values;
  /** Fields that the screen sets; the form shows them without an input. */
  fixed?: Values;
  /** Current data of the changed resource. */
  about?: ReactNode;
  isDangerous?: boolean;
  isPrimary?: boolean;
  onDone?(reply: unknown): void;
  /** Label of the button after the change, if `onDone` opens another page. */
  doneLabel?: string;
}
