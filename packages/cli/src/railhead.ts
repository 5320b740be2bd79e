#!/usr/bin/env node
// Entry of the program `railhead`.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { COMPLETE_COMMAND, completionLines } from './complete.ts';
import { report } from './errors.ts';
import { Output } from './output/output.ts';
import { assertKnownCommand, createProgram } from './program.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as {
  version: string;
};

/** `--json` also decides how errors are printed, before the command line is parsed. */
const isJson = (args: readonly string[]) => args.includes('--json');

async function main(args: readonly string[]): Promise<number> {
  const [firstArgument, ...subject] = args;
  const orderedArgs = firstArgument === 'help' ? [...subject, '--help'] : args;
  const program = createProgram(orderedArgs, version);
  try {
    if (orderedArgs[0] === COMPLETE_COMMAND) {
      const lines = completionLines(program, orderedArgs.slice(1));
      process.stdout.write(lines.map((each) => `${each}\n`).join(''));
    } else if (orderedArgs.length === 0) program.outputHelp();
    else {
      assertKnownCommand(program, orderedArgs);
      await program.parseAsync(orderedArgs, { from: 'user' });
    }
    return 0;
  } catch (error) {
    return report(error, new Output({ json: isJson(orderedArgs) }));
  }
}

// The reader of a pipe, such as `head`, may exit first.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2));
