// Properties of the masking. A text that the contract does not list is never stored, regardless of the
// operation and the field that contained it.

import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { oneOf } from '../../../kernel/schema.ts';
import { MAX_BODY_BYTES, maskedBody, maskedError } from './masking.ts';

const app = testApp();

/** Distinct from every word of the contracts and from texts that are kept. */
const secretText = fc.stringMatching(/^[a-z0-9@+ éß"\\-]{2,40}$/).map((text) => `zq${text}zq`);

/** Digits of cards and codes. */
const secretDigits = fc.integer({ min: 1_000_000, max: 999_999_999 });

const bodyWith = (names: string[], value: fc.Arbitrary<unknown>) =>
  fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      value,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), secretText), tie('node'), { maxKeys: 6 }),
    ),
  })).node;

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...(key.startsWith('zq') ? [key] : []),
    ...textsIn(each),
  ]);
};

/** Names that occur in the contract, and some whose values must never be stored. */
const namesOf = (schema: unknown): string[] => {
  const names = JSON.stringify(schema)?.match(/"([A-Za-z]{2,40})":/g) ?? [];
  return [
    ...names.map((each) => each.slice(1, -2)),
    'otp',
    'pan',
    'cvv',
    'clientSecret',
    'fullName',
  ];
};

describe('maskedBody', () => {
  it('keeps no unlisted text of a body, in any field of any operation', () => {
    for (const { contract } of app.operations) {
      const names = namesOf([contract.body, contract.replies]);
      fc.assert(
        fc.property(bodyWith(names, secretText), (body) => {
          const { text } = maskedBody(contract, body);
          expect(JSON.parse(text)).toBeDefined();
          for (const each of textsIn(body)) {
            expect(text).not.toContain(each);
            expect(text).not.toContain(JSON.stringify(each).slice(1, -1));
          }
        }),
        { numRuns: 20 },
      );
    }
  });

  it('keeps no digits in fields of codes, card numbers and notes', () => {
    for (const { contract } of app.operations) {
      fc.assert(
        fc.property(
          secretDigits,
          fc.constantFrom('pan', 'otp', 'code', 'pin', 'memo'),
          (digits, name) => {
            expect(maskedBody(contract, { [name]: digits }).text).not.toContain(String(digits));
            expect(maskedBody(contract, { [name]: `${digits}` }).text).not.toContain(
              String(digits),
            );
          },
        ),
        { numRuns: 5 },
      );
    }
  });

  it('keeps values that explain a request', () => {
    const quoteOperation = app.operations.find(
      (each) => each.contract.operationId === 'createQuote',
    );
    const id = 'InternalAccount:0193d0e4-7c1f-7000-8000-000000000000';
    const body = {
      source: { sourceType: 'ACCOUNT', accountId: id },
      destination: { destinationType: 'ACCOUNT', currency: 'EUR', accountId: 'mine' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_000,
      immediatelyExecute: false,
      description: 'rent',
      color: 'red',
    };
    expect(quoteOperation && JSON.parse(maskedBody(quoteOperation.contract, body).text)).toEqual({
      source: { sourceType: 'ACCOUNT', accountId: id },
      destination: { destinationType: 'ACCOUNT', currency: 'EUR', accountId: '[masked]' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_000,
      immediatelyExecute: false,
      description: '[masked]',
      '[unknown] 1': '[masked]',
    });
  });

  it('keeps IDs and times only in fields for them', () => {
    const customerOperation = app.operations.find(
      (each) => each.contract.operationId === 'createCustomer',
    );
    const id = 'Word:0193d0e4-7c1f-7000-8000-000000000000';
    const time = '1815-12-10T00:00:00.000Z';
    const body = { birthDate: time, fullName: id, id, createdAt: time };
    expect(
      customerOperation && JSON.parse(maskedBody(customerOperation.contract, body).text),
    ).toEqual({
      ...{ birthDate: '[masked]', fullName: '[masked]', id, createdAt: time },
    });
    for (const { contract } of app.operations) {
      for (const name of [
        'birthDate',
        'dateOfBirth',
        'fullName',
        'firstName',
        'memo',
        'nickname',
      ]) {
        for (const value of [id, time, { [name]: [time, id] }]) {
          const { text } = maskedBody(contract, { [name]: value });
          expect(text, contract.operationId).not.toContain(id);
          expect(text, contract.operationId).not.toContain(time);
        }
      }
    }
  });

  const sample = operation({
    operationId: 'sample',
    method: 'POST',
    path: '/sample',
    tag: 'Sample',
    summary: 'A sample',
    permission: 'VIEW',
    body: Type.Object({
      list: Type.Array(Type.Integer()),
      kind: oneOf(['A', 'B']),
      text: Type.String(),
    }),
    replies: { 200: null },
    errors: [],
  });

  it('returns at most 16 KiB of valid JSON, and reports truncation', () => {
    const node = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 6 },
        fc.integer(),
        fc.constantFrom('A', 'B', 'other'),
        fc.array(tie('node'), { maxLength: 2_000 }),
        fc.record({ list: tie('node'), kind: tie('node'), text: tie('node') }),
      ),
    })).node;
    fc.assert(
      fc.property(node, (body) => {
        const { text, isTruncated } = maskedBody(sample, body);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BODY_BYTES);
        expect(JSON.parse(text)).toBeDefined();
        if (JSON.stringify(body).length < 8_000 && !isTruncated) {
          expect(JSON.stringify(JSON.parse(text)).length).toBe(text.length);
        }
      }),
    );
    const list = Array.from({ length: 10_000 }, (_, index) => index);
    const { text, isTruncated } = maskedBody(sample, { list, kind: 'A' });
    expect(isTruncated).toBe(true);
    expect(text.length).toBeGreaterThan(MAX_BODY_BYTES - 100);
    expect(maskedBody(sample, { list: [1] }).isTruncated).toBe(false);
  });
});

describe('maskedError', () => {
  it('removes values of the request from reasons, messages and details', () => {
    const customerOperation = app.operations.find(
      (each) => each.contract.operationId === 'createCustomer',
    );
    if (!customerOperation) throw new Error('the operation createCustomer was not found');
    fc.assert(
      fc.property(secretText, secretDigits, (text, digits) => {
        const reply = {
          reason: `fullName: ${text.toUpperCase()} is taken, ${digits} too`,
          details: {
            other: text,
            errors: [{ field: `a.${text}`, message: `${text} is not valid: ${digits}` }],
          },
        };
        const request = [{}, { q: text }, { fullName: text, list: [{ pan: digits }] }];
        const maskedText = JSON.stringify(
          maskedError(customerOperation.contract, reply, request),
        ).toLowerCase();
        expect(maskedText).not.toContain(JSON.stringify(text).slice(1, -1).toLowerCase());
        expect(maskedText).not.toContain(String(digits));
        expect(maskedText).toContain('is taken');
      }),
    );
  });

  it('keeps values that explain the error of a called operation', () => {
    const contracts = app.operations.map(({ contract }) => contract);
    const fixturesContract = contracts.find(
      ({ operationId }) => operationId === 'createSandboxFixtures',
    );
    const field = { field: 'address.postalCode', message: 'Quorbat is too long' };
    const error = { code: 'CONFLICT', reason: 'Quorbat is too long', details: { errors: [field] } };
    const reply = {
      reason: 'Step 1, createCustomer, was rejected: Quorbat is too long',
      details: { step: 1, operationId: 'createCustomer', error },
    };
    const body = { steps: [{ operationId: 'createCustomer', body: { fullName: 'Quorbat' } }] };
    const storedError =
      fixturesContract && maskedError(fixturesContract, reply, [{}, {}, body], contracts);
    expect(storedError).toEqual(
      JSON.parse(JSON.stringify(reply).replaceAll('Quorbat', '[masked]')),
    );
  });

  it('keeps field names, rules and numbers', () => {
    const customerOperation = app.operations.find(
      (each) => each.contract.operationId === 'createCustomer',
    );
    const errors = [
      { field: 'address.postalCode', constraint: { minLength: 1 }, message: 'is required' },
    ];
    const details = { max: 500, until: '2026-01-01T00:00:00Z', errors };
    const reply = { code: 'INVALID_INPUT', reason: 'Invalid request: address.postalCode', details };
    expect(
      customerOperation && maskedError(customerOperation.contract, reply, [{}, {}, {}]),
    ).toEqual({
      reason: 'Invalid request: address.postalCode',
      details,
    });
  });
});
