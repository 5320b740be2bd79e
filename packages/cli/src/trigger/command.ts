// `trigger`: named stories of real calls and the clock.
import { Argument, Command } from 'commander';
import { usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { outputOf, sessionOf } from '../session.ts';
import { closest } from '../suggest.ts';
import { AGENT_STORIES, CARD_STORIES } from './cards.ts';
import { PAYMENT_STORIES } from './payments.ts';
import { runStory } from './run.ts';
import { overridden, overrideOf } from './step.ts';

export const STORIES = [...PAYMENT_STORIES, ...CARD_STORIES, ...AGENT_STORIES];

interface TriggerFlags {
  readonly list?: boolean;
  readonly override: readonly string[];
}

async function list(command: Command): Promise<void> {
  const output = outputOf(command);
  const data = STORIES.map(({ name, summary, steps }) => ({
    name,
    summary,
    steps: steps().flatMap((step) => ('advance' in step ? [] : [step.name])),
  }));
  const storyList = data.map(({ name, summary }) => ({ name, summary }));
  await output.result({ data }, () => output.list(storyList));
}

export function triggerCommand(): Command {
  const names = STORIES.map(({ name }) => name);
  const command = new Command('trigger')
    .summary('Run a story in a sandbox, such as a returned payout.')
    .description(
      'Runs a story: API calls that create customers, accounts and payments, and that move the ' +
        'clock of the sandbox platform. It emits the events of these calls. --override replaces ' +
        'a value of a step: its name, the path in the parameters and body of the call, and the ' +
        'value.',
    )
    .addArgument(new Argument('[story]', 'Name of a story.'))
    .option('--list', 'List the stories.')
    .option(
      '--override <step.path=value>',
      'Replace a value; can be repeated.',
      (text: string, previousOverrides: readonly string[]) => [...previousOverrides, text],
      [] as readonly string[],
    );
  withExamples(
    command,
    'railhead trigger --list',
    'railhead trigger payout.completed',
    'railhead trigger payout.returned --override quote.lockedCurrencyAmount=5000',
    "railhead trigger card.declined --override 'customer.fullName=Grace Hopper'",
  );
  return command.action(async (name: string | undefined, flags: TriggerFlags) => {
    if (flags.list) return list(command);
    if (name === undefined)
      throw usageError('Name a story.', 'List them with `railhead trigger --list`.');
    const story = STORIES.find((each) => each.name === name);
    if (!story) {
      const near = closest(name, names);
      const hint = near ? `Did you mean ${near}?` : 'List them with `railhead trigger --list`.';
      throw usageError(`There is no story ${name}.`, hint);
    }
    const steps = overridden(story.steps(), flags.override.map(overrideOf));
    await runStory(await sessionOf(command), story, steps);
  });
}
