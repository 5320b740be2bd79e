// The operations about receivers. Lookups ask, rate and leave a row behind; the lists are data.
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { type UmaAddress, umaAddresses } from '../../../catalog/rails/uma-address.ts';
import type { UmaProvider } from '../../../catalog/rails/uma-providers.ts';
import { VASPS } from '../../../catalog/rails/vasps.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Environment } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findAccount } from './account.ts';
import {
  estimateCryptoWithdrawalFee,
  getAvailableUmaProviders,
  listVasps,
  lookupExternalAccount,
  lookupUma,
} from './contract.ts';
import { estimate } from './fee.ts';
import { keep } from './found.ts';
import { senderOf } from './sender.ts';
import { findUma } from './uma.ts';

// Pages of a list that is data and not rows: in the order of a name that every entry has once. The cursor
// says which list it belongs to and after which name to go on, so a page costs the same wherever it is and
// entries that come or go in a later version do not shift it.
const DEFAULT_LIMIT = 20;

interface ListQuery {
  limit?: number;
  cursor?: string;
  sortOrder?: 'asc' | 'desc';
}

const cursorOf = (list: string, name: string) =>
  Buffer.from(`${list} ${name}`).toString('base64url');

function placeOf(list: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const name = text.slice(list.length + 1);
  if (cursorOf(list, name) !== cursor || name === '') {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return name;
}

/** One page of `all` by `nameOf`. Throws INVALID_INPUT for a cursor that is not of this list. */
function pageOfList<T>(
  list: string,
  all: readonly T[],
  nameOf: (item: T) => string,
  { limit = DEFAULT_LIMIT, cursor, sortOrder = 'asc' }: ListQuery,
): { data: T[]; hasMore: boolean; nextCursor?: string } {
  const after = cursor === undefined ? undefined : placeOf(list, cursor);
  const sign = sortOrder === 'asc' ? 1 : -1;
  const order = (a: string, b: string) => (a === b ? 0 : a < b ? -sign : sign);
  const rest = all
    .filter((item) => after === undefined || order(nameOf(item), after) > 0)
    .sort((a, b) => order(nameOf(a), nameOf(b)));
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rest.length > data.length;
  return {
    data,
    hasMore,
    ...(hasMore && last !== undefined ? { nextCursor: cursorOf(list, nameOf(last)) } : {}),
  };
}

const presentProvider = (provider: UmaProvider) => ({
  name: provider.name,
  supportedRegions: [...provider.regions],
  domain: provider.domain,
  logoUrl: provider.logoUrl,
  supportedCurrencies: provider.currencies.map(currencyView),
  lei: provider.lei,
  allowListStatus: provider.allowed,
});

/** The operations; `connectors` gives those of an environment. */
export function receiverOperations(options: {
  connectors: (environment: Environment) => Connectors;
}) {
  const { connectors } = options;
  return [
    handle(lookupUma, async (ctx, { params, query }) => {
      const { receiverUmaAddress } = params;
      const { senderUmaAddress, customerId } = query;
      const read = umaAddresses({ receiverUmaAddress, senderUmaAddress });
      const receiver = read.receiverUmaAddress as UmaAddress;
      const sender = await senderOf(ctx, { address: read.senderUmaAddress?.address, customerId });
      const mine = connectors(ctx.caller.environment);
      const found = await findUma(ctx, mine, sender, receiver);
      const kept = await keep(ctx, mine.rates, sender, found);
      return { status: 200, body: { receiverUmaAddress: found.receiver, ...kept } };
    }),

    handle(lookupExternalAccount, async (ctx, { params, query }) => {
      const { senderUmaAddress, customerId } = query;
      const address = umaAddresses({ senderUmaAddress }).senderUmaAddress?.address;
      const sender = await senderOf(ctx, { address, customerId });
      const mine = connectors(ctx.caller.environment);
      const found = await findAccount(ctx, mine, sender, params.accountId);
      const kept = await keep(ctx, mine.rates, sender, found);
      return { status: 200, body: { accountId: found.receiver, ...kept } };
    }),

    handle(estimateCryptoWithdrawalFee, async (ctx, { body }) => ({
      status: 200,
      body: await estimate(ctx, connectors(ctx.caller.environment), body),
    })),

    handle(getAvailableUmaProviders, async (ctx, { query }) => {
      const { countryCode, currencyCode, hasBlockedProviders = true } = query;
      const matching = (connectors(ctx.caller.environment).uma?.providers?.() ?? [])
        .filter((each) => hasBlockedProviders || each.allowed)
        .filter((each) => countryCode === undefined || each.regions.includes(countryCode))
        .filter((each) => currencyCode === undefined || each.currencies.includes(currencyCode));
      const sortOrder = query.sortOrder ?? 'desc';
      const found = pageOfList('uma-providers', matching, (each) => each.name, {
        ...query,
        sortOrder,
      });
      const data = found.data.map(presentProvider);
      return { status: 200, body: { ...found, data, totalCount: matching.length } };
    }),

    handle(listVasps, async (_ctx, { query }) => {
      const found = pageOfList('vasps', VASPS, (vasp) => vasp.vaspName, query);
      return { status: 200, body: { ...found, data: found.data.map((vasp) => ({ ...vasp })) } };
    }),
  ];
}
