// Operations on receivers: payee discovery, fee estimates, and the lists of providers and VASPs. A
// fee estimate uses the calculation of payments, so that they differ by the rates only. Cursors of
// the static lists contain the last name, so entries that a later version adds or removes do not
// shift pages.

import type { Static } from '@sinclair/typebox';
import { type CryptoNetwork, NETWORKS } from '../../../catalog/crypto/crypto-networks.ts';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { calculateFees } from '../../../catalog/currencies/fees.ts';
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { parseUmaAddresses, type UmaAddress } from '../../../catalog/rails/uma-address.ts';
import type { UmaProvider } from '../../../catalog/rails/uma-providers.ts';
import { VASPS } from '../../../catalog/rails/vasps.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { isLess, type Money, subtract } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  type InternalAccountRow,
  internalAccountOf,
} from '../../balances/internal-accounts/index.ts';
import { addNetworkFee } from '../discovery/index.ts';
import { findAccount } from './account.ts';
import {
  estimateCryptoWithdrawalFee,
  getAvailableUmaProviders,
  listVasps,
  lookupExternalAccount,
  lookupUma,
} from './contract.ts';
import { saveDiscovery } from './save-discovery.ts';
import { senderOf } from './sender.ts';
import { findUma } from './uma.ts';

type Withdrawal = Static<(typeof estimateCryptoWithdrawalFee)['body']>;

/** Throws with all invalid fields. */
function checkWithdrawal(
  ctx: Ctx,
  { currency }: InternalAccountRow,
  { isAddress }: CryptoNetwork,
  withdrawal: Withdrawal,
): void {
  const errors: FieldError[] = [];
  const isOtherCurrency = withdrawal.currency !== currency;
  if (isOtherCurrency)
    errors.push({ field: 'currency', message: `must be ${currency}, the currency of the account` });
  if (ctx.caller.environment === 'production' && !isAddress(withdrawal.destinationAddress, true)) {
    errors.push({ field: 'destinationAddress', message: 'has an invalid checksum' });
  }
  if (errors.length) throw invalid(errors, isOtherCurrency ? 'INVALID_CURRENCY' : 'INVALID_INPUT');
}

/** Throws AMOUNT_OUT_OF_RANGE if the amount does not exceed the fees. */
async function estimate(ctx: Ctx, connectors: Connectors, withdrawal: Withdrawal) {
  const account = await internalAccountOf(ctx, withdrawal.internalAccountId);
  const network = NETWORKS[withdrawal.cryptoNetwork];
  checkWithdrawal(ctx, account, network, withdrawal);
  const { cryptoNetwork, currency } = withdrawal;
  const fees = await addNetworkFee(connectors, cryptoNetwork, [currency, currency]);
  const { service, cost, networkFee } = fees;
  if (!networkFee) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `The fee of ${cryptoNetwork} is not available. Use another network.`,
    );
  }
  const amount: Money = { currency, amount: BigInt(withdrawal.amount) };
  const totalFee: Money = { currency, amount: calculateFees(amount.amount, service).total };
  if (!isLess(totalFee, amount)) {
    const min = totalFee.amount + 1n;
    const minimum = formatMoney({ currency, amount: min });
    const reason = `The amount does not exceed the fees. Send at least ${minimum}.`;
    throw new Fault('AMOUNT_OUT_OF_RANGE', reason, { min: Number(min) });
  }
  return {
    networkFee: Number(networkFee.fee),
    networkFeeAsset: networkFee.asset,
    applicationFee: Number(subtract(totalFee, cost).amount),
    totalFee: Number(totalFee.amount),
    netAmount: Number(subtract(amount, totalFee).amount),
  };
}

const DEFAULT_LIMIT = 20;

interface ListQuery {
  limit?: number;
  cursor?: string;
  sortOrder?: 'asc' | 'desc';
}

const cursorOf = (list: string, name: string) =>
  Buffer.from(`${list} ${name}`).toString('base64url');

function cursorPosition(list: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const name = text.slice(list.length + 1);
  if (cursorOf(list, name) !== cursor || name === '') {
    throw invalidField('cursor', 'must be a cursor of this list');
  }
  return name;
}

/** A page of `items`, ordered by `nameOf`. Throws INVALID_INPUT for a cursor of another list. */
function pageOfList<T>(
  list: string,
  items: readonly T[],
  nameOf: (item: T) => string,
  { limit = DEFAULT_LIMIT, cursor, sortOrder = 'asc' }: ListQuery,
): { data: T[]; hasMore: boolean; nextCursor?: string } {
  const position = cursor === undefined ? undefined : cursorPosition(list, cursor);
  const sign = sortOrder === 'asc' ? 1 : -1;
  const compareNames = (a: string, b: string) => (a === b ? 0 : a < b ? -sign : sign);
  const remainingItems = items
    .filter((item) => position === undefined || compareNames(nameOf(item), position) > 0)
    .sort((a, b) => compareNames(nameOf(a), nameOf(b)));
  const data = remainingItems.slice(0, limit);
  const lastItem = data.at(-1);
  const hasMore = remainingItems.length > data.length;
  return {
    data,
    hasMore,
    ...(hasMore && lastItem !== undefined ? { nextCursor: cursorOf(list, nameOf(lastItem)) } : {}),
  };
}

const presentProvider = (provider: UmaProvider) => ({
  name: provider.name,
  supportedRegions: [...provider.regions],
  domain: provider.domain,
  logoUrl: provider.logoUrl,
  supportedCurrencies: provider.currencies.map(currencyView),
  lei: provider.lei,
  allowListStatus: provider.isAllowed,
});

export function receiverOperations(options: { connectors: (environment: Mode) => Connectors }) {
  const { connectors } = options;
  return [
    handle(lookupUma, async (ctx, { params, query }) => {
      const { receiverUmaAddress } = params;
      const { senderUmaAddress, customerId } = query;
      const umaAddresses = parseUmaAddresses({ receiverUmaAddress, senderUmaAddress });
      const receiver = umaAddresses.receiverUmaAddress as UmaAddress;
      const sender = await senderOf(ctx, {
        address: umaAddresses.senderUmaAddress?.address,
        customerId,
      });
      const currentConnectors = connectors(ctx.caller.environment);
      const discovery = await findUma(ctx, currentConnectors, sender, receiver);
      const savedDiscovery = await saveDiscovery(ctx, currentConnectors.rates, sender, discovery);
      return { status: 200, body: { receiverUmaAddress: discovery.receiver, ...savedDiscovery } };
    }),

    handle(lookupExternalAccount, async (ctx, { params, query }) => {
      const { senderUmaAddress, customerId } = query;
      const address = parseUmaAddresses({ senderUmaAddress }).senderUmaAddress?.address;
      const sender = await senderOf(ctx, { address, customerId });
      const currentConnectors = connectors(ctx.caller.environment);
      const discovery = await findAccount(ctx, currentConnectors, sender, params.accountId);
      const savedDiscovery = await saveDiscovery(ctx, currentConnectors.rates, sender, discovery);
      return { status: 200, body: { accountId: discovery.receiver, ...savedDiscovery } };
    }),

    handle(estimateCryptoWithdrawalFee, async (ctx, { body }) => ({
      status: 200,
      body: await estimate(ctx, connectors(ctx.caller.environment), body),
    })),

    handle(getAvailableUmaProviders, async (ctx, { query }) => {
      const { countryCode, currencyCode, hasBlockedProviders = true } = query;
      const matchingProviders = (connectors(ctx.caller.environment).uma?.providers?.() ?? [])
        .filter((each) => hasBlockedProviders || each.isAllowed)
        .filter((each) => countryCode === undefined || each.regions.includes(countryCode))
        .filter((each) => currencyCode === undefined || each.currencies.includes(currencyCode));
      const sortOrder = query.sortOrder ?? 'desc';
      const page = pageOfList('uma-providers', matchingProviders, (each) => each.name, {
        ...query,
        sortOrder,
      });
      const data = page.data.map(presentProvider);
      return { status: 200, body: { ...page, data, totalCount: matchingProviders.length } };
    }),

    handle(listVasps, async (_ctx, { query }) => {
      const page = pageOfList('vasps', VASPS, (vasp) => vasp.vaspName, query);
      return { status: 200, body: { ...page, data: page.data.map((vasp) => ({ ...vasp })) } };
    }),
  ];
}
