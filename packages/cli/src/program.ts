// The tree of commands. The commands of a resource are created only if the command line contains
// its name, so that a start reads few files.
import { Command, Help, Option } from 'commander';
import { RESOURCES } from './api/metadata.ts';
import { apiCommand, resourceCommand } from './api/resources.ts';
import { completionCommand } from './complete.ts';
import { type CliError, usageError } from './exit.ts';
import { withExamples } from './help.ts';
import { listenCommand } from './listen/command.ts';
import { hasColors, stylesOf } from './output/style.ts';
import { profileCommands } from './profile/commands.ts';
import { closest } from './suggest.ts';
import { clockCommand } from './tools/clock.ts';
import { deliveriesCommand } from './tools/deliveries.ts';
import { doctorCommand } from './tools/doctor.ts';
import { eventsCommand } from './tools/events.ts';
import { logsCommand } from './tools/logs.ts';
import { openCommand } from './tools/open.ts';
import { fixturesCommand, resetCommand } from './tools/sandbox.ts';
import { triggerCommand } from './trigger/command.ts';

const WIDTH = 80;
const TERM_WIDTH = 28;

/** The names of all resources, as a paragraph. */
function resourceLines(): string {
  const lines: string[] = [''];
  for (const { name } of RESOURCES) {
    const line = `${lines.at(-1)}${lines.at(-1) ? ', ' : '  '}${name}`;
    if (line.length >= WIDTH) {
      lines[lines.length - 1] += ',';
      lines.push(`  ${name}`);
    } else lines[lines.length - 1] = line;
  }
  return lines.join('\n');
}

function helpStyle(): Partial<Help> {
  const { bold, dim } = stylesOf(hasColors(process.stdout));
  return {
    showGlobalOptions: true,
    styleTitle: (text) => bold(text),
    styleDescriptionText: (text) => dim(text),
    // Without choices and defaults, which the descriptions contain if there are few.
    optionDescription: (option) => option.description,
    subcommandDescription: (command) => command.summary() || command.description(),
    subcommandTerm: (command) =>
      [command.name(), ...command.registeredArguments.map((each) => `<${each.name()}>`)].join(' '),
    padWidth(command, help) {
      const { prototype } = Help;
      return Math.min(TERM_WIDTH, prototype.padWidth.call(this, command, help));
    },
    // The description of a long flag is below it.
    formatItem(term, termWidth, description, help) {
      const { prototype } = Help;
      const format = (text: string) =>
        prototype.formatItem.call(this, text, termWidth, description, help);
      if (help.displayWidth(term) <= termWidth) return format(term);
      return description ? `  ${term}\n${format('')}` : `  ${term}`;
    },
  };
}

function unknownCommand(word: string, commands: readonly Command[]): CliError {
  const suggestion = closest(
    word,
    commands.map((each) => each.name()),
  );
  const isShort = commands.length <= 8;
  const allNames = isShort
    ? `Commands: ${commands.map((each) => each.name()).join(', ')}.`
    : undefined;
  const hint = suggestion ? `Did you mean ${suggestion}?` : (allNames ?? 'Read `railhead --help`.');
  return usageError(`Unknown command '${word}'`, hint);
}

/** Throws for an unknown first word, for which `--help` would print the help of the program. */
export function assertKnownCommand({ commands }: Command, [word = '-']: readonly string[]): void {
  const isKnown = word.startsWith('-') || commands.some((each) => each.name() === word);
  if (!isKnown) throw unknownCommand(word, commands);
}

/** Rejects an unknown word after a command that can also run alone, such as `logs tial`. */
function rejectUnknown(command: Command): void {
  command.allowExcessArguments().hook('preAction', (_, calledCommand) => {
    const [word] = command.args;
    if (calledCommand !== command || word === undefined) return;
    throw unknownCommand(word, command.commands);
  });
}

const INVALID_CHOICE = /'(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/;

/** Lines of an error of the parser. */
function parserError(text: string): string[] {
  const [, word, argument, choices] = INVALID_CHOICE.exec(text.trimEnd()) ?? [];
  if (word === undefined || choices === undefined) return text.trimEnd().split('\n');
  const suggestion = closest(word, choices.split(', '));
  const hint = suggestion ? `Did you mean ${suggestion}?` : `Use one of ${choices}.`;
  return [`'${word}' is not a ${argument}.`, hint];
}

function configure(command: Command, isJson: boolean): void {
  const errorStyles = stylesOf(hasColors(process.stderr));
  if (command.parent && command.commands.length > 0) rejectUnknown(command);
  command
    .configureHelp(helpStyle())
    .configureOutput({
      outputError: (text, write) => {
        const [firstLine = '', ...hintLines] = parserError(text);
        const message = firstLine.replace(/^error: /, '');
        const hints = hintLines.map((each) => each.replace(/^\((Did you mean .*)\)$/, '$1'));
        const sentence = `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}`;
        if (isJson) {
          const [hint] = hints;
          const error = { code: 'USAGE', message: sentence, ...(hint && { hint }) };
          write(`${JSON.stringify({ error })}\n`);
          return;
        }
        write(`${[`${errorStyles.red('Error:')} ${sentence}`, ...hints].join('\n')}\n`);
      },
    })
    .helpOption('-h, --help', 'Show this help.')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .exitOverride();
  for (const each of command.commands) configure(each, isJson);
}

function addGlobalOptions(program: Command): void {
  program
    .option('--json', 'Print JSON.')
    .option(
      '--query <expression>',
      'Print the part of the JSON that a JMESPath expression selects.',
    )
    .option('--profile <name>', 'Use a stored profile, or local for the server in this folder.')
    .option('--base-url <url>', 'URL of the server. Default: the URL of the profile.')
    .addOption(new Option('--verbose', 'Print a line for each reply and each retry.'));
}

const GROUPS: readonly (readonly [title: string, commands: () => readonly Command[]])[] = [
  ['Start:', () => [...profileCommands(), doctorCommand(), openCommand()]],
  ['Webhooks:', () => [listenCommand(), triggerCommand(), eventsCommand(), deliveriesCommand()]],
  [
    'Requests and sandbox:',
    () => [logsCommand(), clockCommand(), fixturesCommand(), resetCommand()],
  ],
  ['More:', () => [apiCommand(RESOURCES), completionCommand()]],
];

/** `words` are the words of the command line. */
export function createProgram(words: readonly string[], version: string): Command {
  const program = new Command('railhead');
  program
    .description('Command line of the Railhead payments API.')
    .usage('COMMAND [OPTIONS]')
    .version(version, '--version', 'Show the version.');
  addGlobalOptions(program);
  for (const [title, commands] of GROUPS) {
    for (const each of commands()) program.addCommand(each.helpGroup(title));
  }
  for (const resource of RESOURCES) {
    const isNamed = words.includes(resource.name);
    const existingCommand = program.commands.find((each) => each.name() === resource.name);
    const command = resourceCommand(resource, isNamed, existingCommand);
    if (!existingCommand) program.addCommand(command, { hidden: true });
  }
  program.addHelpText(
    'after',
    `\nResources, each with commands such as create, get and list:\n${resourceLines()}`,
  );
  withExamples(
    program,
    'railhead customers create --customer-type INDIVIDUAL --full-name Ada',
    'railhead listen --forward-to localhost:3000/webhooks',
    'railhead trigger payout.returned',
    'railhead logs tail --failed',
  );
  // The parser suggests no hidden commands.
  program.on('command:*', ([word = '']: string[]) => {
    throw unknownCommand(word, program.commands);
  });
  configure(program, words.includes('--json'));
  return program;
}
