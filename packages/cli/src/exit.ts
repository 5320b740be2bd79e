// Exit codes and errors of this program. The message states the problem, and the hint states the
// remedy.
export const EXIT = {
  ok: 0,
  /** The API rejected a request, a check failed, or another error occurred. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** Credentials are absent or rejected. */
  credentials: 3,
  /** The server cannot be reached. */
  unreachable: 4,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(message: string, { exitCode, hint }: { exitCode?: ExitCode; hint?: string } = {}) {
    super(message);
    this.exitCode = exitCode ?? EXIT.failed;
    this.hint = hint;
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError(message, { exitCode: EXIT.usage, ...(hint !== undefined && { hint }) });

/** Ends the program without an error message, such as after `--example`. */
export class Finished extends Error {
  override readonly name = 'Finished';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode = EXIT.ok) {
    super('finished');
    this.exitCode = exitCode;
  }
}
