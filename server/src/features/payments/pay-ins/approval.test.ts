// Decision for each response to an approval webhook, and the fields that the webhook requests.
import { describe, expect, it } from 'vitest';
import { decisionOf, missingFieldsOf, requestedFields } from './approval.ts';

const BIRTH_DATE_FIELDS = [{ name: 'BIRTH_DATE', mandatory: true }];
const receiverResponse = (status: number | null, responseText: string | null = '') => ({
  status,
  responseText,
});
const rejectionWith = (reason: string) => ({ outcome: 'reject', reason });

describe('decisionOf', () => {
  it.each([
    ['an empty body when no fields are requested', '', []],
    ['an object without the info', '{"message":"fine"}', []],
    ['null for the info', '{"receiverCustomerInfo":null}', []],
  ])('accepts 200 with %s', (_, responseText, mandatoryFields) => {
    expect(decisionOf(receiverResponse(200, responseText), mandatoryFields)).toEqual({
      outcome: 'approve',
      info: {},
    });
  });

  it('accepts 200 with the requested fields', () => {
    const responseText = '{"receiverCustomerInfo":{"BIRTH_DATE":"1990-01-15"}}';
    const info = { BIRTH_DATE: '1990-01-15' };
    expect(decisionOf(receiverResponse(200, responseText), BIRTH_DATE_FIELDS)).toEqual({
      outcome: 'approve',
      info,
    });
  });

  it.each(['', '{}', '{"receiverCustomerInfo":{"BIRTH_DATE":""}}'])(
    'rejects 200 without a mandatory field: %s',
    (responseText) => {
      expect(decisionOf(receiverResponse(200, responseText), BIRTH_DATE_FIELDS)).toEqual(
        rejectionWith('MISSING_MANDATORY_PAYEE_DATA'),
      );
    },
  );

  it.each(['{', '[]', '"yes"', 'null', '{"receiverCustomerInfo":"yes"}', '<html>'])(
    'rejects 200 with an invalid body: %s',
    (responseText) => {
      expect(decisionOf(receiverResponse(200, responseText), [])).toEqual(
        rejectionWith('PAYMENT_APPROVAL_WEBHOOK_ERROR'),
      );
    },
  );

  it.each([
    [403, 'PAY_REQUEST_FAILED'],
    [422, 'MISSING_MANDATORY_PAYEE_DATA'],
    [null, 'PAYMENT_APPROVAL_TIMED_OUT'],
    ...[201, 204, 302, 400, 401, 404, 409, 500, 503].map(
      (status) => [status, 'PAYMENT_APPROVAL_WEBHOOK_ERROR'] as const,
    ),
  ] as const)('maps the status %s to %s', (status, reason) => {
    expect(decisionOf(receiverResponse(status), [])).toEqual(rejectionWith(reason));
  });

  it('returns a deferral for 202', () => {
    expect(decisionOf(receiverResponse(202), BIRTH_DATE_FIELDS)).toEqual({ outcome: 'defer' });
  });
});

describe('requestedFields', () => {
  it('includes fields that a provider requires and the customer record does not contain', () => {
    expect(requestedFields('KRW', { FULL_NAME: 'Ada' })).toEqual(BIRTH_DATE_FIELDS);
    expect(requestedFields('KRW', { FULL_NAME: 'A', BIRTH_DATE: '1990-01-15' })).toEqual([]);
    expect(requestedFields('USD', {})).toEqual([]);
  });
});

describe('missingFieldsOf', () => {
  it('excludes optional fields', () => {
    expect(
      missingFieldsOf({}, [...BIRTH_DATE_FIELDS, { name: 'EMAIL', mandatory: false }]),
    ).toEqual(['BIRTH_DATE']);
  });
});
