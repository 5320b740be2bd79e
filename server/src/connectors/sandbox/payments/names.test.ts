// The result of the name check for each suffix of an identifier.
import { describe, expect, it } from 'vitest';
import { sandboxBeneficiaryVerification } from './names.ts';

const verifyUsdAccount = (accountNumber: string, beneficiary: object, elapsedMs = 0) =>
  sandboxBeneficiaryVerification.verify(
    { accountType: 'USD_ACCOUNT', accountNumber, routingNumber: '1', beneficiary },
    elapsedMs,
  );

const ada = { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada King Lovelace' };

describe('sandboxBeneficiaryVerification', () => {
  it.each([
    ['102', { status: 'NOT_MATCHED' }],
    ['103', { status: 'PARTIAL_MATCH', fullName: 'A. King Lovelace' }],
    ['104', { status: 'PENDING', checkAfterMs: 5_000 }],
    ['105', { status: 'INVALID_ACCOUNT' }],
    ['106', { status: 'UNSUPPORTED' }],
    ['107', { status: 'CHECKED_BY_RECEIVING_FI' }],
    ['789', { status: 'MATCHED', fullName: 'Ada King Lovelace' }],
  ])('maps the suffix %s to its result', async (suffix, expectedCheck) => {
    expect(await verifyUsdAccount(`123456${suffix}`, ada)).toEqual(expectedCheck);
  });

  it('returns the result for the suffix 104 after five seconds', async () => {
    expect(await verifyUsdAccount('104', ada, 4_999)).toEqual({
      status: 'PENDING',
      checkAfterMs: 1,
    });
    const match = { status: 'MATCHED', fullName: 'Ada King Lovelace' };
    expect(await verifyUsdAccount('104', ada, 5_000)).toEqual(match);
  });

  it('identifies businesses by their legal name', async () => {
    const business = { beneficiaryType: 'BUSINESS', legalName: 'Engines Ltd' };
    expect(await verifyUsdAccount('1', business)).toEqual({
      status: 'MATCHED',
      fullName: 'Engines Ltd',
    });
    expect(
      await verifyUsdAccount('103', { beneficiaryType: 'BUSINESS', legalName: 'Engines' }),
    ).toEqual({
      status: 'PARTIAL_MATCH',
      fullName: 'Engines Jr',
    });
  });

  it('reads the user part of an identifier with a domain', async () => {
    const vpa = { accountType: 'INR_ACCOUNT', vpa: 'ada.102@upi', beneficiary: ada };
    expect(await sandboxBeneficiaryVerification.verify(vpa, 0)).toEqual({ status: 'NOT_MATCHED' });
  });
});
