// The command `clock`: shows and changes the clock of a sandbox platform.
import { Command } from 'commander';
import { withExamples } from '../help.ts';
import { withProgress } from '../output/progress.ts';
import { shortText } from '../output/values.ts';
import type { Output as Reply } from '../sdk.ts';
import { type Session, sessionOf } from '../session.ts';
import { isoDuration } from './duration.ts';

type Clock = Reply<'getSandboxClock'>;
type Change = NonNullable<Parameters<Session['client']['sandbox']['updateSandboxClock']>[0]>;

/** Repeats a change that exceeds one request until the clock has reached its target. */
export async function advanceClock(session: Session, change: Change): Promise<Clock> {
  let now = '';
  let processedCount = 0;
  const advance = async () => {
    let nextChange: Change = change;
    for (;;) {
      const clock = await session.client.sandbox.updateSandboxClock(nextChange, {
        timeout: 60_000,
      });
      now = clock.currentTime;
      processedCount += clock.processed ?? 0;
      if (clock.target === undefined) return { ...clock, processed: processedCount };
      nextChange = {
        ...(change.freeze !== undefined && { freeze: change.freeze }),
        to: clock.target,
      };
    }
  };
  const text = () => `Advancing the clock${now && `, now at ${shortText(now)}`} …`;
  return withProgress(text, advance());
}

const linesOf = ({ currentTime, frozen, processed }: Clock) => [
  `${shortText(currentTime)} UTC, ${frozen ? 'frozen' : 'ticking'}` +
    (processed === undefined
      ? ''
      : `. ${processed} due ${processed === 1 ? 'step' : 'steps'} executed.`),
];

async function show(command: Command, read: (session: Session) => Promise<Clock>): Promise<void> {
  const session = await sessionOf(command);
  const clock = await read(session);
  await session.output.result(clock, () => linesOf(clock));
}

export function clockCommand(): Command {
  const command = new Command('clock')
    .summary('Show or change the clock of a sandbox platform.')
    .description(
      'Shows the clock of the sandbox platform. Advancing the clock executes all work that becomes ' +
        'due. For example, payments complete or are returned, and quotes expire.',
    );
  withExamples(
    command,
    'railhead clock',
    'railhead clock advance 2d',
    'railhead clock set 2027-01-04T09:00:00Z --freeze',
  );
  const clockVerb = (name: string, summary: string, argument?: [string, string]) => {
    const subcommand = new Command(name).summary(summary).description(summary);
    if (argument) {
      subcommand.argument(...argument);
      subcommand.option('--freeze', 'Stop the clock afterwards.');
    }
    command.addCommand(subcommand);
    return subcommand;
  };
  const change = (subcommand: Command, body: Change) => {
    const { freeze } = subcommand.opts<{ freeze?: boolean }>();
    return show(subcommand, (session) =>
      advanceClock(session, { ...body, ...(freeze && { freeze }) }),
    );
  };

  const advance = clockVerb('advance', 'Advance the clock by a duration.', [
    '<duration>',
    'Duration, such as 2d, 1h30m or P2D. 0s only executes due work.',
  ]);
  withExamples(advance, 'railhead clock advance 2d', 'railhead clock advance 6m --freeze');
  advance.action((text: string) => change(advance, { advance: isoDuration(text) }));

  const set = clockVerb('set', 'Advance the clock to a later time.', [
    '<time>',
    'Time, such as 2027-01-04T09:00:00Z.',
  ]);
  withExamples(set, 'railhead clock set 2027-01-04T09:00:00Z');
  set.action((to: string) => change(set, { to }));

  const freeze = clockVerb('freeze', 'Stop the clock at its current time.');
  withExamples(freeze, 'railhead clock freeze');
  freeze.action(() => change(freeze, { freeze: true }));

  const unfreeze = clockVerb('unfreeze', 'Unfreeze a stopped clock.');
  withExamples(unfreeze, 'railhead clock unfreeze');
  unfreeze.action(() => change(unfreeze, { freeze: false }));

  return command.action(() => show(command, ({ client }) => client.sandbox.getSandboxClock()));
}
