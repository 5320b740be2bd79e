// A table of mid rates of an operator or a rate service. The table has one base currency, and the
// units of each other currency for one unit of the base. Numbers are read as text and stored as
// fractions of integers, so rates and their inverses are exact.

import type { Time } from '../../kernel/effects.ts';
import type { Rate } from '../../kernel/money.ts';
import { findCurrency } from './currencies.ts';

export interface RateTable {
  /** Time of the rates. Undefined if the table contains no time. */
  at: Time | undefined;
  /** Exact units for one unit of the base, by currency, including 1 for the base. */
  perBase: ReadonlyMap<string, Rate>;
}

/** A table with its ignored rows, or all errors. */
export type ParsedTable = { table: RateTable; skipped: string[] } | { problems: string[] };

const DECIMAL = /^(\d{1,20})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** A positive decimal as a fraction. Undefined for any other text. */
export function fractionOf(text: string): Rate | undefined {
  const match = DECIMAL.exec(text.trim());
  if (!match) return undefined;
  const [, integerPart = '', fractionalPart = '', exponent = '0'] = match;
  const shift = Number(exponent) - fractionalPart.length;
  const digits = BigInt(integerPart + fractionalPart);
  if (digits === 0n) return undefined;
  return shift >= 0
    ? { num: digits * 10n ** BigInt(shift), den: 1n }
    : { num: digits, den: 10n ** BigInt(-shift) };
}

/**
 * The mid rate between two currencies of a table, from minor unit to minor unit. Undefined if one
 * is missing.
 */
export function midRate({ perBase }: RateTable, from: string, to: string): Rate | undefined {
  const [fromRate, toRate] = [perBase.get(from), perBase.get(to)];
  const [fromUnit, toUnit] = [findCurrency(from), findCurrency(to)];
  if (!fromRate || !toRate || !fromUnit || !toUnit) return undefined;
  return {
    num: toRate.num * fromRate.den * 10n ** BigInt(toUnit.decimals),
    den: toRate.den * fromRate.num * 10n ** BigInt(fromUnit.decimals),
  };
}

interface Row {
  /** Position in the source, for error messages. */
  position: string;
  currency: string;
  rate: string;
}

function timeOf(text: string): Time | undefined {
  const time = /^\d{9,11}$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  return /^\d{4}-\d\d-\d\d|^\d{9,11}$/.test(text) && !Number.isNaN(time) ? time : undefined;
}

function problemOf({ currency, rate }: Row, ratesByCurrency: ReadonlyMap<string, Rate>) {
  if (!currency) return 'the currency is empty';
  if (!findCurrency(currency)) return `${currency} is not a supported currency`;
  if (!rate) return 'the rate is not a number';
  if (!fractionOf(rate)) return `${rate} is not a decimal above zero`;
  return ratesByCurrency.has(currency) ? `${currency} is listed twice` : undefined;
}

/** If `isStrict`, an invalid row makes the table invalid. Otherwise invalid rows are ignored. */
function buildTable(
  baseCurrency: string,
  publishedAt: string | undefined,
  rows: readonly Row[],
  isStrict: boolean,
): ParsedTable {
  const problems: string[] = [];
  if (!findCurrency(baseCurrency))
    problems.push('base must be the supported currency to which all rates refer');
  const time = publishedAt === undefined ? undefined : timeOf(publishedAt);
  if (publishedAt !== undefined && time === undefined)
    problems.push(`${publishedAt} is not a time: use ISO 8601 or seconds since 1970`);
  const perBase = new Map<string, Rate>([[baseCurrency, { num: 1n, den: 1n }]]);
  const skippedRows: string[] = [];
  for (const row of rows) {
    if (row.currency === baseCurrency && fractionOf(row.rate)?.num === fractionOf(row.rate)?.den)
      continue;
    const problem = problemOf(row, perBase);
    if (problem) (isStrict ? problems : skippedRows).push(`${row.position}: ${problem}`);
    else perBase.set(row.currency, fractionOf(row.rate) as Rate);
  }
  return problems.length ? { problems } : { table: { at: time, perBase }, skipped: skippedRows };
}

/** Quotes every number of a JSON text, so that parsing loses no digit. */
const quoteNumbers = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );

/**
 * `{ "base": "USD", "at": "2026-01-05T09:00:00Z", "rates": { "EUR": "0.9154", "MXN": 17.05 } }`.
 * Rates are numbers or strings. `timestamp`, in seconds, can replace `at`.
 */
export function tableOfJson(text: string, isStrict: boolean): ParsedTable {
  let json: unknown;
  try {
    json = JSON.parse(quoteNumbers(text));
  } catch {
    return { problems: ['the text is not JSON'] };
  }
  const { base, at, timestamp, rates } = (json ?? {}) as Record<string, unknown>;
  if (typeof rates !== 'object' || rates === null || Array.isArray(rates)) {
    return { problems: ['rates must be an object with a rate per currency'] };
  }
  const rows = Object.entries(rates).map(([currency, rate]) => ({
    position: `rates.${currency}`,
    currency,
    rate: typeof rate === 'string' ? rate : '',
  }));
  const time = at ?? timestamp;
  return buildTable(
    String(base ?? ''),
    time === undefined ? undefined : String(time),
    rows,
    isStrict,
  );
}

/** Lines of `currency,rate`, among them `base,USD` and optionally `at,2026-01-05T09:00:00Z`. */
export function tableOfCsv(text: string, isStrict: boolean): ParsedTable {
  const header = new Map<string, string>();
  const rows: Row[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name = '', rate = '', ...otherCells] = line.split(',').map((each) => each.trim());
    const lowerCaseName = name.toLowerCase();
    if (lowerCaseName === 'currency' && rate.toLowerCase() === 'rate') continue;
    if (lowerCaseName === 'base' || lowerCaseName === 'at') header.set(lowerCaseName, rate);
    else
      rows.push({
        position: `line ${index + 1}`,
        currency: name,
        rate: otherCells.length ? line : rate,
      });
  }
  return buildTable(header.get('base') ?? '', header.get('at'), rows, isStrict);
}
