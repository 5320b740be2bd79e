// The shape of a verb of the operator's command, and what it is given to work with.

import type { FundingOf } from '../../bootstrap.ts';
import type { Connectors } from '../../connectors/ports/index.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { RowStream } from '../../runtime/db/stream.ts';
import type { Files } from '../../runtime/files/files.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { CommandArgs, Flags } from './flags.ts';

/** The installation that a command works on. */
export interface System {
  runtime: Runtime;
  /** What clients sent, in the installation's storage. */
  files: Files;
  connectorsOf(environment: Mode): Connectors;
  fundingOf: FundingOf;
  /** How long a user without credentials waits for a way back; undefined: there is none. */
  walletRecoveryMs: number | undefined;
  /** Rows of one statement and one moment, in pieces, for answers that do not fit into memory. */
  stream: RowStream;
  /** Only verbs that seal something ask; throws one plain line where none is set. */
  masterKey(): Uint8Array;
}

/** What a verb answers, twice: for programs and for people. */
export interface Output {
  json: unknown;
  text: string;
  /** Printed instead of both, piece by piece, as fast as it is taken. */
  pieces?: AsyncIterable<string>;
  /** The pieces are one JSON value, and CSV otherwise. */
  isJson?: boolean;
  /** The answer is that something is wrong. */
  failed?: boolean;
}

export interface Verb {
  noun: string;
  verb: string;
  summary: string;
  flags: Flags;
  /** The flag that a word without a dash stands for. */
  bare?: string;
  run(system: System, args: CommandArgs): Promise<Output>;
}
