// The operations about receivers. Lookups ask, rate and leave a row behind; the lists are data.
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { type UmaAddress, umaAddresses } from '../../../catalog/rails/uma-address.ts';
import type { UmaProvider } from '../../../catalog/rails/uma-providers.ts';
import { VASPS } from '../../../catalog/rails/vasps.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
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
import { pageOfList } from './paging.ts';
import { senderOf } from './sender.ts';
import { findUma } from './uma.ts';

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
