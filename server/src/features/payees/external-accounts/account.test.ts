// Rules of external accounts without a database: details, status and duplicates.
import { describe, expect, it } from 'vitest';
import { railsOf } from '../../../catalog/accounts/account-info.ts';
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import { Fault } from '../../../kernel/fault.ts';
import {
  checkDeletable,
  checkProposal,
  duplicateHash,
  firstStatus,
  type Proposal,
  storedInfo,
} from './account.ts';
import { externalAccountStates } from './states.ts';

const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace' } as const;
const EVM_ADDRESS = `0x${'ab'.repeat(20)}`;

const untypedInfo = (info: object) => info as unknown as AccountInfo;
const usdAccount = untypedInfo({
  accountType: 'USD_ACCOUNT',
  accountNumber: '123456789',
  beneficiary,
});
const wallet = untypedInfo({ accountType: 'ETHEREUM_WALLET', address: EVM_ADDRESS });

const proposalOf = (info: AccountInfo, overrides: Partial<Proposal> = {}): Proposal => ({
  currency: 'USDC',
  info,
  ownershipType: undefined,
  production: false,
  isCounterpartyRequired: false,
  now: Date.UTC(2026, 0, 5),
  ...overrides,
});

function rejectionOf(input: Proposal) {
  try {
    checkProposal(input);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const errors = (error.details?.errors ?? []) as { field: string }[];
    return { code: error.code, fields: errors.map((each) => each.field) };
  }
  return null;
}

describe('checkProposal', () => {
  const withRouting = (routingNumber: string) => untypedInfo({ ...usdAccount, routingNumber });

  it('validates check digits in production only', () => {
    const productionOverrides = { currency: 'USD', production: true };
    expect(rejectionOf(proposalOf(withRouting('123456789'), { currency: 'USD' }))).toBeNull();
    expect(rejectionOf(proposalOf(withRouting('123456789'), productionOverrides))).toEqual({
      code: 'INVALID_INPUT',
      fields: ['accountInfo.routingNumber'],
    });
    expect(rejectionOf(proposalOf(withRouting('021000021'), productionOverrides))).toBeNull();
  });

  it('rejects a currency that the account type does not support', () => {
    expect(rejectionOf(proposalOf(withRouting('021000021'), { currency: 'EUR' }))).toEqual({
      code: 'INVALID_CURRENCY',
      fields: ['currency'],
    });
  });

  it('requires the owner of a self-custody wallet if counterparties must be identified', () => {
    const platformWithRequirement = { isCounterpartyRequired: true };
    expect(rejectionOf(proposalOf(wallet))).toBeNull();
    expect(rejectionOf(proposalOf(wallet, platformWithRequirement))?.fields).toEqual([
      'ownershipType',
    ]);
    expect(
      rejectionOf(proposalOf({ ...wallet, vaspName: 'Kraken' }, platformWithRequirement)),
    ).toBeNull();
    const thirdParty = { ...platformWithRequirement, ownershipType: 'THIRD_PARTY' } as const;
    expect(rejectionOf(proposalOf(wallet, thirdParty))?.fields).toEqual([
      'accountInfo.beneficiary',
    ]);
    const lightningAccount = untypedInfo({
      accountType: 'LIGHTNING',
      lightningAddress: 'ada@ln.test',
    });
    expect(
      rejectionOf(proposalOf(lightningAccount, { ...thirdParty, currency: 'BTC' })),
    ).toBeNull();
  });

  it('rejects an unknown custodian', () => {
    const custodialWallet = { ...wallet, vaspName: 'Unlisted' };
    expect(rejectionOf(proposalOf(custodialWallet))?.fields).toEqual(['accountInfo.vaspName']);
  });
});

describe('firstStatus', () => {
  it('requires a proof only for FIRST_PARTY self-custody wallets under the travel rule', () => {
    const firstParty = { ownershipType: 'FIRST_PARTY', isCounterpartyRequired: true } as const;
    expect(firstStatus(proposalOf(wallet, firstParty))).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect(firstStatus(proposalOf({ ...wallet, vaspName: 'Kraken' }, firstParty))).toBe('ACTIVE');
    expect(firstStatus(proposalOf(wallet, { ...firstParty, isCounterpartyRequired: false }))).toBe(
      'ACTIVE',
    );
    expect(firstStatus(proposalOf(usdAccount, firstParty))).toBe('ACTIVE');
  });
});

describe('storedInfo', () => {
  it('removes fields that the type does not have', () => {
    const storedAccountInfo = storedInfo(
      untypedInfo({ ...wallet, paymentRails: ['ACH'], iban: 'X' }),
    );
    expect(storedAccountInfo).toEqual(wallet);
  });
});

describe('duplicateHash', () => {
  it('is equal for different spellings of one account', () => {
    const eurAccountInfo = (text: string) =>
      untypedInfo({ accountType: 'EUR_ACCOUNT', iban: text, beneficiary });
    const hash = duplicateHash(eurAccountInfo('DE89370400440532013000'), 'EUR');
    expect(duplicateHash(eurAccountInfo('de89 3704 0044 0532 0130 00'), 'EUR')).toBe(hash);
    expect(duplicateHash(eurAccountInfo('DE02120300000000202051'), 'EUR')).not.toBe(hash);
    const upperCaseWallet = untypedInfo({ ...wallet, address: `0x${'AB'.repeat(20)}` });
    expect(duplicateHash(upperCaseWallet, 'USDC')).toBe(duplicateHash(wallet, 'USDC'));
    expect(duplicateHash(wallet, 'USDT')).not.toBe(duplicateHash(wallet, 'USDC'));
  });
});

describe('railsOf', () => {
  it('derives the rails from the fields present', () => {
    const inrAccount = untypedInfo({ accountType: 'INR_ACCOUNT', vpa: 'ada@upi', beneficiary });
    expect(railsOf(inrAccount)).toEqual(['UPI']);
    expect(railsOf(wallet)).toEqual([]);
  });
});

describe('checkDeletable', () => {
  it('rejects a trusted account', () => {
    expect(() => checkDeletable({ trusted_at: null })).not.toThrow();
    expect(() => checkDeletable({ trusted_at: 1 })).toThrow(/trust/);
  });
});

describe('externalAccountStates', () => {
  it('allows a new verification after a failed verification', () => {
    const failedStatus = externalAccountStates.next('PENDING_OWNERSHIP_VERIFICATION', 'disprove');
    expect(externalAccountStates.next(failedStatus, 'challenge')).toBe(
      'PENDING_OWNERSHIP_VERIFICATION',
    );
    expect(externalAccountStates.targetOf('ACTIVE', 'prove')).toBeUndefined();
  });
});
