// Looking things up before a payment. The price list covers every corridor whose payout rail is connected
// in the caller's environment; what is not connected is not listed.
import type { Static } from '@sinclair/typebox';
import { ACCOUNT_TYPE_ROWS } from '../../catalog/account-types.ts';
import { institutions } from '../../catalog/banks.ts';
import { type Corridor, corridors, destinationsOf } from '../../catalog/corridors.ts';
import { findCurrency } from '../../catalog/currencies.ts';
import type { PaymentRail } from '../../catalog/rails.ts';
import type { Connectors, RailPort } from '../../connectors/ports.ts';
import { type FieldError, invalid } from '../../kernel/fault.ts';
import type { Ctx, Environment } from '../../runtime/context.ts';
import { handle } from '../../runtime/handle.ts';
import { type PlatformRow, platforms } from '../platform/index.ts';
import { DEFAULT_SENDING, getDiscoveries, getExchangeRates } from './contract.ts';
import { priceRow } from './price.ts';
import { type RateMemory, rateMemory } from './rates.ts';

type RatesQuery = Static<(typeof getExchangeRates)['query']>;

/** Whether the rail reaches any kind of account in this currency. */
function isConnected(port: RailPort, currency: string, rail: PaymentRail): boolean {
  return Object.entries(ACCOUNT_TYPE_ROWS).some(([type, row]) => {
    const holds = row.currencies.length === 0 || row.currencies.includes(currency);
    return holds && row.rails.includes(rail) && port.carries(type, rail);
  });
}

function checkCodes({ sourceCurrency, destinationCurrency = [] }: RatesQuery): void {
  const named: [string, string[]][] = [
    ['sourceCurrency', sourceCurrency === undefined ? [] : [sourceCurrency]],
    ['destinationCurrency', destinationCurrency],
  ];
  const errors: FieldError[] = named.flatMap(([field, codes]) =>
    codes
      .filter((code) => !findCurrency(code))
      .map((code) => ({ field, message: `${code} is not a currency here` })),
  );
  if (errors.length) throw invalid(errors, 'INVALID_CURRENCY');
}

async function pricesOf(
  ctx: Ctx,
  connectors: Connectors,
  memory: RateMemory,
  query: RatesQuery,
  lanes: readonly Corridor[],
) {
  const { rail: port, rates } = connectors;
  const platform = (await ctx.read(platforms, ctx.caller.platformId)) as PlatformRow;
  const sending = BigInt(query.sendingAmount ?? DEFAULT_SENDING);
  const rows = await Promise.all(
    lanes.map(async (corridor) => {
      const { rail, sourceCurrency: from, destinationCurrency: to } = corridor;
      if (!port || !rates || !rail || !isConnected(port, to, rail)) return undefined;
      const mid = await memory(rates, from, to, ctx.now);
      return mid && priceRow({ corridor, rail, sending, mid, platform });
    }),
  );
  return rows.filter((row) => row !== undefined);
}

/** The currencies the platform lets money leave in. */
async function sourcesOf(ctx: Ctx): Promise<string[]> {
  const platform = await ctx.read(platforms, ctx.caller.platformId);
  return (platform?.currencies ?? [])
    .filter((each) => each.enabledTransactionTypes.includes('OUTGOING'))
    .map((each) => each.currencyCode);
}

/** The look-ups; `connectors` gives those of an environment. */
export function discoveryOperations(options: {
  connectors: (environment: Environment) => Connectors;
}) {
  const memory = rateMemory();
  return [
    handle(getExchangeRates, async (ctx, { query }) => {
      checkCodes(query);
      const sources = query.sourceCurrency ? [query.sourceCurrency] : await sourcesOf(ctx);
      const lanes = sources.flatMap((from) =>
        [...new Set(query.destinationCurrency ?? destinationsOf(from))].flatMap((to) =>
          corridors(from, to),
        ),
      );
      const connectors = options.connectors(ctx.caller.environment);
      const data = await pricesOf(ctx, connectors, memory, query, lanes);
      return { status: 200, body: { data } };
    }),
    handle(getDiscoveries, async (_ctx, { query }) => ({
      status: 200,
      body: { data: institutions(query) },
    })),
  ];
}
