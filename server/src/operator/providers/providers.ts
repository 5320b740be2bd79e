// `providers list|show|add|check|pause|resume|rotate|add-key`: providers, their capabilities and keys.
import { readFileSync } from 'node:fs';
import {
  type ManagerDeps,
  PROVIDER_CHOICES,
  providerManagement,
} from '../../features/providers/index.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../runtime/security/key-rotation.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { overlapIn } from '../platforms/keys.ts';

type ProviderView = Awaited<ReturnType<typeof providerManagement.get>>;

export const managerOf = async (system: System): Promise<ManagerDeps> => ({
  runtime: system.runtime,
  directory: await system.providers(),
});

const offerOf = ({ capabilities }: ProviderView): string => {
  if (capabilities === null) return 'not checked';
  const offers = (capabilities.transfers ?? []).map(
    ({ kinds, rails, currencies }) =>
      `${kinds.join(', ')} in ${currencies.join(', ')} over ${rails.join(', ')}`,
  );
  return [...offers, ...(capabilities.services ?? [])].join('; ') || 'nothing';
};

const balancePairs = ({ balances }: ProviderView) =>
  balances.map(
    ({ currency, available, isLow, asOf }) =>
      [`Balance ${currency}`, `${available}${isLow ? ', low' : ''} (as of ${asOf})`] as const,
  );

export function outputOf(provider: ProviderView): Output {
  const keyTexts = (heading: string, list: ProviderView['ownKeys']) =>
    list.map((key) => `\n${heading} ${key.keyId}, from ${key.activeFrom}\n${key.publicKeyPem}`);
  const pairs: (readonly [string, string])[] = [
    ['Provider', provider.providerId],
    ['Environment', provider.environment],
    ['URL', provider.url],
    ['Status', provider.status],
    ...(provider.status === 'PAUSED'
      ? ([['Paused', `${provider.pausedBy}: ${provider.pauseReason ?? 'no reason'}`]] as const)
      : []),
    ['Offers', offerOf(provider)],
    ['Checked', provider.checkedAt ?? 'never'],
    ['Problem', provider.problem ?? 'none'],
    ...balancePairs(provider),
    ['Messages to', `/connectors/${provider.providerId}`],
  ];
  const text =
    record(pairs) +
    [...keyTexts('Signing key of this installation', provider.ownKeys)].join('') +
    [...keyTexts('Public key of the provider', provider.providerKeys)].join('');
  return { json: provider, text };
}

async function list(system: System): Promise<Output> {
  const json = providerManagement.list(await managerOf(system), system.builtIn());
  const heads = ['PROVIDER', 'KIND', 'ENVIRONMENT', 'STATUS', 'SERVES', 'PROBLEM'];
  const text = table(
    heads,
    json.map((each) => [
      ...[each.providerId, each.kind, each.environment, each.status],
      each.serves.join(', ') || 'not checked',
      each.pauseReason ?? each.problem ?? '',
    ]),
  );
  return { json, text };
}

const pemIn = (args: CommandArgs) => {
  const file = args.required('public-key');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usageError(`--public-key: ${file} cannot be read`);
  }
};

async function add(system: System, args: CommandArgs): Promise<Output> {
  const providerId = args.required('provider');
  if (!new RegExp(PROVIDER_CHOICES.name).test(providerId)) {
    throw usageError(`PROVIDER ${PROVIDER_CHOICES.nameRule}`);
  }
  return outputOf(
    await providerManagement.create(await managerOf(system), {
      providerId,
      environment: args.required('environment') as Mode,
      url: args.required('url'),
      publicKeyPem: pemIn(args),
      privateAddressAllowed: args.isOn('private-address') ?? false,
    }),
  );
}

export const PROVIDER: Flags = {
  provider: { value: 'PROVIDER', required: true, help: 'Name of the provider' },
};
const PUBLIC_KEY: Flags = {
  'public-key': {
    value: 'FILE',
    required: true,
    help: 'PEM file with the Ed25519 public key of the provider',
  },
};

const providerVerb = (
  verb: string,
  summary: string,
  run: (deps: ManagerDeps, providerId: string) => Promise<ProviderView>,
): Verb => ({
  noun: 'providers',
  verb,
  summary,
  flags: PROVIDER,
  positional: 'provider',
  run: async (system, args) =>
    outputOf(await run(await managerOf(system), args.required('provider'))),
});

export const providerVerbs: readonly Verb[] = [
  {
    noun: 'providers',
    verb: 'list',
    summary: 'List providers and built-in connectors with their capabilities',
    flags: {},
    run: list,
  },
  providerVerb(
    'show',
    'Show a provider and its keys, with --json also its terms',
    providerManagement.get,
  ),
  {
    noun: 'providers',
    verb: 'add',
    summary: 'Add a provider that implements the provider protocol',
    flags: {
      ...PROVIDER,
      environment: {
        value: 'ENVIRONMENT',
        required: true,
        choices: MODES,
        help: 'Environment that the provider serves',
      },
      url: { value: 'URL', required: true, help: 'Base URL of the provider' },
      ...PUBLIC_KEY,
      'private-address': {
        negation: 'public-address',
        help: 'Allow plain HTTP, and a private or loopback address',
      },
    },
    positional: 'provider',
    run: add,
  },
  providerVerb(
    'check',
    'Request and store the capabilities of a provider',
    providerManagement.check,
  ),
  providerVerb('pause', 'Stop sending new transfers to a provider', providerManagement.pause),
  providerVerb(
    'resume',
    'Resume sending new transfers to a paused provider',
    providerManagement.resume,
  ),
  {
    noun: 'providers',
    verb: 'rotate',
    summary: 'Generate a new signing key for calls to a provider',
    flags: {
      ...PROVIDER,
      'overlap-hours': {
        value: 'HOURS',
        help:
          `Hours until the new key signs, 0 to ${MAX_OVERLAP_HOURS}. Earlier keys are retired after ` +
          `twice this time (default: ${DEFAULT_OVERLAP_HOURS})`,
      },
    },
    positional: 'provider',
    run: async (system, args) =>
      outputOf(
        await providerManagement.rotateKey(
          await managerOf(system),
          args.required('provider'),
          overlapIn(args),
        ),
      ),
  },
  {
    noun: 'providers',
    verb: 'add-key',
    summary: 'Add a public key of a provider',
    flags: {
      ...PROVIDER,
      ...PUBLIC_KEY,
      'overlap-hours': {
        value: 'HOURS',
        help:
          `Hours for which earlier keys are accepted, 0 to ${MAX_OVERLAP_HOURS} ` +
          `(default: ${DEFAULT_OVERLAP_HOURS})`,
      },
    },
    positional: 'provider',
    run: async (system, args) => {
      const deps = await managerOf(system);
      const providerId = args.required('provider');
      return outputOf(
        await providerManagement.addKey(deps, providerId, pemIn(args), overlapIn(args)),
      );
    },
  },
];
