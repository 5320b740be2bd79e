import { describe, expect, it } from 'vitest';
import { sandboxIdentity } from './identity.ts';

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
    expect(sandboxIdentity.atCreation({ type: 'INDIVIDUAL', fullName })).toBe(status);
  });

  it('leaves businesses to their first submission', () => {
    expect(sandboxIdentity.atCreation({ type: 'BUSINESS', fullName: 'Acme 002' })).toBe(
      'UNVERIFIED',
    );
  });
});
