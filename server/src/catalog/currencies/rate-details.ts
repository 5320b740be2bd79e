// Stored form of the rate details of a conversion: six numbers in the order of their names, and a
// mark for a firm quote. Quotes and their transactions have rate details. The numbers need a fifth
// of the space of an object.

/** Names of the stored numbers, in this order. */
const NAMES = [
  'counterpartyMultiplier',
  'counterpartyFixedFee',
  'serviceApiMultiplier',
  'serviceApiFixedFee',
  'serviceApiVariableFeeRate',
  'serviceApiVariableFeeAmount',
] as const;

export type RateDetails = Record<(typeof NAMES)[number], number>;

/** An object in rows of earlier versions and in rows without details. */
export type StoredRateDetails = readonly number[] | Readonly<Record<string, number>>;

/** Additional last number that marks the rate of a firm quote of a provider. */
const FIRM_QUOTE_MARK = 1;

/** The stored form of rate details. */
export const storedRateDetails = (details: RateDetails, isFirm = false): StoredRateDetails => [
  ...NAMES.map((name) => details[name]),
  ...(isFirm ? [FIRM_QUOTE_MARK] : []),
];

/**
 * Whether the rate belongs to a firm quote. For any other rate, execution reads no additional row.
 */
export const hasFirmRate = (storedDetails: StoredRateDetails | null): boolean =>
  Array.isArray(storedDetails) && storedDetails[NAMES.length] === FIRM_QUOTE_MARK;

/** Rate details in the form of the API. */
export const rateDetailsOf = (
  storedDetails: StoredRateDetails,
): Readonly<Record<string, number>> =>
  Array.isArray(storedDetails)
    ? Object.fromEntries(NAMES.map((name, index) => [name, storedDetails[index] as number]))
    : (storedDetails as Readonly<Record<string, number>>);
