// Exchange rates and institutions. The price list has a row for each corridor and rail that a quote
// can use. The rail or network must be connected in the caller's environment, and the platform must
// be able to send the currency.

import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from '@sinclair/typebox';
import { withdrawalNetworkOf } from '../../../catalog/accounts/account-info.ts';
import { ACCOUNT_TYPE_ROWS } from '../../../catalog/accounts/account-types.ts';
import { institutions } from '../../../catalog/accounts/banks.ts';
import {
  isWithdrawalNetwork,
  networksFor,
  type WithdrawalNetwork,
} from '../../../catalog/crypto/crypto-networks.ts';
import { type Corridor, corridors, destinationsOf } from '../../../catalog/currencies/corridors.ts';
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import type { FeeSchedule } from '../../../catalog/currencies/fees.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { Connectors, RailPort } from '../../../connectors/ports/index.ts';
import { Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { settingOf } from '../../tenancy/config/index.ts';
import { type PlatformRow, readPlatform } from '../../tenancy/platform/index.ts';
import { DEFAULT_SENDING_AMOUNT, getDiscoveries, getExchangeRates } from './contract.ts';
import { addNetworkFee } from './network-fee.ts';
import { type PayoutRail, priceRow } from './price.ts';
import { type RateCache, rateCache } from './rates.ts';

type RatesQuery = Static<(typeof getExchangeRates)['query']>;

/** Whether the rail reaches an account type in this currency. */
function isConnected(port: RailPort, currency: string, rail: PaymentRail): boolean {
  return Object.entries(ACCOUNT_TYPE_ROWS).some(([type, row]) => {
    const isSupported = row.currencies.length === 0 || row.currencies.includes(currency);
    return isSupported && row.rails.includes(rail) && port.supportsPayout(type, rail);
  });
}

/** Whether a wallet type on the network can be paid in this currency. */
function isWalletNetworkConnected(
  port: RailPort,
  currency: string,
  network: WithdrawalNetwork,
): boolean {
  return Object.entries(ACCOUNT_TYPE_ROWS).some(
    ([type, row]) =>
      row.currencies.includes(currency) &&
      withdrawalNetworkOf({ accountType: type }) === network &&
      port.supportsPayout(type, null),
  );
}

/** The connected rails of a corridor. For a digital asset its withdrawal networks. */
function railsOf(port: RailPort, { rail, destinationCurrency: to }: Corridor): PayoutRail[] {
  if (rail) return isConnected(port, to, rail) ? [rail] : [];
  return networksFor(to).filter((network) => isWalletNetworkConnected(port, to, network));
}

function checkCodes({ sourceCurrency, destinationCurrency = [] }: RatesQuery): void {
  const parameters: [string, string[]][] = [
    ['sourceCurrency', sourceCurrency === undefined ? [] : [sourceCurrency]],
    ['destinationCurrency', destinationCurrency],
  ];
  const errors: FieldError[] = parameters.flatMap(([field, codes]) =>
    codes
      .filter((code) => !findCurrency(code))
      .map((code) => ({ field, message: `${code} is not a supported currency` })),
  );
  if (errors.length) throw invalid(errors, 'INVALID_CURRENCY');
}

/** Corridors that are priced before the event loop serves other requests. */
const CORRIDORS_PER_BATCH = 16;

async function pricesOf(
  ctx: Ctx,
  connectors: Connectors,
  cache: RateCache,
  query: RatesQuery,
  selectedCorridors: readonly Corridor[],
) {
  const { rail: port, rates, networkFees } = connectors;
  const platform = (await readPlatform(ctx, ctx.caller.platformId)) as PlatformRow;
  const amount = BigInt(query.sendingAmount ?? DEFAULT_SENDING_AMOUNT);
  if (!port || !rates) return [];
  // Network fees are converted at cached rates too.
  // The cache is shared by all platforms and follows real time.
  const realTime = ctx.effects.now();
  const leadMs = ctx.ownClock ? ctx.now - realTime : 0;
  const cachedRates = {
    rate: async (from: string, to: string) => {
      const midRate = await cache(rates, from, to, realTime);
      return midRate && { ...midRate, at: midRate.at + leadMs };
    },
  };
  const ports = { networkFees, rates: cachedRates };
  const priceRail = async (corridor: Corridor, rail: PayoutRail) => {
    const { sourceCurrency: from, destinationCurrency: to } = corridor;
    const midRate = await cachedRates.rate(from, to);
    const service = midRate && (await findServiceFee(ports, corridor, rail));
    const sendingMoney = { currency: from, amount };
    return service && priceRow({ corridor, rail, service, sendingMoney, midRate, platform });
  };
  const rows: Awaited<ReturnType<typeof priceRail>>[] = [];
  for (let index = 0; index < selectedCorridors.length; index += CORRIDORS_PER_BATCH) {
    const batch = selectedCorridors.slice(index, index + CORRIDORS_PER_BATCH);
    const priceRows = batch.flatMap((each) =>
      railsOf(port, each).map((rail) => priceRail(each, rail)),
    );
    rows.push(...(await Promise.all(priceRows)));
    await pause();
  }
  return rows.filter((row) => row !== undefined);
}

/**
 * The service fee, or undefined if the network fee cannot be converted. A quote is then rejected
 * for the same reason.
 */
async function findServiceFee(
  ports: Pick<Connectors, 'networkFees' | 'rates'>,
  { sourceCurrency: from, destinationCurrency: to }: Corridor,
  rail: PayoutRail,
): Promise<FeeSchedule | undefined> {
  const network = isWithdrawalNetwork(rail) ? rail : undefined;
  try {
    return (await addNetworkFee(ports, network, [from, to])).service;
  } catch (error) {
    if (error instanceof Fault && error.code === 'QUOTE_RATE_UNAVAILABLE') return undefined;
    throw error;
  }
}

/**
 * The currencies that the platform can send. With `requestedCurrency`, only this currency if the
 * platform can send it.
 */
async function sourcesOf(ctx: Ctx, requestedCurrency: string | undefined): Promise<string[]> {
  const platform = (await readPlatform(ctx, ctx.caller.platformId)) as PlatformRow;
  const codes = requestedCurrency
    ? [requestedCurrency]
    : platform.currencies.map((each) => each.currencyCode);
  return codes.filter(
    (code) => settingOf(platform, code)?.enabledTransactionTypes.includes('OUTGOING') ?? true,
  );
}

/** Runs work of the same key sequentially, so that one platform prices one list at a time. */
function createKeyedSerializer() {
  const lastRuns = new Map<string, Promise<unknown>>();
  return async <R>(key: string, work: () => Promise<R>): Promise<R> => {
    const currentRun = (lastRuns.get(key) ?? Promise.resolve()).then(work, work);
    lastRuns.set(key, currentRun);
    try {
      return await currentRun;
    } finally {
      if (lastRuns.get(key) === currentRun) lastRuns.delete(key);
    }
  };
}

export function discoveryOperations(options: { connectors: (environment: Mode) => Connectors }) {
  const cache = rateCache();
  const runSerially = createKeyedSerializer();
  return [
    handle(getExchangeRates, async (ctx, { query }) => {
      checkCodes(query);
      const sources = await sourcesOf(ctx, query.sourceCurrency);
      const selectedCorridors = sources.flatMap((from) =>
        [...new Set(query.destinationCurrency ?? destinationsOf(from))].flatMap((to) =>
          corridors(from, to),
        ),
      );
      const connectors = options.connectors(ctx.caller.environment);
      const data = await runSerially(ctx.caller.platformId, () =>
        pricesOf(ctx, connectors, cache, query, selectedCorridors),
      );
      return { status: 200, body: { data } };
    }),
    handle(getDiscoveries, async (_ctx, { query }) => ({
      status: 200,
      body: { data: institutions(query) },
    })),
  ];
}
