// Texts below the help of commands.
import type { Command } from 'commander';

export const withExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', ['', 'Examples:', ...lines.map((each) => `  ${each}`)].join('\n'));
