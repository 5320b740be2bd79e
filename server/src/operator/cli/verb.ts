// The definition of a verb of the operator's command, and its context.

import type { FundingOf } from '../../bootstrap.ts';
import type { Connectors } from '../../connectors/ports/index.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { RowStream } from '../../runtime/db/stream.ts';
import type { Files } from '../../runtime/files/files.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { CommandArgs, Flags } from './flags.ts';

/** The installation that a command uses. */
export interface System {
  runtime: Runtime;
  /** Clients' files, in the installation's storage. */
  files: Files;
  connectorsOf(environment: Mode): Connectors;
  fundingOf: FundingOf;
  /** Waiting period of an account recovery; undefined: disabled. */
  walletRecoveryMs: number | undefined;
  /**
   * Rows of one statement and one snapshot, in chunks, for output that does not fit into memory.
   */
  stream: RowStream;
  /** Called only by verbs that seal data; throws an error of one line if no key is set. */
  masterKey(): Uint8Array;
}

/** Output of a verb, for programs and for people. */
export interface Output {
  json: unknown;
  text: string;
  /** Printed instead of both, in chunks, as fast as it is consumed. */
  pieces?: AsyncIterable<string>;
  /** The chunks are one JSON value; otherwise CSV. */
  isJson?: boolean;
  /** The output reports a failure. */
  failed?: boolean;
}

export interface Verb {
  noun: string;
  verb: string;
  summary: string;
  flags: Flags;
  /** The flag of an argument without a dash. */
  bare?: string;
  run(system: System, args: CommandArgs): Promise<Output>;
}
