// The rules of a platform's configuration, without a database: validation of a change, the resulting row,
// and its presentation. Rules that a schema cannot state are checked together, so that one reply reports
// every error.
import type { Static } from '@sinclair/typebox';
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import { providerRequiredCustomerFields } from '../../../catalog/currencies/offers.ts';
import { Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import { type EndpointRule, endpointProblem } from '../../../kernel/net/endpoint.ts';
import { timestamps } from '../../../runtime/operation/context.ts';
import type { PlatformChange, PlatformCurrency, PlatformRow } from '../platform/index.ts';
import type {
  EmbeddedWalletConfig,
  PlatformConfig,
  PlatformConfigUpdateRequest,
} from './contract.ts';

export type ConfigUpdate = Static<typeof PlatformConfigUpdateRequest>;
type Settings = Record<string, unknown>;

/** Only payments in this sending currency have platform fees. */
const FEE_CURRENCY = 'USD';
const DOMAIN =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

type WalletConfig = Static<typeof EmbeddedWalletConfig>;

/** Defaults of a wallet configuration. */
const WALLET_DEFAULTS = {
  otpLength: 6,
  alphanumeric: false,
  expirationSeconds: 300,
  sendFromEmailSenderName: 'Notifications',
} satisfies WalletConfig;

/** Format and delivery of one-time codes for a platform's wallets. */
export const walletConfigOf = ({
  wallet_config,
}: Pick<PlatformRow, 'wallet_config'>): WalletConfig & typeof WALLET_DEFAULTS => ({
  ...WALLET_DEFAULTS,
  ...wallet_config,
});

/** Name of the platform for users of its wallets, and sender of e-mail to them. */
export function walletSenderOf(platform: Pick<PlatformRow, 'name' | 'wallet_config'>) {
  const config = walletConfigOf(platform);
  const { appName, sendFromEmailSenderName: senderName, replyToEmailAddress: replyTo } = config;
  return { platformName: appName ?? platform.name, mail: { senderName, replyTo } };
}

function currencyErrors(list: NonNullable<ConfigUpdate['supportedCurrencies']>): FieldError[] {
  const codes = list.map((each) => each.currencyCode);
  return list.flatMap((currency, index) => {
    const fieldPathOf = (name: string) => `supportedCurrencies.${index}.${name}`;
    const errors: FieldError[] = [];
    const report = (name: string, message: string) =>
      errors.push({ field: fieldPathOf(name), message });
    const { currencyCode } = currency;
    if (!findCurrency(currencyCode)) report('currencyCode', 'is not a supported currency');
    if (codes.indexOf(currencyCode) < index) report('currencyCode', 'is listed twice');
    if (currency.minAmount > currency.maxAmount)
      report('minAmount', 'must not be greater than maxAmount');
    const names = currency.requiredCounterpartyFields.map((field) => field.name);
    if (new Set(names).size < names.length)
      report('requiredCounterpartyFields', 'contains a field twice');
    return errors;
  });
}

type FeeConfig = PlatformRow['fees'][number];

const feeKey = (fee: Pick<FeeConfig, 'feeType' | 'sourceCurrency'>) =>
  `${fee.feeType} ${fee.sourceCurrency}`;

function feeErrors(fees: readonly FeeConfig[]): FieldError[] {
  const keys = fees.map(feeKey);
  return keys.flatMap((key, index) =>
    keys.indexOf(key) < index ? [{ field: `feeConfigs.${index}`, message: 'is listed twice' }] : [],
  );
}

/** Throws NOT_IMPLEMENTED for valid fees that are not supported. */
function rejectUnsupportedFees(fees: readonly FeeConfig[]): void {
  for (const { sourceCurrency, fixedFee } of fees) {
    if (sourceCurrency !== FEE_CURRENCY) {
      throw new Fault(
        'NOT_IMPLEMENTED',
        `Fees are supported for the source currency ${FEE_CURRENCY} only.`,
      );
    }
    if (fixedFee.currency !== sourceCurrency) {
      throw new Fault(
        'NOT_IMPLEMENTED',
        'The currency of a fixed fee must equal the source currency.',
      );
    }
  }
}

/** Throws INVALID_INPUT with every error of a change, or NOT_IMPLEMENTED for unsupported fees. */
export function checkUpdate(update: ConfigUpdate, rule: EndpointRule): void {
  const errors: FieldError[] = [];
  const { umaDomain, webhookEndpoint, supportedCurrencies = [], feeConfigs = [] } = update;
  if (umaDomain !== undefined && !DOMAIN.test(umaDomain.toLowerCase())) {
    errors.push({ field: 'umaDomain', message: 'must be a domain name, such as example.com' });
  }
  if (webhookEndpoint !== undefined) {
    const message = endpointProblem(webhookEndpoint, rule);
    if (message) errors.push({ field: 'webhookEndpoint', constraint: { format: 'url' }, message });
  }
  errors.push(...currencyErrors(supportedCurrencies), ...feeErrors(feeConfigs));
  if (errors.length) throw invalid(errors);
  rejectUnsupportedFees(feeConfigs);
}

const isObject = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges changed settings into the current settings recursively. Absent settings are unchanged. */
function mergeSettings(previousSettings: Settings | null, changes: Settings): Settings {
  const settings: Settings = { ...previousSettings };
  for (const [name, value] of Object.entries(changes)) {
    const previousValue = settings[name];
    settings[name] = isObject(value)
      ? mergeSettings(isObject(previousValue) ? previousValue : null, value)
      : value;
  }
  return settings;
}

/** Settings with only the properties of `schema`, so that unknown properties are not stored. */
function pickDefined(
  schema: { properties: Record<string, unknown> },
  settings: Settings,
): Settings {
  const knownSettings: Settings = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = settings[name];
    if (value === undefined) continue;
    const nestedSchema = property as { properties?: Record<string, unknown> };
    knownSettings[name] =
      nestedSchema.properties && isObject(value)
        ? pickDefined({ properties: nestedSchema.properties }, value)
        : value;
  }
  return knownSettings;
}

function currencyOfUpdate(input: PlatformCurrency): PlatformCurrency {
  return {
    currencyCode: input.currencyCode,
    minAmount: input.minAmount,
    maxAmount: input.maxAmount,
    requiredCounterpartyFields: input.requiredCounterpartyFields.map(({ name, mandatory }) => ({
      name,
      mandatory,
    })),
    enabledTransactionTypes: [...new Set(input.enabledTransactionTypes)],
  };
}

function mergeFees(
  previousFees: readonly FeeConfig[],
  changedFees: readonly FeeConfig[],
): FeeConfig[] {
  const feesByKey = new Map(previousFees.map((fee) => [feeKey(fee), fee]));
  for (const { feeType, sourceCurrency, variableFeeBps, fixedFee } of changedFees) {
    const { amount, currency } = fixedFee;
    const fee = { feeType, sourceCurrency, variableFeeBps, fixedFee: { amount, currency } };
    feesByKey.set(feeKey(fee), fee);
  }
  return [...feesByKey.values()].filter((fee) => fee.variableFeeBps > 0 || fee.fixedFee.amount > 0);
}

interface SettingSchemas {
  wallet: { properties: Record<string, unknown> };
  card: { properties: Record<string, unknown> };
}

/** Columns of the row after a validated change. */
export function patchOf(
  row: PlatformRow,
  update: ConfigUpdate,
  schemas: SettingSchemas,
): PlatformChange {
  const { umaDomain, webhookEndpoint, supportedCurrencies, feeConfigs } = update;
  const { embeddedWalletConfig: wallet, cardTokenization2faConfig: card } = update;
  return {
    ...(umaDomain === undefined ? {} : { uma_domain: umaDomain.toLowerCase() }),
    ...(webhookEndpoint === undefined ? {} : { webhook_endpoint: webhookEndpoint }),
    ...(supportedCurrencies ? { currencies: supportedCurrencies.map(currencyOfUpdate) } : {}),
    ...(wallet
      ? { wallet_config: mergeSettings(row.wallet_config, pickDefined(schemas.wallet, wallet)) }
      : {}),
    ...(card
      ? { card_config: mergeSettings(row.card_config, pickDefined(schemas.card, card)) }
      : {}),
    ...(feeConfigs ? { fees: mergeFees(row.fees, feeConfigs) } : {}),
  };
}

/** Codes of the currencies that a change adds. */
export function addedCurrencies(
  previousCurrencies: readonly PlatformCurrency[],
  nextCurrencies: readonly PlatformCurrency[],
): string[] {
  const previousCodes = new Set(previousCurrencies.map((each) => each.currencyCode));
  return nextCurrencies.map((each) => each.currencyCode).filter((code) => !previousCodes.has(code));
}

/** A currency with the customer data that its provider requires, absent if none. */
function presentCurrency(currency: PlatformCurrency) {
  const requiredFields = providerRequiredCustomerFields(currency.currencyCode);
  return {
    ...currency,
    ...(requiredFields.length ? { providerRequiredCustomerFields: [...requiredFields] } : {}),
  };
}

/** API resource of the platform. */
export function presentPlatform(row: PlatformRow): Static<typeof PlatformConfig> {
  return {
    id: row.id,
    umaDomain: row.uma_domain,
    proxyUmaSubdomain: row.proxy_uma_subdomain,
    ...(row.webhook_endpoint === null ? {} : { webhookEndpoint: row.webhook_endpoint }),
    supportedCurrencies: row.currencies.map(presentCurrency) as Static<
      typeof PlatformConfig
    >['supportedCurrencies'],
    isRegulatedFinancialInstitution: row.regulated,
    ...(row.wallet_config === null ? {} : { embeddedWalletConfig: walletConfigOf(row) }),
    ...(row.card_config === null ? {} : { cardTokenization2faConfig: row.card_config }),
    feeConfigs: row.fees,
    ...timestamps(row),
  };
}
