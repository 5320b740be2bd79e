// `platform limits|set-limit|remove-limit`: maximum amounts of a platform per payment and per day.
// A limit applies to a currency, or to a currency converted to another. All applicable limits are
// enforced. Amounts are decimals such as 10000.00, because minor units could be entered wrong by a
// factor of one hundred.

import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { formatAmount } from '../../catalog/currencies/money-format.ts';
import {
  removePaymentLimit,
  setPaymentLimit,
} from '../../features/tenancy/administration/index.ts';
import { type PaymentLimit, platformById } from '../../features/tenancy/platform/index.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const PLATFORM = { platform: { value: 'PLATFORM', required: true, help: 'ID of the platform' } };

const CURRENCY_PAIR: Flags = {
  ...PLATFORM,
  currency: { value: 'CURRENCY', required: true, help: 'The currency that is sent' },
  to: { value: 'EUR', help: 'Destination currency (default: all)' },
};

const AMOUNTS: Flags = {
  'per-payment': {
    value: '10000.00',
    help: 'Maximum per payment, in major units. Required without --per-day (default: no limit)',
  },
  'per-day': {
    value: '50000.00',
    help: 'Maximum per UTC day, in major units. Required without --per-payment (default: no limit)',
  },
};

export function currencyIn(args: CommandArgs, flag: string): string | undefined {
  const code = args.text(flag);
  if (code !== undefined && !findCurrency(code)) {
    throw usageError(`--${flag}: ${code} is not a supported currency`);
  }
  return code;
}

/** Parses `10000.5` of a currency with two decimals to 1000050. */
export function amountIn(args: CommandArgs, flag: string, currency: string): number | undefined {
  const text = args.text(flag);
  if (text === undefined) return undefined;
  const decimals = findCurrency(currency)?.decimals ?? 0;
  const [, units, fraction = ''] = /^(\d{1,16})(?:\.(\d+))?$/.exec(text) ?? [];
  if (units === undefined || fraction.length > decimals) {
    throw usageError(
      `--${flag} must be an amount of ${currency} with ${decimals} decimals at most`,
    );
  }
  const amount = BigInt(units + fraction.padEnd(decimals, '0'));
  if (amount < 1n || amount > MAX_AMOUNT) {
    const [smallest, largest] = [1n, MAX_AMOUNT].map((each) =>
      formatAmount({ currency, amount: each }),
    );
    throw usageError(`--${flag} must be from ${smallest} to ${largest} ${currency}`);
  }
  return Number(amount);
}

function outputOf(limits: readonly PaymentLimit[]): Output {
  const amountText = (value: number | undefined, currency: string) =>
    value === undefined ? '-' : formatAmount({ currency, amount: BigInt(value) });
  const rows = limits.map(({ currency, to, perPayment, perDay }) => [
    currency,
    to ?? 'any',
    amountText(perPayment, currency),
    amountText(perDay, currency),
  ]);
  const text = table(
    [
      { heading: 'FROM' },
      { heading: 'TO' },
      { heading: 'PER PAYMENT', align: 'right' },
      { heading: 'PER DAY', align: 'right' },
    ],
    rows,
  );
  return { json: limits, text };
}

const currencyPairIn = (args: CommandArgs): Pick<PaymentLimit, 'currency' | 'to'> => {
  const to = currencyIn(args, 'to');
  const currency = currencyIn(args, 'currency') as string;
  return { currency, ...(to === undefined ? {} : { to }) };
};

async function set({ runtime }: System, args: CommandArgs): Promise<Output> {
  const pair = currencyPairIn(args);
  const perPayment = amountIn(args, 'per-payment', pair.currency);
  const perDay = amountIn(args, 'per-day', pair.currency);
  if (perPayment === undefined && perDay === undefined) {
    throw usageError('--per-payment or --per-day is required');
  }
  const limit: PaymentLimit = {
    ...pair,
    ...(perPayment === undefined ? {} : { perPayment }),
    ...(perDay === undefined ? {} : { perDay }),
  };
  return outputOf(await setPaymentLimit(runtime, args.required('platform'), limit));
}

async function remove({ runtime }: System, args: CommandArgs): Promise<Output> {
  return outputOf(
    await removePaymentLimit(runtime, args.required('platform'), currencyPairIn(args)),
  );
}

export const limitVerbs: readonly Verb[] = [
  {
    noun: 'platform',
    verb: 'limits',
    summary: 'List the limits of a platform',
    flags: PLATFORM,
    positional: 'platform',
    run: async ({ runtime }, args) =>
      outputOf((await platformById(runtime, args.required('platform'))).limits),
  },
  {
    noun: 'platform',
    verb: 'set-limit',
    summary: 'Set the limits of a currency, or of a conversion',
    flags: { ...CURRENCY_PAIR, ...AMOUNTS },
    positional: 'platform',
    run: set,
  },
  {
    noun: 'platform',
    verb: 'remove-limit',
    summary: 'Remove the limits of a currency, or of a conversion',
    flags: CURRENCY_PAIR,
    positional: 'platform',
    run: remove,
  },
];
