// Invalid combinations of contract flags, which must not compile, and the derived idempotency of contracts.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { type Contract, idempotencyOf, operation } from './operation.ts';

const base = {
  operationId: 'x',
  path: '/x',
  tag: 'X',
  summary: 'X',
  replies: { 204: null },
  errors: [],
} as const;
const post = { ...base, method: 'POST', permission: 'VIEW' } as const;
const body = Type.Object({});

describe('contract flags', () => {
  it('do not compile in invalid combinations', () => {
    const invalidContracts = [
      // @ts-expect-error an operation for tokens requires a permission
      operation({ ...base, method: 'GET' }),
      // @ts-expect-error an operation for agents requires a permission
      operation({ ...base, method: 'GET', auth: 'agent' }),
      // @ts-expect-error a permission requires a credential
      operation({ ...base, method: 'GET', auth: 'none', permission: 'VIEW' }),
      // @ts-expect-error a hosted operation has a link instead of a permission
      operation({ ...base, method: 'GET', auth: 'hosted', permission: 'VIEW' }),
      // @ts-expect-error a rate class requires the platform of a credential
      operation({ ...base, method: 'GET', auth: 'none', rateClass: 'quotes' }),
      // @ts-expect-error only a POST accepts a key
      operation({ ...base, method: 'GET', permission: 'VIEW', idempotency: 'required' }),
      // @ts-expect-error the path of a hosted operation contains a secret
      operation({ ...base, method: 'POST', auth: 'hosted', idempotency: 'optional' }),
      // @ts-expect-error an operation that transfers funds accepts a key
      operation({ ...post, idempotency: 'none', money: true }),
      // @ts-expect-error a reply is stored with a key only
      operation({ ...post, idempotency: 'none', sealed: true }),
      // @ts-expect-error a reply is replayed with a key only
      operation({ ...post, idempotency: 'none', omitOnReplay: ['secret'] }),
      // @ts-expect-error a discarded run must not call external systems
      operation({ ...post, body, semanticValidation: true, callsExternal: true }),
      // @ts-expect-error validation requires a body
      operation({ ...post, semanticValidation: true }),
      // @ts-expect-error a GET has no body
      operation({ ...base, method: 'GET', permission: 'VIEW', body }),
      // @ts-expect-error a GET has no form
      operation({ ...base, method: 'GET', permission: 'VIEW', body, upload: { maxBytes: 1 } }),
      // @ts-expect-error a wallet signs changes only, and a GET is read-only
      operation({ ...base, method: 'GET', permission: 'VIEW', signedRetry: true }),
      // @ts-expect-error a wallet requires a credential
      operation({ ...base, method: 'POST', auth: 'none', signedRetry: true }),
      // @ts-expect-error the secret of a link cannot replace a wallet credential
      operation({ ...base, method: 'POST', auth: 'hosted', signedRetry: true }),
      // @ts-expect-error only a body can be optional
      operation({ ...base, method: 'DELETE', permission: 'VIEW', bodyOptional: true }),
      // @ts-expect-error the ID of a signed request replaces a key
      operation({ ...post, signedRetry: true, idempotency: 'required' }),
      // @ts-expect-error a form has a separate limit
      operation({ ...post, body, upload: { maxBytes: 1 }, maxBody: { bytes: 1, reason: 'x' } }),
    ];
    expect(invalidContracts.length).toBeGreaterThan(0);
  });
});

describe('idempotencyOf', () => {
  it.each<[string, Contract, string]>([
    ['a POST', operation(post), 'optional'],
    ['a POST that requires a key', operation({ ...post, idempotency: 'required' }), 'required'],
    ['a POST without a stored reply', operation({ ...post, idempotency: 'none' }), 'none'],
    ['a GET', operation({ ...base, method: 'GET', permission: 'VIEW' }), 'none'],
    ['a hosted POST', operation({ ...base, method: 'POST', auth: 'hosted' }), 'none'],
    ['a signed POST', operation({ ...post, signedRetry: true }), 'none'],
    ['a signed payment', operation({ ...post, signedRetry: true, money: true }), 'optional'],
  ])('returns the idempotency of %s', (_, contract, expectedIdempotency) => {
    expect(idempotencyOf(contract)).toBe(expectedIdempotency);
  });
});
