// Error output as text and as JSON, and the exit code of each error.
import { expect, it, vi } from 'vitest';
import { report } from './errors.ts';
import { CliError, EXIT, Finished, usageError } from './exit.ts';
import { Output } from './output/output.ts';
import { RailheadError } from './sdk.ts';

function reportOf(error: unknown, json = false) {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const code = report(error, new Output({ json }));
    return { code, text: write.mock.calls.map(([text]) => String(text)).join('') };
  } finally {
    write.mockRestore();
  }
}

it.each([
  [usageError('No.', 'Do this.'), EXIT.usage, 'Error: No.\nDo this.\n'],
  [new CliError('No.', { exitCode: EXIT.credentials }), EXIT.credentials, 'Error: No.\n'],
  [new Error('no'), EXIT.failed, 'Error: no\n'],
  [new Finished(), EXIT.ok, ''],
  [
    new RailheadError({ code: 'CONNECTION_FAILED', reason: 'The server cannot be reached.' }),
    EXIT.unreachable,
    'Error: The server cannot be reached. (CONNECTION_FAILED)\nIs the server running, and is ' +
      'its URL correct? `railhead doctor` checks both.\n',
  ],
])('the report of %s has its exit code and text', (error, code, text) => {
  expect(reportOf(error)).toEqual({ code, text });
});

it('the report is JSON for programs', () => {
  const { text } = reportOf(usageError('No.'), true);
  expect(JSON.parse(text)).toEqual({ error: { code: 'USAGE', message: 'No.' } });
});
