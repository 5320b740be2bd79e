// Formats of money: API view and text, with the decimals of the currency.
import { formatUnits, type Money, type Rate } from '../../kernel/money.ts';
import { currencyOf, currencyView, findCurrency } from './currencies.ts';

/** Amount and currency as returned by the API. */
export const moneyView = ({ amount, currency }: Money) => ({
  amount: Number(amount),
  currency: currencyView(currency),
});

/** Rate in whole units of the currency of `money` for one whole unit of the currency of `per`. */
export function wholeUnitRate(money: Money, per: Money): Rate {
  const minorUnitsOf = ({ currency }: Money) => 10n ** BigInt(currencyOf(currency).decimals);
  return { num: money.amount * minorUnitsOf(per), den: per.amount * minorUnitsOf(money) };
}

/** `12,345.67 USD`. Throws for an unknown currency, because users approve payments by this text. */
export const formatMoney = ({ amount, currency }: Money): string =>
  `${formatUnits(amount, currencyOf(currency).decimals)} ${currency}`;

/** `12,345.67`, for lists. The amount of an unknown currency is shown in minor units. */
export const formatAmount = ({ amount, currency }: Money): string =>
  formatUnits(amount, findCurrency(currency)?.decimals ?? 0);
