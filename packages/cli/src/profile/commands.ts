// Commands `login`, `logout` and `profiles`, which store, remove and select named credentials.
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { CliError, EXIT, usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { withProgress } from '../output/progress.ts';
import { columnOf } from '../output/table.ts';
import { outputOf } from '../session.ts';
import { closest } from '../suggest.ts';
import { ask, isInteractive } from './ask.ts';
import { type Config, configFile, type Profile, readConfig, writeConfig } from './config.ts';
import { baseUrlOf, LOCAL, localTarget } from './resolve.ts';

interface LoginFlags {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
}

const DEFAULT_PROFILE = 'default';

/** A value from a flag, from the environment, or from a prompt. */
async function readValue(
  flagInput: string | undefined,
  question: string,
  flag: string,
  { isSecret = false, fallback = '' } = {},
): Promise<string> {
  if (flagInput === '-') return readFileSync(0, 'utf8').trim();
  if (flagInput) return flagInput;
  if (!isInteractive()) throw usageError(`${flag} is required without a terminal.`);
  const defaultText = fallback ? ` [${fallback}]` : '';
  const text = await ask(`${question}${defaultText}: `, { isSecret });
  if (text || fallback) return text || fallback;
  throw usageError(`${question} is required.`);
}

async function readProfile(flags: LoginFlags): Promise<Profile> {
  const { env } = process;
  const local = localTarget();
  const fallback = local?.url ?? 'http://localhost:4000';
  const url = await readValue(
    flags.baseUrl ?? env.RAILHEAD_URL,
    'URL of the server',
    '--base-url',
    {
      fallback,
    },
  );
  const id = flags.clientId ?? env.RAILHEAD_CLIENT_ID;
  const clientId = await readValue(id, 'Client ID', '--client-id');
  const secret = flags.clientSecret ?? env.RAILHEAD_CLIENT_SECRET;
  const clientSecret = await readValue(secret, 'Client secret', '--client-secret', {
    isSecret: true,
  });
  return { url: baseUrlOf(url), clientId, clientSecret };
}

function loginCommand(): Command {
  const command = new Command('login')
    .summary('Store the credentials of a platform.')
    .description(
      'Checks credentials and stores them as a profile, in a file that only you can read. The ' +
        'profile becomes the current profile. Values without a flag are prompted for.',
    )
    .option('--client-id <id>', 'Client ID of an API token.')
    .option('--client-secret <secret>', 'Client secret, or - to read it from standard input.');
  withExamples(
    command,
    'railhead login',
    'railhead login --profile staging --base-url https://api.example.com',
    'printf %s "$SECRET" | railhead login --base-url localhost:4000 --client-id rhc_… --client-secret -',
  );
  return command.action(async () => {
    const flags: LoginFlags = command.optsWithGlobals();
    const output = outputOf(command);
    const name = flags.profile ?? DEFAULT_PROFILE;
    const profile = await readProfile(flags);
    const { url: baseUrl, clientId, clientSecret } = profile;
    const { createClient } = await import('../sdk.ts');
    const client = createClient({ baseUrl, clientId, clientSecret });
    const config = await withProgress('Checking …', client.config.getPlatformConfig());
    const storedConfig = readConfig();
    writeConfig({ current: name, profiles: { ...storedConfig.profiles, [name]: profile } });
    await output.result({ profile: name, url: baseUrl, platform: config.id }, () => [
      `Logged in to ${baseUrl} as profile ${name}.`,
      output.styles.dim(`Stored in ${configFile()}`),
    ]);
  });
}

function withoutProfile({ current, profiles }: Config, name: string): Config {
  const { [name]: removedProfile, ...remainingProfiles } = profiles;
  if (!removedProfile)
    throw new CliError(`There is no profile ${name}.`, {
      exitCode: EXIT.credentials,
      hint: 'List the profiles with `railhead profiles`.',
    });
  return {
    ...(current !== undefined && current !== name && { current }),
    profiles: remainingProfiles,
  };
}

function logoutCommand(): Command {
  const command = new Command('logout')
    .summary('Remove the credentials of a profile.')
    .description(
      'Removes the current profile, or the profile named with --profile, from this machine.',
    );
  withExamples(command, 'railhead logout', 'railhead logout --profile staging');
  return command.action(() => {
    const config = readConfig();
    const { profile = config.current }: LoginFlags = command.optsWithGlobals();
    if (profile === undefined) {
      throw new CliError('No profile is selected.', { hint: 'Name a profile with --profile.' });
    }
    writeConfig(withoutProfile(config, profile));
    outputOf(command).line(`Removed profile ${profile}.`);
  });
}

function useCommand(): Command {
  const command = new Command('use')
    .summary('Select the profile of the next commands.')
    .description('Selects the profile of the next commands.')
    .argument('<name>', 'Name of the profile.');
  withExamples(command, 'railhead profiles use staging');
  return command.action((name: string) => {
    const config = readConfig();
    if (!config.profiles[name]) {
      const suggestion = closest(name, Object.keys(config.profiles));
      const hint = suggestion
        ? `Did you mean ${suggestion}?`
        : 'List the profiles with `railhead profiles`.';
      throw new CliError(`There is no profile ${name}.`, { exitCode: EXIT.credentials, hint });
    }
    writeConfig({ ...config, current: name });
    outputOf(command).line(`Using profile ${name}.`);
  });
}

function profilesCommand(): Command {
  const command = new Command('profiles')
    .summary('List the profiles, and select one.')
    .description(
      'Lists the profiles. The current profile is used unless --profile names another profile.',
    );
  withExamples(
    command,
    'railhead profiles',
    'railhead profiles use staging',
    'railhead customers list --profile staging',
  );
  command.addCommand(useCommand());
  return command.action(async () => {
    const output = outputOf(command);
    const { current, profiles } = readConfig();
    const local = profiles[LOCAL] ? undefined : localTarget();
    const allProfiles = [
      ...Object.entries(profiles).map(([name, { url, clientId }]) => ({ name, url, clientId })),
      ...(local ? [{ name: LOCAL, url: local.url, clientId: local.clientId }] : []),
    ];
    const usedName = current ?? (local && LOCAL);
    const data = allProfiles.map((each) => ({ ...each, isCurrent: each.name === usedName }));
    await output.result({ data }, () =>
      data.length === 0
        ? ['None. Create one with `railhead login`.']
        : output.table([
            columnOf(
              'profile',
              data.map(({ name, isCurrent }) => `${isCurrent ? '*' : ' '} ${name}`),
            ),
            columnOf(
              'url',
              data.map(({ url }) => url),
            ),
            columnOf(
              'clientId',
              data.map(({ clientId }) => clientId),
            ),
          ]),
    );
  });
}

export const profileCommands = (): Command[] => [
  loginCommand(),
  logoutCommand(),
  profilesCommand(),
];
