// `platform create|list|show|set`: platforms, and their settings that an operator may change.

import {
  createPlatformWithToken,
  FIRST_CURRENCIES,
  openPlatformAccounts,
} from '../../bootstrap.ts';
import {
  BRAND_COLOR,
  changePlatformSettings,
  checkCurrencyCodes,
  isRegulatedByDefault,
  listPlatforms,
  MAX_HOURLY_PAYMENTS,
  MAX_WALLET_PROCESSING,
  type PlatformSettings,
  platformSettings,
  termsProblem,
} from '../../features/tenancy/administration/index.ts';
import { platformById } from '../../features/tenancy/platform/index.ts';
import { accentsOf } from '../../http/pages/brand.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { ensureSigningKeys, publicKeyPem } from '../../runtime/security/keys.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { PASSKEY_FLAGS, passkeySiteIn } from './passkey-site.ts';

const SETTINGS: Flags = {
  regulated: {
    negation: 'unregulated',
    help: 'The platform verifies its customers itself (default: on in the sandbox)',
  },
  'documents-optional': {
    negation: 'no-documents-optional',
    help: 'Verifications require no documents (default: off)',
  },
  sca: {
    negation: 'no-sca',
    help: 'Strong customer authentication where regions require it (default: on)',
  },
  'sca-two-steps': {
    negation: 'no-sca-two-steps',
    help: 'Payouts with conversion require two authentication steps (default: off)',
  },
  ...PASSKEY_FLAGS,
  terms: {
    negation: 'no-terms',
    help: 'Payments require accepted terms. Requires --unregulated (default: off)',
  },
  invitations: {
    negation: 'no-invitations',
    help: 'Customers may invite other users (default: on)',
  },
  'standard-webhooks': {
    negation: 'no-standard-webhooks',
    help: 'Webhooks also contain the headers of Standard Webhooks (default: on)',
  },
  currencies: {
    value: 'USD,EUR',
    list: true,
    help: `Currencies of the customers. Default: ${FIRST_CURRENCIES.length} currencies, from USD to USDB`,
  },
};

const PLATFORM = { platform: { value: 'PLATFORM', required: true, help: 'ID of the platform' } };

const yesNo = (value: boolean) => (value ? 'yes' : 'no');

/** The color with the shades that pages use. */
function brandColorLine(color: string): string {
  const { light, dark } = accentsOf(color);
  return `${color} (${light} on light pages, ${dark} on dark pages)`;
}

function outputOf(json: PlatformSettings): Output {
  const text = record([
    ['Platform', json.platformId],
    ['Name', json.name],
    ['Environment', json.environment],
    ['Regulated', yesNo(json.regulated)],
    ['Documents optional', yesNo(json.documentsOptional)],
    ['Strong customer authentication', yesNo(json.sca)],
    ...(json.scaTwoSteps ? [['Conversions are authorized', 'in two steps'] as const] : []),
    ['Passkeys belong to', json.passkeySite?.rpId ?? 'not set'],
    ...(json.passkeySite
      ? [['Passkeys are used at', json.passkeySite.origins.join(', ')] as const]
      : []),
    ['Terms must be accepted', yesNo(json.terms)],
    ['Invitations', yesNo(json.invitations)],
    ['Currencies', json.currencies.join(', ')],
    ...(json.hourlyPayments === null
      ? []
      : [['Maximum payments per customer', `${json.hourlyPayments} an hour`] as const]),
    ...(json.walletProcessing > 0
      ? [['Wallets return PROCESSING', `${json.walletProcessing} times`] as const]
      : []),
    ['UMA domain', json.umaDomain],
    ['Webhook endpoint', json.webhookEndpoint ?? 'not set'],
    ...(json.standardWebhooks ? [] : [['Headers of Standard Webhooks', 'no'] as const]),
    ...(json.brandColor === null
      ? []
      : [['Color of hosted pages', brandColorLine(json.brandColor)] as const]),
    ...(json.requestBodiesUntil === null
      ? []
      : [['Request bodies stored until', json.requestBodiesUntil] as const]),
    ['Created', json.createdAt],
    ['Changed', json.updatedAt],
  ]);
  return { json, text };
}

/** The ID in `--platform`, or undefined without the flag. Throws if the platform does not exist. */
export async function platformIn(
  { runtime }: System,
  args: CommandArgs,
): Promise<string | undefined> {
  const id = args.text('platform');
  return id === undefined ? undefined : (await platformById(runtime, id)).id;
}

/** The public key of an environment. Generates the keys of an installation that has none. */
async function webhookKey(system: System, environment: Mode): Promise<string> {
  const { runtime } = system;
  const existingKey = await publicKeyPem(runtime, environment);
  if (existingKey) return existingKey;
  await ensureSigningKeys(runtime);
  return (await publicKeyPem(runtime, environment)) as string;
}

/** Throws a usage error if terms would have no effect. */
function checkTerms(args: CommandArgs, currentTerms: { regulated: boolean; terms: boolean }): void {
  const change = { regulated: args.isOn('regulated'), terms: args.isOn('terms') };
  const problem = termsProblem(change, currentTerms);
  if (problem === undefined) return;
  const remedy = change.terms ? '--unregulated' : '--no-terms';
  throw usageError(`--terms ${problem}. Add ${remedy}.`);
}

async function create(system: System, args: CommandArgs): Promise<Output> {
  const environment = (args.text('environment') ?? 'sandbox') as Mode;
  const currencies = args.list('currencies') ?? FIRST_CURRENCIES;
  checkCurrencyCodes(currencies, () => 'currencies');
  const passkeySite = passkeySiteIn(args, environment, null);
  const isRegulated = isRegulatedByDefault(environment);
  checkTerms(args, { regulated: isRegulated, terms: false });
  const webhookPublicKey = await webhookKey(system, environment);
  const createdPlatform = await createPlatformWithToken(system.runtime, {
    name: args.required('name'),
    environment,
    regulated: args.isOn('regulated') ?? isRegulated,
    documentsOptional: args.isOn('documents-optional') ?? false,
    sca: args.isOn('sca'),
    scaTwoSteps: args.isOn('sca-two-steps'),
    passkeySite,
    termsRequired: args.isOn('terms'),
    invitations: args.isOn('invitations'),
    standardWebhooks: args.isOn('standard-webhooks'),
    currencies,
    fundingOf: system.fundingOf,
  });
  const { platformId, tokenId, clientId, clientSecret } = createdPlatform;
  const text = record([
    ['Platform', platformId],
    ['Token', tokenId],
    ['Client ID', clientId],
    ['Client secret', `${clientSecret}  (shown only once)`],
  ]);
  return {
    json: { platformId, tokenId, clientId, clientSecret, webhookPublicKey },
    text: `${text}Webhook public key\n${webhookPublicKey}`,
  };
}

async function list({ runtime }: System): Promise<Output> {
  const json = await listPlatforms(runtime);
  const heads = ['PLATFORM', 'NAME', 'ENVIRONMENT', 'REGULATED', 'CURRENCIES', 'CREATED'];
  const text = table(
    heads,
    json.map((each) => [
      each.platformId,
      each.name,
      each.environment,
      yesNo(each.regulated),
      each.currencies.join(','),
      each.createdAt,
    ]),
  );
  return { json, text };
}

/** Maximum payments of one customer per hour. Null for no limit, undefined without the flag. */
function hourlyLimitIn(args: CommandArgs): number | null | undefined {
  const text = args.text('hourly-payments');
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) {
    throw usageError(`--hourly-payments must be a whole number from 0 to ${MAX_HOURLY_PAYMENTS}`);
  }
  return Number(text) || null;
}

/** Number of times that wallet requests return PROCESSING. Undefined without the flag. */
function pollsIn(args: CommandArgs, environment: Mode): number | undefined {
  const text = args.text('wallet-processing');
  if (text === undefined) return undefined;
  const pollCount = /^\d{1,3}$/.test(text) ? Number(text) : Infinity;
  if (pollCount > MAX_WALLET_PROCESSING)
    throw usageError(
      `--wallet-processing must be a whole number from 0 to ${MAX_WALLET_PROCESSING}`,
    );
  if (environment === 'production' && pollCount > 0) {
    throw usageError('--wallet-processing is available in the sandbox only');
  }
  return pollCount;
}

/** The color in `--brand-color`. Null for the default, undefined without the flag. */
function brandColorIn(args: CommandArgs): string | null | undefined {
  const text = args.text('brand-color');
  if (text === undefined) return undefined;
  if (text.toLowerCase() === 'default') return null;
  if (!new RegExp(BRAND_COLOR).test(text)) {
    throw usageError('--brand-color must be six hexadecimal digits like #3b49df, or default');
  }
  return text;
}

async function set({ runtime, fundingOf }: System, args: CommandArgs): Promise<Output> {
  const settings = await changePlatformSettings(runtime, {
    platformId: args.required('platform'),
    change: (currentSettings) => {
      const { environment, passkeySite } = currentSettings;
      checkTerms(args, currentSettings);
      return {
        walletProcessing: pollsIn(args, environment),
        hourlyPayments: hourlyLimitIn(args),
        brandColor: brandColorIn(args),
        regulated: args.isOn('regulated'),
        terms: args.isOn('terms'),
        name: args.text('name'),
        documentsOptional: args.isOn('documents-optional'),
        sca: args.isOn('sca'),
        scaTwoSteps: args.isOn('sca-two-steps'),
        passkeySite: passkeySiteIn(args, environment, passkeySite),
        invitations: args.isOn('invitations'),
        standardWebhooks: args.isOn('standard-webhooks'),
        currencies: args.list('currencies'),
      };
    },
    provision: (ctx, codes) => openPlatformAccounts(ctx, codes, fundingOf),
  });
  return outputOf(settings);
}

export const platformVerbs: readonly Verb[] = [
  {
    noun: 'platform',
    verb: 'create',
    summary: 'Create a platform, and a token with all permissions',
    flags: {
      name: { value: 'NAME', required: true, help: 'Display name' },
      environment: {
        value: 'ENVIRONMENT',
        choices: MODES,
        help: 'Environment of the platform (default: sandbox)',
      },
      ...SETTINGS,
    },
    run: create,
  },
  {
    noun: 'platform',
    verb: 'list',
    summary: 'List platforms, oldest first',
    flags: {},
    run: list,
  },
  {
    noun: 'platform',
    verb: 'show',
    summary: 'Show a platform',
    flags: PLATFORM,
    positional: 'platform',
    run: async ({ runtime }, args) =>
      outputOf(await platformSettings(runtime, args.required('platform'))),
  },
  {
    noun: 'platform',
    verb: 'set',
    summary: 'Change settings of a platform. Settings without a flag are unchanged',
    flags: {
      ...PLATFORM,
      name: { value: 'NAME', help: 'Display name' },
      ...SETTINGS,
      'brand-color': {
        value: '#RRGGBB',
        help: 'Color of hosted pages, adjusted for contrast, or default to remove the color',
      },
      'hourly-payments': {
        value: 'N',
        help: 'Maximum payments per customer and hour. 0 for no limit (default: 0)',
      },
      'wallet-processing': {
        value: 'N',
        help: 'Number of PROCESSING replies to wallet requests, 0 to 100. Sandbox only (default: 0)',
      },
    },
    positional: 'platform',
    run: set,
  },
];
