// Platforms and the settings that their operator decides, such as their currencies, their sending
// limits and their card program.

import type { Operator } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { cardProgramOf, changeConfig, openCurrency, type Provision } from '../config/index.ts';
import {
  allPlatforms,
  type CardProgram,
  changePlatform,
  type PasskeySite,
  type PaymentLimit,
  type PlatformChange,
  type PlatformCurrency,
  type PlatformRow,
  pageOfPlatformRows,
  platformById,
  readOwnPlatform,
  systemCaller,
} from '../platform/index.ts';
import { checkCurrencyCodes } from './create.ts';
import { checkCardProgram, checkPaymentLimit, checkSettings } from './rules.ts';

const presentPlatform = (row: PlatformRow) => ({
  platformId: row.id,
  name: row.name,
  environment: row.environment,
  regulated: row.regulated,
  documentsOptional: row.documents_optional,
  sca: row.sca,
  scaTwoSteps: row.sca_two_steps,
  passkeySite: row.passkey_site,
  terms: row.terms_required,
  invitations: row.invitations,
  currencies: row.currencies.map((each) => each.currencyCode),
  fees: row.fees.map(({ sourceCurrency, variableFeeBps, fixedFee }) => ({
    currency: sourceCurrency,
    basisPoints: variableFeeBps,
    fixedFee: fixedFee.amount,
  })),
  hourlyPayments: row.hourly_payments,
  walletProcessing: row.wallet_polls,
  umaDomain: row.uma_domain,
  webhookEndpoint: row.webhook_endpoint,
  standardWebhooks: row.standard_webhooks,
  brandColor: row.brand_color,
  requestBodiesUntil: row.request_bodies_until === null ? null : iso(row.request_bodies_until),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

export type PlatformSettings = ReturnType<typeof presentPlatform>;

/** All platforms, oldest first. */
export const listPlatforms = async ({ db }: Runtime): Promise<PlatformSettings[]> =>
  (await allPlatforms(db)).map(presentPlatform);

/** A page of the platforms that the operator may access, oldest first. */
export async function pageOfPlatforms(
  { db }: Pick<Runtime, 'db'>,
  { platformIds }: Pick<Operator, 'platformIds'>,
  { limit = 20, cursor }: { limit?: number | undefined; cursor?: string | undefined },
) {
  const filters =
    platformIds === null ? [] : [{ column: 'id', op: 'in', value: [...platformIds] } as const];
  const { rows, ...rest } = await pageOfPlatformRows(db, { filters, sort: 'asc', limit, cursor });
  return { data: rows.map(presentPlatform), ...rest };
}

/** A platform with its settings. Throws PLATFORM_NOT_FOUND. */
export const platformSettings = async (runtime: Runtime, id: string): Promise<PlatformSettings> =>
  presentPlatform(await platformById(runtime, id));

/** Commits the change that `stage` computes from the current row. */
async function change(
  runtime: Runtime,
  platformId: string,
  stage: (ctx: Ctx, currentRow: PlatformRow) => PlatformRow | Promise<PlatformRow>,
): Promise<PlatformRow> {
  const { id, environment } = await platformById(runtime, platformId);
  return operate(runtime, systemCaller(id, environment), async (ctx) =>
    stage(ctx, await readOwnPlatform(ctx)),
  );
}

/** Platform settings that an operator can change. Undefined settings are unchanged. */
interface SettingsChange {
  name?: string | undefined;
  regulated?: boolean | undefined;
  documentsOptional?: boolean | undefined;
  sca?: boolean | undefined;
  scaTwoSteps?: boolean | undefined;
  passkeySite?: PasskeySite | null | undefined;
  terms?: boolean | undefined;
  invitations?: boolean | undefined;
  standardWebhooks?: boolean | undefined;
  /** The complete list. Currencies that the platform already has keep their limits. */
  currencies?: readonly string[] | undefined;
  /** Null: unlimited. */
  hourlyPayments?: number | null | undefined;
  walletProcessing?: number | undefined;
  /** Null: the default. */
  brandColor?: string | null | undefined;
}

function currenciesAs(row: PlatformRow, codes: readonly string[]): PlatformCurrency[] {
  checkCurrencyCodes(codes, () => 'currencies');
  const previousCurrencies = new Map(row.currencies.map((each) => [each.currencyCode, each]));
  return codes.map((code) => previousCurrencies.get(code) ?? openCurrency(code));
}

const patchOf = (row: PlatformRow, change: SettingsChange): PlatformChange => ({
  name: change.name ?? row.name,
  regulated: change.regulated ?? row.regulated,
  documents_optional: change.documentsOptional ?? row.documents_optional,
  sca: change.sca ?? row.sca,
  sca_two_steps: change.scaTwoSteps ?? row.sca_two_steps,
  passkey_site: change.passkeySite === undefined ? row.passkey_site : change.passkeySite,
  terms_required: change.terms ?? row.terms_required,
  invitations: change.invitations ?? row.invitations,
  standard_webhooks: change.standardWebhooks ?? row.standard_webhooks,
  wallet_polls: change.walletProcessing ?? row.wallet_polls,
  hourly_payments:
    change.hourlyPayments === undefined ? row.hourly_payments : change.hourlyPayments,
  brand_color:
    change.brandColor === undefined ? row.brand_color : (change.brandColor?.toLowerCase() ?? null),
  ...(change.currencies ? { currencies: currenciesAs(row, change.currencies) } : {}),
});

interface SettingsInput {
  platformId: string;
  /** Computes the change from the current settings. May throw. Runs again after a version conflict. */
  change: (currentSettings: PlatformSettings) => SettingsChange;
  /** Stages the platform's accounts in added currencies. */
  provision: Provision;
}

/**
 * Changes settings of a platform and returns all settings. Throws PLATFORM_NOT_FOUND and
 * INVALID_INPUT.
 */
export async function changePlatformSettings(
  runtime: Runtime,
  { platformId, change: changeOf, provision }: SettingsInput,
): Promise<PlatformSettings> {
  const updatedPlatform = await change(runtime, platformId, (ctx, currentRow) => {
    const settings = presentPlatform(currentRow);
    const settingsChange = changeOf(settings);
    checkSettings(settingsChange, settings, currentRow.environment);
    return changeConfig(ctx, provision, currentRow, patchOf(currentRow, settingsChange));
  });
  return presentPlatform(updatedPlatform);
}

type CurrencyPair = Pick<PaymentLimit, 'currency' | 'to'>;

const isSameCurrencyPair = (a: CurrencyPair, b: CurrencyPair) =>
  a.currency === b.currency && a.to === b.to;
const keyOf = ({ currency, to }: CurrencyPair) => `${currency} ${to ?? ''}`;

/** Sets the limits of a currency or a currency pair. Returns all limits. */
export async function setPaymentLimit(
  runtime: Runtime,
  platformId: string,
  limit: PaymentLimit,
): Promise<readonly PaymentLimit[]> {
  checkPaymentLimit(limit);
  const updatedPlatform = await change(runtime, platformId, (ctx, currentRow) => {
    const otherLimits = currentRow.limits.filter((each) => !isSameCurrencyPair(each, limit));
    const limits = [...otherLimits, limit].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    return changePlatform(ctx, currentRow, { limits });
  });
  return updatedPlatform.limits;
}

/** Removes the limits of a currency or a currency pair. Throws NOT_FOUND. */
export async function removePaymentLimit(
  runtime: Runtime,
  platformId: string,
  pair: CurrencyPair,
): Promise<readonly PaymentLimit[]> {
  const updatedPlatform = await change(runtime, platformId, (ctx, currentRow) => {
    const limits = currentRow.limits.filter((each) => !isSameCurrencyPair(each, pair));
    if (limits.length === currentRow.limits.length)
      throw new Fault('NOT_FOUND', 'Limit not found.');
    return changePlatform(ctx, currentRow, { limits });
  });
  return updatedPlatform.limits;
}

/** Changes the card program of a platform and returns it. */
export async function changeCardProgram(
  runtime: Runtime,
  platformId: string,
  changes: Partial<CardProgram>,
): Promise<CardProgram> {
  const updatedPlatform = await change(runtime, platformId, (ctx, currentRow) => {
    checkCardProgram(changes, currentRow.environment);
    return changePlatform(ctx, currentRow, {
      card_program: { ...cardProgramOf(currentRow), ...changes },
    });
  });
  return cardProgramOf(updatedPlatform);
}
