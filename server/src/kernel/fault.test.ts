// The advice to retry for each error code.
import { describe, expect, it } from 'vitest';
import {
  type Code,
  contentionFault,
  Fault,
  isTransient,
  messageWithCause,
  retryAdvice,
  STATUS_OF,
} from './fault.ts';

const CODES = Object.keys(STATUS_OF) as Code[];

describe('retryAdvice', () => {
  it.each(CODES.filter((code) => STATUS_OF[code] === 409))(
    'is false for %s unless the same request may succeed later',
    (code) => {
      expect(retryAdvice(new Fault(code, 'Reason.'))).toBe(isTransient(code) ? 'true' : 'false');
    },
  );

  it('is true for temporary conflicts', () => {
    expect(CODES.filter((code) => retryAdvice(new Fault(code, 'Reason.')) === 'true')).toEqual([
      'BANK_ACCOUNT_VALIDATION_PENDING',
      'WALLET_NOT_PROVISIONED',
    ]);
  });

  it('is undefined for other codes, except for a daily limit', () => {
    const advisedCodes = CODES.filter(
      (code) => STATUS_OF[code] !== 409 && retryAdvice(new Fault(code, 'Reason.')) !== undefined,
    );
    expect(advisedCodes).toEqual(['DAILY_VOLUME_LIMIT_EXCEEDED']);
  });

  it('follows the fault for a code that is final in some cases only', () => {
    const retryableFault = new Fault('CONFLICT', 'Reason.', undefined, { isRetryable: true });
    expect([retryAdvice(retryableFault), retryableFault.isRetryable]).toEqual(['true', true]);
    expect(retryAdvice(new Fault('CONFLICT', 'Reason.'))).toBe('false');
  });

  it('is undefined for contention of concurrent requests, whose fault is retryable', () => {
    const fault = contentionFault('The resource kept changing.');
    expect([fault.status, fault.retryAfterS, fault.isRetryable]).toEqual([503, 1, true]);
    expect(retryAdvice(fault)).toBeUndefined();
  });
});

describe('messageWithCause', () => {
  const rejection = new Error('too many connections');
  const fault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.', undefined, {
    cause: new Error(rejection.message, { cause: rejection }),
  });

  it.each([
    [new Error('No cause.'), 'No cause.'],
    [fault, 'The database is unavailable. too many connections'],
    [
      new Error('Failed: too many connections', { cause: rejection }),
      'Failed: too many connections',
    ],
  ])('of %o is %s', (error, message) => expect(messageWithCause(error)).toBe(message));
});
