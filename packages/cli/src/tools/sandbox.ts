// The commands `fixtures` and `reset`: fill and empty a sandbox platform.
import { readFileSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { WORLDS } from '../api/metadata.ts';
import { CliError, usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { withProgress } from '../output/progress.ts';
import { columnOf } from '../output/table.ts';
import { isObject } from '../output/values.ts';
import { confirm, isInteractive } from '../profile/ask.ts';
import { outputOf, sessionOf } from '../session.ts';
import { closest } from '../suggest.ts';

function readWorld(name: string): object {
  if (!statSync(name, { throwIfNoEntry: false })?.isFile()) {
    if (WORLDS[name]) return { world: name };
    const suggestion = closest(name, Object.keys(WORLDS));
    const hint = suggestion
      ? `Did you mean ${suggestion}?`
      : 'List the worlds with `railhead fixtures list`.';
    throw usageError(`${name} is neither a file nor a built-in world.`, hint);
  }
  try {
    const value: unknown = JSON.parse(readFileSync(name, 'utf8'));
    return Array.isArray(value) ? { steps: value } : (value as object);
  } catch (error) {
    throw usageError(`${name} cannot be read: ${(error as Error).message}`);
  }
}

const idOf = (value: unknown): string => {
  if (!isObject(value)) return '';
  if (Array.isArray(value.data)) return value.data.map(idOf).join(', ');
  const { id } = isObject(value.agent) ? value.agent : value;
  return typeof id === 'string' ? id : '';
};

function loadCommand(): Command {
  const command = new Command('load')
    .summary('Build a built-in world, or a world in a file.')
    .description(
      'Builds a world, which is a list of API calls that create customers, accounts and payments. ' +
        'Prints the IDs of the named resources. A file contains the JSON body of ' +
        'createSandboxFixtures, or only the list of its steps.',
    )
    .argument('<world>', `A file, or one of ${Object.keys(WORLDS).join(', ')}.`)
    .option(
      '--seed <text>',
      'Seed of the IDs. The same seed creates the same IDs after each reset.',
    );
  withExamples(
    command,
    'railhead fixtures load starter',
    'railhead fixtures load world.json --seed tests',
  );
  return command.action(async (name: string, { seed }: { seed?: string }) => {
    const body = { ...readWorld(name), ...(seed !== undefined && { seed }) };
    const session = await sessionOf(command);
    const { output, client } = session;
    const call = client.sandbox.createSandboxFixtures(body, { timeout: 120_000 });
    const world = await withProgress('Building the world …', call);
    const resources = Object.entries(world.resources);
    await output.result(world, () => [
      world.steps === 0
        ? 'The server builds the world. It is complete when `railhead clock` shows the current time.'
        : `${world.steps} calls executed.`,
      ...output.table([
        columnOf(
          'name',
          resources.map(([each]) => each),
        ),
        columnOf(
          'id',
          resources.map(([, value]) => idOf(value)),
        ),
      ]),
    ]);
  });
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('List the built-in worlds.')
    .description('Lists the built-in worlds. A world is a list of API calls that fill a platform.');
  withExamples(command, 'railhead fixtures list');
  return command.action(async () => {
    const output = outputOf(command);
    const data = Object.entries(WORLDS).map(([name, content]) => ({ name, content }));
    await output.result({ data }, () => output.list(data));
  });
}

export function fixturesCommand(): Command {
  const command = new Command('fixtures')
    .summary('Fill a sandbox platform with customers and payments.')
    .description('Fills a sandbox platform with customers, accounts and payments.')
    .addCommand(loadCommand())
    .addCommand(listCommand());
  return withExamples(command, 'railhead fixtures list', 'railhead fixtures load starter');
}

export function resetCommand(): Command {
  const command = new Command('reset')
    .summary('Empty a sandbox platform.')
    .description(
      'Removes the customers, accounts, payments, cards, agents and events of the sandbox ' +
        'platform permanently. Configuration and tokens remain. The clock follows real time ' +
        'again.',
    )
    .option('--yes', 'Skip the confirmation.')
    .option(
      '--including <list>',
      'Also reset configuration, tokens, or both, separated by a comma.',
    );
  withExamples(command, 'railhead reset', 'railhead reset --yes --including configuration');
  return command.action(async (flags: { yes?: boolean; including?: string }) => {
    const { output, client, target } = await sessionOf(command);
    if (!flags.yes) {
      if (!isInteractive()) throw usageError('--yes is required without a terminal.');
      if (!(await confirm(`Remove all data of the platform at ${target.url}?`))) {
        throw new CliError('Nothing was removed.');
      }
    }
    const including = flags.including?.split(',').map((each) => each.trim().toUpperCase());
    const body = including ? { including: including as ('CONFIGURATION' | 'TOKENS')[] } : {};
    const reply = await withProgress('Removing …', client.sandbox.resetSandbox(body));
    const { customers, transactions, events } = reply.removed;
    await output.result(reply, () => [
      `Removed ${customers} customers, ${transactions} transactions and ${events} events.`,
    ]);
  });
}
