// Reasons in the contracts: operations that reject require a reason, and removals accept a reason.
import { describe, expect, it } from 'vitest';
import { OPERATOR_OPERATIONS } from './index.ts';

const REJECTIONS = OPERATOR_OPERATIONS.map(({ contract }) => contract).filter(({ operationId }) =>
  operationId.startsWith('reject'),
);

const REMOVALS = OPERATOR_OPERATIONS.map(({ contract }) => contract).filter(
  ({ method, operatorPermission }) =>
    method === 'DELETE' && operatorPermission !== 'profile.manage',
);

it.each(REMOVALS)('a removal accepts a reason in its query: $operationId', ({ query }) => {
  expect(query?.properties).toHaveProperty('reason');
});

describe('operations that reject', () => {
  it('are the listed operations', () => {
    expect(REJECTIONS.map(({ operationId }) => operationId).sort()).toEqual([
      'rejectChange',
      'rejectDeposit',
      'rejectExternalAccount',
      'rejectFactorReset',
      'rejectStablecoin',
      'rejectTransferCancel',
      'rejectVerification',
    ]);
  });

  it.each(REJECTIONS)('require a reason: $operationId', ({ body, bodyOptional }) => {
    expect(body?.required).toContain('reason');
    expect(bodyOptional ?? false).toBe(false);
  });
});
