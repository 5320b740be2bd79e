// Looking things up before a payment. The price list has a row for each corridor and rail that a quote could
// use: the rail or network is connected in the caller's environment, and the platform may send the currency.

import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from '@sinclair/typebox';
import { withdrawalNetworkOf } from '../../../catalog/accounts/account-info.ts';
import { ACCOUNT_TYPE_ROWS } from '../../../catalog/accounts/account-types.ts';
import { institutions } from '../../../catalog/accounts/banks.ts';
import {
  isWithdrawalNetwork,
  networksTo,
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
import { DEFAULT_SENDING, getDiscoveries, getExchangeRates } from './contract.ts';
import { serviceFeeOver } from './network-fee.ts';
import { type PayoutRail, priceRow } from './price.ts';
import { type RateCache, rateCache } from './rates.ts';

type RatesQuery = Static<(typeof getExchangeRates)['query']>;

/** Whether the rail reaches any kind of account in this currency. */
function isConnected(port: RailPort, currency: string, rail: PaymentRail): boolean {
  return Object.entries(ACCOUNT_TYPE_ROWS).some(([type, row]) => {
    const holds = row.currencies.length === 0 || row.currencies.includes(currency);
    return holds && row.rails.includes(rail) && port.carries(type, rail);
  });
}

/** Whether any kind of wallet on the network can be paid in this currency. */
function isReached(port: RailPort, currency: string, network: WithdrawalNetwork): boolean {
  return Object.entries(ACCOUNT_TYPE_ROWS).some(
    ([type, row]) =>
      row.currencies.includes(currency) &&
      withdrawalNetworkOf({ accountType: type }) === network &&
      port.carries(type, null),
  );
}

/** The connected rails of a corridor; for a digital asset the networks that it can leave over. */
function railsOf(port: RailPort, { rail, destinationCurrency: to }: Corridor): PayoutRail[] {
  if (rail) return isConnected(port, to, rail) ? [rail] : [];
  return networksTo(to).filter((network) => isReached(port, to, network));
}

function checkCodes({ sourceCurrency, destinationCurrency = [] }: RatesQuery): void {
  const named: [string, string[]][] = [
    ['sourceCurrency', sourceCurrency === undefined ? [] : [sourceCurrency]],
    ['destinationCurrency', destinationCurrency],
  ];
  const errors: FieldError[] = named.flatMap(([field, codes]) =>
    codes
      .filter((code) => !findCurrency(code))
      .map((code) => ({ field, message: `${code} is not a supported currency` })),
  );
  if (errors.length) throw invalid(errors, 'INVALID_CURRENCY');
}

/** Corridors that are priced before other requests have their turn. */
const CORRIDORS_PER_BATCH = 16;

async function pricesOf(
  ctx: Ctx,
  connectors: Connectors,
  memory: RateCache,
  query: RatesQuery,
  lanes: readonly Corridor[],
) {
  const { rail: port, rates, networkFees } = connectors;
  const platform = (await readPlatform(ctx, ctx.caller.platformId)) as PlatformRow;
  const amount = BigInt(query.sendingAmount ?? DEFAULT_SENDING);
  if (!port || !rates) return [];
  // A network's fee is converted at the remembered rates, too.
  const kept = { rate: (from: string, to: string) => memory(rates, from, to, ctx.now) };
  const ports = { networkFees, rates: kept };
  const price = async (corridor: Corridor, rail: PayoutRail) => {
    const { sourceCurrency: from, destinationCurrency: to } = corridor;
    const mid = await kept.rate(from, to);
    const service = mid && (await serviceFee(ports, corridor, rail));
    const sending = { currency: from, amount };
    return service && priceRow({ corridor, rail, service, sending, mid, platform });
  };
  const rows: Awaited<ReturnType<typeof price>>[] = [];
  for (let at = 0; at < lanes.length; at += CORRIDORS_PER_BATCH) {
    const some = lanes.slice(at, at + CORRIDORS_PER_BATCH);
    const all = some.flatMap((lane) => railsOf(port, lane).map((rail) => price(lane, rail)));
    rows.push(...(await Promise.all(all)));
    await pause();
  }
  return rows.filter((row) => row !== undefined);
}

/** Undefined where the fee of the network cannot be priced: then there is no quote either. */
async function serviceFee(
  ports: Pick<Connectors, 'networkFees' | 'rates'>,
  { sourceCurrency: from, destinationCurrency: to }: Corridor,
  rail: PayoutRail,
): Promise<FeeSchedule | undefined> {
  const network = isWithdrawalNetwork(rail) ? rail : undefined;
  try {
    return (await serviceFeeOver(ports, network, [from, to])).service;
  } catch (error) {
    if (error instanceof Fault && error.code === 'QUOTE_RATE_UNAVAILABLE') return undefined;
    throw error;
  }
}

/** The currencies the platform lets money leave in; only `named`, where it is given. */
async function sourcesOf(ctx: Ctx, named: string | undefined): Promise<string[]> {
  const platform = (await readPlatform(ctx, ctx.caller.platformId)) as PlatformRow;
  const codes = named ? [named] : platform.currencies.map((each) => each.currencyCode);
  return codes.filter(
    (code) => settingOf(platform, code)?.enabledTransactionTypes.includes('OUTGOING') ?? true,
  );
}

/** Runs the works of one key one after another, so that many lists of one platform cost as much as one. */
function serialByKey() {
  const last = new Map<string, Promise<unknown>>();
  return async <R>(key: string, work: () => Promise<R>): Promise<R> => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}

/** The look-ups; `connectors` gives those of an environment. */
export function discoveryOperations(options: { connectors: (environment: Mode) => Connectors }) {
  const memory = rateCache();
  const inTurn = serialByKey();
  return [
    handle(getExchangeRates, async (ctx, { query }) => {
      checkCodes(query);
      const sources = await sourcesOf(ctx, query.sourceCurrency);
      const lanes = sources.flatMap((from) =>
        [...new Set(query.destinationCurrency ?? destinationsOf(from))].flatMap((to) =>
          corridors(from, to),
        ),
      );
      const connectors = options.connectors(ctx.caller.environment);
      const data = await inTurn(ctx.caller.platformId, () =>
        pricesOf(ctx, connectors, memory, query, lanes),
      );
      return { status: 200, body: { data } };
    }),
    handle(getDiscoveries, async (_ctx, { query }) => ({
      status: 200,
      body: { data: institutions(query) },
    })),
  ];
}
