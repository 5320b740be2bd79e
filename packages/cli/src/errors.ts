// Prints errors for people and for programs, with the remedy if there is one.
import { CommanderError } from 'commander';
import { CliError, EXIT, type ExitCode, Finished } from './exit.ts';
import type { Output } from './output/output.ts';
import type { RailheadError } from './sdk.ts';

interface ErrorView {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
  readonly fields?: RailheadError['fields'];
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
}

/** Remedies by error code. */
const HINTS: Readonly<Record<string, string>> = {
  UNAUTHORIZED:
    'Log in again with `railhead login`, or check the environment with `railhead doctor`.',
  FORBIDDEN: 'The token may lack a permission. `railhead doctor` lists its permissions.',
  CONNECTION_FAILED:
    'Is the server running, and is its URL correct? `railhead doctor` checks both.',
  TIMEOUT: 'The server did not reply in time. Repeat the command.',
  UNEXPECTED_RESPONSE: 'The URL may not belong to an API. Check it with `railhead doctor`.',
  INSUFFICIENT_FUNDS:
    'Fund the account: `railhead sandbox fund-internal-account ACCOUNT --amount 100000`.',
  QUOTE_EXPIRED: 'Create a new quote: `railhead quotes create`.',
  WEBHOOK_ENDPOINT_NOT_SET:
    'Set the endpoint that approves or rejects payments: ' +
    '`railhead config update --webhook-endpoint URL`.',
  RATE_LIMITED: 'Repeat the command a little later.',
};

function exitCodeOf({ status, code }: RailheadError): ExitCode {
  if (status === 401 || code === 'UNAUTHORIZED') return EXIT.credentials;
  if (code === 'CONNECTION_FAILED' || code === 'TIMEOUT') return EXIT.unreachable;
  return code === 'INVALID_CLIENT_INPUT' ? EXIT.usage : EXIT.failed;
}

function hintOf({ code, requestId, fields, operationId }: RailheadError): string | undefined {
  const hint = HINTS[code];
  if (hint) return hint;
  if (fields.length > 0) return undefined;
  const isRecord = operationId === 'getRequestById';
  return requestId && !isRecord ? `Details: railhead logs get ${requestId}` : undefined;
}

/** Whether the SDK reports the error: a reply of the API, or the failure of a call. */
export const isOfApi = (error: unknown): error is RailheadError =>
  error instanceof Error && error.name === 'RailheadError';

function viewOf(error: unknown): ErrorView {
  if (error instanceof CliError) {
    const { message, hint, exitCode } = error;
    return { exitCode, code: exitCode === EXIT.usage ? 'USAGE' : 'FAILED', message, hint };
  }
  if (isOfApi(error)) {
    const { code, reason, fields, requestId, status } = error;
    const hint = hintOf(error);
    return { exitCode: exitCodeOf(error), code, message: reason, fields, hint, requestId, status };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, code: 'INTERNAL_ERROR', message };
}

/** Reports an error on standard error and returns the exit code. */
export function report(error: unknown, output: Output): ExitCode {
  if (error instanceof Finished) return error.exitCode;
  // The parser has already printed its errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { exitCode, ...report } = viewOf(error);
  if (output.isJson) {
    output.note(JSON.stringify({ error: report }));
    return exitCode;
  }
  const { red, dim } = output.noteStyles;
  const code = /^(USAGE|FAILED|INTERNAL_ERROR)$/.test(report.code) ? '' : ` (${report.code})`;
  output.note(`${red('Error:')} ${report.message}${code}`);
  for (const { field, message } of report.fields ?? [])
    output.note(`  ${field || 'body'}: ${message}`);
  if (report.hint) output.note(report.hint);
  if (report.requestId && !report.hint?.includes(report.requestId))
    output.note(dim(`Request ${report.requestId}`));
  return exitCode;
}
