#!/usr/bin/env node
// Entry of the program `railhead`.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { COMPLETE_COMMAND, completionLines } from './complete.ts';
import { report } from './errors.ts';
import { Output } from './output/output.ts';
import { createProgram } from './program.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as {
  version: string;
};

/** `--json` also decides how errors are printed, before the command line is parsed. */
const isJson = (words: readonly string[]) => words.includes('--json');

async function main(words: readonly string[]): Promise<number> {
  const program = createProgram(words, version);
  try {
    if (words[0] === COMPLETE_COMMAND) {
      const lines = completionLines(program, words.slice(1));
      process.stdout.write(lines.map((each) => `${each}\n`).join(''));
    } else if (words.length === 0) program.outputHelp();
    else await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, new Output({ json: isJson(words) }));
  }
}

// The reader of a pipe, such as `head`, may exit first.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2));
