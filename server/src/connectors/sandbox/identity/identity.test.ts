// The decision for each suffix of a customer's name, a registration number or an owner's name.
import { describe, expect, it } from 'vitest';
import type { IdentityCase } from '../../ports/index.ts';
import { sandboxIdentity } from './identity.ts';

const person = (fullName: string, overrides: Partial<IdentityCase> = {}): IdentityCase => ({
  ...{ id: 'Verification:1', platformId: 'PlatformConfig:1', customerId: 'Customer:1' },
  ...{ type: 'INDIVIDUAL', email: null, phoneNumber: null, identifier: null },
  ...{ details: { fullName }, owners: [], documents: [], ...overrides },
});

const business = (registrationNumber?: string, overrides: Partial<IdentityCase> = {}) =>
  person('', { type: 'BUSINESS', details: { businessInfo: { registrationNumber } }, ...overrides });

const owner = (lastName: string) => ({
  ...{ id: `BeneficialOwner:${lastName}`, roles: ['UBO'], ownershipPercentage: 10 },
  personalInfo: { lastName },
});

describe('sandboxIdentity', () => {
  it.each([
    ['Ada Lovelace 001', 'PENDING'],
    ['Ada Lovelace 002', 'REJECTED'],
    ['Ada Lovelace 003', 'UNVERIFIED'],
    ['Ada Lovelace 004', 'APPROVED'],
    ['Ada002 Lovelace', 'APPROVED'],
    ['002', 'REJECTED'],
    ['02', 'APPROVED'],
    [null, 'APPROVED'],
  ] as const)('starts %s as %s', (fullName, status) => {
    expect(sandboxIdentity.atCreation?.({ type: 'INDIVIDUAL', fullName })).toBe(status);
  });

  it('starts a business as UNVERIFIED', () => {
    expect(sandboxIdentity.atCreation?.({ type: 'BUSINESS', fullName: 'Acme 002' })).toBe(
      'UNVERIFIED',
    );
  });

  it.each([
    ['Ada Lovelace 001', 'review'],
    ['Ada Lovelace 002', 'rejected'],
    ['Ada Lovelace 003', 'unresolved'],
    ['Ada Lovelace', 'approved'],
    ['Ada 0012', 'approved'],
  ])('returns for %s the verdict %s', async (fullName, state) => {
    expect(sandboxIdentity.withoutDocuments?.(person(fullName))).toBeUndefined();
    expect((await sandboxIdentity.submit(person(fullName))).state).toBe(state);
  });

  it.each([
    ['REG-001', 'review', undefined],
    ['REG-002', 'rejected', 'rejected'],
    ['REG-003', 'review', undefined],
    ['REG-004', 'approved', 'approved'],
    [undefined, 'approved', 'approved'],
  ])(
    'returns for the business %s the verdict %s, and without documents %s',
    async (number, state, stateWithoutDocuments) => {
      expect((await sandboxIdentity.submit(business(number))).state).toBe(state);
      expect(sandboxIdentity.withoutDocuments?.(business(number))?.state).toBe(
        stateWithoutDocuments,
      );
    },
  );

  it('selects the outcome of each owner by the family name', async () => {
    const owners = [owner('Hopper001'), owner('Hopper002'), owner('Hopper003')];
    expect(await sandboxIdentity.submit(business('1', { owners }))).toEqual({
      state: 'approved',
      owners: {
        'BeneficialOwner:Hopper001': 'PENDING',
        'BeneficialOwner:Hopper002': 'REJECTED',
        'BeneficialOwner:Hopper003': 'APPROVED',
      },
    });
  });

  it('ignores names of built-in properties', async () => {
    const documents = ['constructor', 'toString', 'MISSING_FIELD', ''].map((documentNumber) => ({
      ...{ id: 'Document:1', holder: 'Customer:1', documentType: 'PASSPORT', country: 'US' },
      documentNumber,
    }));
    expect((await sandboxIdentity.submit(person('Ada toString', { documents }))).state).toBe(
      'approved',
    );
  });
});
