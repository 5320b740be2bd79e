// Formats amounts with the decimals of their currency, for the API and for people.
import { type Money, type Rate, readable } from '../../kernel/money.ts';
import { currencyOf, currencyView, findCurrency } from './currencies.ts';

/** The amount with its currency as the API shows them. */
export const moneyView = ({ amount, currency }: Money) => ({
  amount: Number(amount),
  currency: currencyView(currency),
});

/** Exchange rate in whole units of `of` for one whole unit of `per`. */
export function wholeUnitRate(of: Money, per: Money): Rate {
  const unitOf = ({ currency }: Money) => 10n ** BigInt(currencyOf(currency).decimals);
  return { num: of.amount * unitOf(per), den: per.amount * unitOf(of) };
}

/** `12,345.67 USD`. Throws for an unknown currency, since payments are decided by this text. */
export const formatMoney = ({ amount, currency }: Money): string =>
  `${readable(amount, currencyOf(currency).decimals)} ${currency}`;

/** `12,345.67`, for lists. The amount of an unknown currency is shown in minor units. */
export const formatAmount = ({ amount, currency }: Money): string =>
  readable(amount, findCurrency(currency)?.decimals ?? 0);
