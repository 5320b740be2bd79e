// `platform create|list|show|set`: tenants, and the settings of theirs that only an operator may change.

import {
  createPlatformWithToken,
  FIRST_CURRENCIES,
  openPlatformAccounts,
} from '../../bootstrap.ts';
import { checkCurrencyCodes, openCurrency } from '../../features/tenancy/administration/index.ts';
import { BACKFILL_ACCOUNTS } from '../../features/tenancy/config/index.ts';
import {
  type PlatformRow,
  platforms,
  systemCaller,
} from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import type { Environment } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { ensureSigningKeys, publicKeyPem } from '../../runtime/security/keys.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { BRAND_COLOR_FLAG, brandColorIn, brandColorLine } from './brand-color.ts';
import { PASSKEY_FLAGS, passkeySiteIn } from './passkey-site.ts';

const SETTINGS: Flags = {
  regulated: {
    off: 'unregulated',
    help: 'It checks its customers itself (on in the sandbox)',
  },
  'skip-verification-paperwork': {
    off: 'no-skip-verification-paperwork',
    help: 'Verifications ask for no documents (off)',
  },
  sca: { off: 'no-sca', help: 'Strong customer authentication where regions ask for it (on)' },
  'sca-two-steps': {
    off: 'no-sca-two-steps',
    help: 'There, payouts that convert take two steps (off)',
  },
  ...PASSKEY_FLAGS,
  terms: {
    off: 'no-terms',
    help: 'Customers must accept terms before money moves; --unregulated only (off)',
  },
  invitations: { off: 'no-invitations', help: 'Its customers may invite others (on)' },
  currencies: {
    value: 'USD,EUR',
    list: true,
    help: 'Currencies its customers may hold; the whole list',
  },
};

const PLATFORM = { platform: { value: 'PLATFORM', required: true, help: 'Id of the platform' } };

const view = (row: PlatformRow) => ({
  platformId: row.id,
  name: row.name,
  environment: row.environment,
  regulated: row.regulated,
  skipVerificationPaperwork: row.skip_paperwork,
  sca: row.sca,
  scaTwoSteps: row.sca_two_steps,
  passkeySite: row.passkey_site,
  terms: row.terms_gate,
  invitations: row.invitations,
  currencies: row.currencies.map((each) => each.currencyCode),
  hourlyPayments: row.hourly_payments,
  walletProcessing: row.wallet_polls,
  umaDomain: row.uma_domain,
  webhookEndpoint: row.webhook_endpoint,
  brandColor: row.brand_color,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

const yesNo = (value: boolean) => (value ? 'yes' : 'no');

function shown(row: PlatformRow): Output {
  const json = view(row);
  const text = record([
    ['Platform', json.platformId],
    ['Name', json.name],
    ['Environment', json.environment],
    ['Regulated', yesNo(json.regulated)],
    ['Skips verification paperwork', yesNo(json.skipVerificationPaperwork)],
    ['Strong customer authentication', yesNo(json.sca)],
    ...(json.scaTwoSteps ? [['Conversions are authorised', 'in two steps'] as const] : []),
    ['Passkeys belong to', json.passkeySite?.rpId ?? 'not set'],
    ...(json.passkeySite
      ? [['Passkeys are used at', json.passkeySite.origins.join(', ')] as const]
      : []),
    ['Terms must be accepted', yesNo(json.terms)],
    ['Invitations', yesNo(json.invitations)],
    ['Currencies', json.currencies.join(', ')],
    ...(json.hourlyPayments === null
      ? []
      : [['Payments of one customer', `${json.hourlyPayments} an hour`] as const]),
    ...(json.walletProcessing > 0
      ? [['Wallets answer PROCESSING', `${json.walletProcessing} times`] as const]
      : []),
    ['UMA domain', json.umaDomain],
    ['Webhook endpoint', json.webhookEndpoint ?? 'not set'],
    ...(json.brandColor === null
      ? []
      : [['Colour of hosted pages', brandColorLine(json.brandColor)] as const]),
    ['Created', json.createdAt],
    ['Changed', json.updatedAt],
  ]);
  return { json, text };
}

/** The platform of an id; throws when there is none. */
export async function platformOf({ runtime }: System, id: string): Promise<PlatformRow> {
  const row = isId(id, 'PlatformConfig') ? await runtime.db.read(platforms, id) : undefined;
  if (!row) throw notFound('platform');
  return row;
}

/** The id of the platform that `--platform` names; undefined where it does not. */
export async function platformIn(system: System, given: Given): Promise<string | undefined> {
  const id = given.text('platform');
  return id === undefined ? undefined : (await platformOf(system, id)).id;
}

/** The public key of an environment, made together with its private half on an installation without one. */
async function webhookKey(system: System, environment: Environment): Promise<string> {
  const { runtime } = system;
  const known = await publicKeyPem(runtime.db, environment);
  if (known) return known;
  await ensureSigningKeys(runtime, system.masterKey());
  return (await publicKeyPem(runtime.db, environment)) as string;
}

interface TermsSettings {
  regulated: boolean;
  terms: boolean;
}

/**
 * The two settings after a command. Throws a usage error where the command asks for terms that would have
 * no effect: a regulated platform has terms of its own, and its customers are not asked to accept others.
 */
function termsIn(given: Given, before: TermsSettings): TermsSettings {
  const regulated = given.on('regulated') ?? before.regulated;
  const terms = given.on('terms') ?? before.terms;
  const isNamed = given.on('regulated') || given.on('terms');
  if (regulated && terms && isNamed) {
    const reason = 'has no effect on a regulated platform, which has terms of its own';
    const remedy = given.on('terms') ? '--unregulated' : '--no-terms';
    throw usageError(`--terms ${reason}. Add ${remedy}.`);
  }
  return { regulated, terms };
}

async function create(system: System, given: Given): Promise<Output> {
  const environment = (given.text('environment') ?? 'sandbox') as Environment;
  const currencies = given.list('currencies') ?? FIRST_CURRENCIES;
  checkCurrencyCodes(currencies, () => 'currencies');
  const passkeySite = passkeySiteIn(given, environment, null);
  // In production customers are checked unless the operator says otherwise.
  const first = { regulated: environment === 'sandbox', terms: false };
  const { regulated, terms } = termsIn(given, first);
  const webhookPublicKey = await webhookKey(system, environment);
  const made = await createPlatformWithToken(system.runtime, {
    name: given.needed('name'),
    environment,
    regulated,
    skipPaperwork: given.on('skip-verification-paperwork') ?? false,
    sca: given.on('sca'),
    scaTwoSteps: given.on('sca-two-steps'),
    passkeySite,
    termsGate: terms,
    invitations: given.on('invitations'),
    currencies,
    fundingOf: system.fundingOf,
  });
  const { platformId, tokenId, clientId, clientSecret } = made;
  const text = record([
    ['Platform', platformId],
    ['Token', tokenId],
    ['Client id', clientId],
    ['Client secret', `${clientSecret}  (shown only now)`],
  ]);
  return {
    json: { platformId, tokenId, clientId, clientSecret, webhookPublicKey },
    text: `${text}Webhook public key\n${webhookPublicKey}`,
  };
}

const PAGE = 1_000;

async function everyPlatform({ runtime }: System): Promise<PlatformRow[]> {
  const all: PlatformRow[] = [];
  let cursor: string | undefined;
  do {
    const query = { filters: [], sort: 'asc', limit: PAGE, cursor } as const;
    const page = await runtime.db.page(platforms, query);
    all.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}

async function list(system: System): Promise<Output> {
  const all = (await everyPlatform(system)).map(view);
  const heads = ['PLATFORM', 'NAME', 'ENVIRONMENT', 'REGULATED', 'CURRENCIES', 'CREATED'];
  const rows = all.map((each) => [
    each.platformId,
    each.name,
    each.environment,
    yesNo(each.regulated),
    each.currencies.join(','),
    each.createdAt,
  ]);
  return {
    json: all,
    text: table(
      heads.map((head) => ({ head })),
      rows,
    ),
  };
}

/** The list with these codes: those there were keep their limits, new ones are open. */
function currenciesAs(row: PlatformRow, codes: readonly string[]) {
  checkCurrencyCodes(codes, () => 'currencies');
  const had = new Map(row.currencies.map((each) => [each.currencyCode, each]));
  return codes.map((code) => had.get(code) ?? openCurrency(code));
}

const MOST_POLLS = 100;

/** The most payments of one customer in an hour; 0 says any number. */
function hourlyIn(given: Given): number | null | undefined {
  const text = given.text('hourly-payments');
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) throw usageError('--hourly-payments takes 0 to 999999');
  return Number(text) || null;
}

/** How often wallets answer that they are still at work; only where nothing is real. */
function pollsIn(given: Given, environment: Environment): number | undefined {
  const text = given.text('wallet-processing');
  if (text === undefined) return undefined;
  const polls = /^\d{1,3}$/.test(text) ? Number(text) : Infinity;
  if (polls > MOST_POLLS) throw usageError(`--wallet-processing takes 0 to ${MOST_POLLS}`);
  if (environment === 'production' && polls > 0) {
    throw usageError('--wallet-processing is not for production');
  }
  return polls;
}

async function set(system: System, given: Given): Promise<Output> {
  const { id, environment } = await platformOf(system, given.needed('platform'));
  const polls = pollsIn(given, environment);
  const hourly = hourlyIn(given);
  const color = brandColorIn(given);
  const changed = await operate(system.runtime, systemCaller(id, environment), async (ctx) => {
    const row = await ctx.read(platforms, id);
    if (!row) throw notFound('platform');
    const { regulated, terms } = termsIn(given, {
      regulated: row.regulated,
      terms: row.terms_gate,
    });
    const codes = given.list('currencies');
    const added = (codes ?? []).filter(
      (code) => !row.currencies.some((each) => each.currencyCode === code),
    );
    const after = ctx.update(platforms, row, {
      name: given.text('name') ?? row.name,
      regulated,
      skip_paperwork: given.on('skip-verification-paperwork') ?? row.skip_paperwork,
      sca: given.on('sca') ?? row.sca,
      sca_two_steps: given.on('sca-two-steps') ?? row.sca_two_steps,
      passkey_site: passkeySiteIn(given, environment, row.passkey_site),
      terms_gate: terms,
      invitations: given.on('invitations') ?? row.invitations,
      wallet_polls: polls ?? row.wallet_polls,
      hourly_payments: hourly === undefined ? row.hourly_payments : hourly,
      brand_color: color === undefined ? row.brand_color : color,
      currencies: codes ? currenciesAs(row, codes) : row.currencies,
      updated_at: ctx.now,
    });
    if (added.length) {
      await openPlatformAccounts(ctx, added, system.fundingOf);
      ctx.later(BACKFILL_ACCOUNTS, { platformId: id, currencies: added });
    }
    return after;
  });
  return shown(changed);
}

export const platformVerbs: readonly Verb[] = [
  {
    noun: 'platform',
    verb: 'create',
    summary: 'Create a platform with a token that may do everything',
    flags: {
      name: { value: 'NAME', required: true, help: 'What to call it' },
      environment: {
        value: 'ENVIRONMENT',
        choices: ['sandbox', 'production'],
        help: 'Sandbox unless said otherwise',
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
    bare: 'platform',
    run: async (system, given) => shown(await platformOf(system, given.needed('platform'))),
  },
  {
    noun: 'platform',
    verb: 'set',
    summary: 'Change settings of a platform',
    flags: {
      ...PLATFORM,
      name: { value: 'NAME', help: 'What to call it' },
      ...SETTINGS,
      ...BRAND_COLOR_FLAG,
      'hourly-payments': {
        value: 'N',
        help: 'The most payments that one customer may start in an hour; 0 for any number (0)',
      },
      'wallet-processing': {
        value: 'N',
        help: 'How often wallets answer PROCESSING before they are done, to try clients with (0)',
      },
    },
    bare: 'platform',
    run: set,
  },
];
