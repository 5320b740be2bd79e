// Stored form of the rate details of a conversion: six numbers in the order of their names. Every quote and
// transaction has rate details, and the numbers need a fifth of the space of an object.

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
const FIRM = 1;

/** The stored form of rate details. */
export const storedRateDetails = (details: RateDetails, isFirm = false): StoredRateDetails => [
  ...NAMES.map((name) => details[name]),
  ...(isFirm ? [FIRM] : []),
];

/** Whether the rate belongs to a firm quote. If not, execution reads no additional row. */
export const hasFirmRate = (stored: StoredRateDetails | null): boolean =>
  Array.isArray(stored) && stored[NAMES.length] === FIRM;

/** Rate details as the API shows them. */
export const rateDetailsOf = (stored: StoredRateDetails): Readonly<Record<string, number>> =>
  Array.isArray(stored)
    ? Object.fromEntries(NAMES.map((name, index) => [name, stored[index] as number]))
    : (stored as Readonly<Record<string, number>>);
