// Types of the operator's command: the definition of a verb, its output, and the installation that
// it uses.

import type { Operator } from '../../kernel/caller.ts';
import type { Installation } from '../../operator-api/installation.ts';
import type { RotationDeps } from '../../runtime/security/data-key-rotation.ts';
import type { CommandArgs, Flags } from './flags.ts';

/** The installation that a command uses. */
export interface System extends Installation {
  /** The user of the machine, as the actor of audit records. */
  operator?: Operator;
  /** Creates missing signing keys. Rejects a master key that does not open the published keys. */
  checkMasterKey?(): Promise<void>;
  /** The keys of the installation, for their rotation. */
  keys?: Omit<RotationDeps, 'runtime'>;
}

/** Output of a verb, for programs and for people. */
export interface Output {
  json: unknown;
  text: string;
  /** Printed instead of `json` and `text`, in chunks, as fast as the output is consumed. */
  chunks?: AsyncIterable<string>;
  /** Whether the chunks are one JSON value or JSON lines. If not, they are CSV or plain lines. */
  isJson?: boolean;
  /** Whether the output reports a failure, for which the exit code is 1. */
  hasFailed?: boolean;
}

export interface Verb {
  noun: string;
  verb: string;
  summary: string;
  flags: Flags;
  /** Name of the flag that a positional argument sets. */
  positional?: string;
  /** Prints CSV only, so that its help does not list `--json`. */
  isCsv?: boolean;
  run(system: System, args: CommandArgs): Promise<Output>;
}
