// An operation that an operator can start from a screen.
import type { ReactNode } from 'react';
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
