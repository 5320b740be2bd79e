// The stored form of rate details, including that of earlier versions.
import { describe, expect, it } from 'vitest';
import { rateDetailsOf, storedRateDetails } from './rate-details.ts';

const details = {
  counterpartyMultiplier: 1,
  counterpartyFixedFee: 2,
  serviceApiMultiplier: 0.9195979899497487,
  serviceApiFixedFee: 3,
  serviceApiVariableFeeRate: 0.005,
  serviceApiVariableFeeAmount: 5,
};

describe('stored rate details', () => {
  it('are numbers, shown with their names in the same order', () => {
    const storedDetails = storedRateDetails(details);
    expect(storedDetails).toEqual([1, 2, 0.9195979899497487, 3, 0.005, 5]);
    expect(JSON.stringify(rateDetailsOf(storedDetails))).toBe(JSON.stringify(details));
  });

  it('can be an object of an earlier version or an empty object', () => {
    expect(rateDetailsOf(details)).toBe(details);
    expect(rateDetailsOf({})).toEqual({});
  });
});
