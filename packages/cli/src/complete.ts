// Completion for bash, zsh and fish. The scripts only pass the words to the program. The candidates
// are derived from the commands of the program.
import { Argument, Command, type Option } from 'commander';
import { EVENT_TYPES, OPERATION_IDS, WORLDS } from './api/metadata.ts';
import { exampleNamesOf } from './api/resources.ts';
import { withExamples } from './help.ts';
import { readConfig } from './profile/config.ts';
import { LOCAL } from './profile/resolve.ts';
import { SCENARIOS } from './trigger/command.ts';

/** The first word with which the scripts call the program. */
export const COMPLETE_COMMAND = '__complete';

// The line is split only at blanks and never evaluated. COMP_WORDS is also split at `:` and `=`.
const BASH = `_railhead() {
  local line="\${COMP_LINE:0:COMP_POINT}" words IFS=$' \\t\\n'
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=('') ;; esac
  IFS=$'\\n'
  COMPREPLY=($(railhead ${COMPLETE_COMMAND} bash "\${words[@]:1}" 2> /dev/null))
}
complete -o default -F _railhead railhead
`;

const ZSH = `#compdef railhead
_railhead() {
  local -a lines
  lines=("\${(@f)$(railhead ${COMPLETE_COMMAND} zsh "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [ -n "$lines[1]" ]; then _describe railhead lines; else _files; fi
}
compdef _railhead railhead
`;

const FISH = `function __railhead_complete
  railhead ${COMPLETE_COMMAND} fish (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null
end
complete -c railhead -f -a '(__railhead_complete)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

interface Candidate {
  readonly value: string;
  readonly text: string;
}

/**
 * Values that the parser does not check, because commas can separate several values, or because
 * other values are allowed.
 */
const VALUES: Readonly<Record<string, (command: Command) => readonly string[]>> = {
  example: exampleNamesOf,
  events: () => EVENT_TYPES,
  profile: () => [LOCAL, ...Object.keys(readConfig().profiles)],
};

const candidatesOf = (values: readonly string[]): Candidate[] =>
  values.map((value) => ({ value, text: '' }));

function valuesOf(command: Command, option: Option, cursor: string): Candidate[] {
  const values = VALUES[option.attributeName()]?.(command) ?? option.argChoices ?? [];
  const prefix = /^(.*,)[^,]*$/.exec(cursor)?.[1] ?? '';
  return candidatesOf(values.map((each) => prefix + each));
}

/** A command and its parent commands, whose options it also accepts. */
function chainOf(command: Command): Command[] {
  return command.parent ? [command, ...chainOf(command.parent)] : [command];
}

const optionsOf = (command: Command): Option[] =>
  chainOf(command).flatMap(({ options }) => options);

/**
 * The target of the words before the cursor: a command, an option that takes a value, or an
 * argument.
 */
function findPosition(program: Command, words: readonly string[]) {
  let command = program;
  let option: Option | undefined;
  let position = 0;
  for (const word of words) {
    const isValue = option?.required || (option && !word.startsWith('-'));
    if (isValue) option = undefined;
    else if (word.startsWith('-')) {
      const matchingOption = optionsOf(command).find(
        (each) => each.long === word || each.short === word,
      );
      option = matchingOption?.required || matchingOption?.optional ? matchingOption : undefined;
    } else {
      const subcommand = command.commands.find((each) => each.name() === word);
      if (subcommand) [command, position] = [subcommand, 0];
      else position++;
    }
  }
  return { command, option, position };
}

function argumentValues(command: Command, position: number): Candidate[] {
  if (command.name() === 'trigger') {
    return SCENARIOS.map(({ name, summary }) => ({ value: name, text: summary }));
  }
  if (command.name() === 'api') return candidatesOf(position === 0 ? OPERATION_IDS : []);
  if (command.name() === 'load') {
    return Object.entries(WORLDS).map(([value, text]) => ({ value, text }));
  }
  return candidatesOf(command.registeredArguments[position]?.argChoices ?? []);
}

/** Candidates for the last word. */
function findCandidates(program: Command, words: readonly string[]): Candidate[] {
  const cursor = words.at(-1) ?? '';
  const { command, option, position } = findPosition(program, words.slice(0, -1));
  const allCandidates = () => {
    const isOption = cursor.startsWith('-') && !option?.required;
    if (option && !isOption) return valuesOf(command, option, cursor);
    if (cursor.startsWith('-')) {
      return optionsOf(command).map(({ long: flag, description }) => ({
        value: flag ?? '',
        text: description,
      }));
    }
    const commands = command.commands.map((each) => ({
      value: each.name(),
      text: each.summary() || each.description(),
    }));
    return [...commands, ...argumentValues(command, position)];
  };
  return allCandidates().filter(({ value }) => value !== '' && value.startsWith(cursor));
}

const FORMATS: Readonly<Record<string, (candidate: Candidate) => string>> = {
  bash: ({ value }) => value,
  zsh: ({ value, text }) => `${value.replaceAll(':', '\\:')}:${text}`,
  fish: ({ value, text }) => `${value}\t${text}`,
};

/** Lines of candidates for a shell. `words` are its name and the words of its command line. */
export function completionLines(program: Command, words: readonly string[]): string[] {
  const [shell = '', ...line] = words;
  const format = FORMATS[shell] ?? FORMATS.fish;
  const firstLine = (text: string) => text.split('\n')[0] ?? '';
  return findCandidates(program, line).map(
    ({ value, text }) => format?.({ value, text: firstLine(text) }) ?? value,
  );
}

export function completionCommand(): Command {
  const command = new Command('completion')
    .summary('Print the completion script of a shell.')
    .description('Prints a script that completes commands, flags and known values in a shell.')
    .addArgument(
      new Argument('<shell>', 'Shell that runs the script.').choices(Object.keys(SCRIPTS)),
    );
  withExamples(
    command,
    'source <(railhead completion bash)     # in ~/.bashrc',
    'source <(railhead completion zsh)      # in ~/.zshrc, after compinit',
    'railhead completion fish > ~/.config/fish/completions/railhead.fish',
  );
  return command.action((shell: string) => {
    process.stdout.write(SCRIPTS[shell] ?? '');
  });
}
