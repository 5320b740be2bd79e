// The command `trigger`: runs a named scenario of API calls and clock changes on a sandbox
// platform.
import { Argument, Command } from 'commander';
import { usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { outputOf, sessionOf } from '../session.ts';
import { closest } from '../suggest.ts';
import { AGENT_SCENARIOS, CARD_SCENARIOS } from './cards.ts';
import { PAYMENT_SCENARIOS } from './payments.ts';
import { runScenario } from './run.ts';
import { applyOverrides, overrideOf } from './step.ts';

export const SCENARIOS = [...PAYMENT_SCENARIOS, ...CARD_SCENARIOS, ...AGENT_SCENARIOS];

interface TriggerFlags {
  readonly list?: boolean;
  readonly override: readonly string[];
}

async function list(command: Command): Promise<void> {
  const output = outputOf(command);
  const data = SCENARIOS.map(({ name, summary, steps }) => ({
    name,
    summary,
    steps: steps().flatMap((step) => ('advance' in step ? [] : [step.name])),
  }));
  const scenarioList = data.map(({ name, summary }) => ({ name, summary }));
  await output.result({ data }, () => output.list(scenarioList));
}

export function triggerCommand(): Command {
  const names = SCENARIOS.map(({ name }) => name);
  const command = new Command('trigger')
    .summary('Run a scenario in a sandbox, such as a returned payout.')
    .description(
      'Runs a scenario: API calls that create customers, accounts and payments, and that advance the ' +
        'clock of the sandbox platform. These calls emit their events. --override replaces ' +
        'a value in the parameters or the body of a step.',
    )
    .addArgument(new Argument('[scenario]', 'Name of a scenario.'))
    .option('--list', 'List the scenarios.')
    .option(
      '--override <step.path=value>',
      'Replace the value at the path in a step. Can be repeated.',
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
      throw usageError(
        'A scenario is required.',
        'List the scenarios with `railhead trigger --list`.',
      );
    const scenario = SCENARIOS.find((each) => each.name === name);
    if (!scenario) {
      const suggestion = closest(name, names);
      const hint = suggestion
        ? `Did you mean ${suggestion}?`
        : 'List the scenarios with `railhead trigger --list`.';
      throw usageError(`There is no scenario ${name}.`, hint);
    }
    const steps = applyOverrides(scenario.steps(), flags.override.map(overrideOf));
    await runScenario(await sessionOf(command), scenario, steps);
  });
}
