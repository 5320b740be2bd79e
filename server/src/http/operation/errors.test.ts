// The error codes of operations in contracts and in the document.
import { describe, expect, it } from 'vitest';
import { publishedDocument, publishedErrors } from '../../document.ts';
import { type Contract, operation } from '../../kernel/contract/operation.ts';
import { STATUS_OF } from '../../kernel/fault.ts';
import { commonCodesOf, isListed } from './errors.ts';

const base = {
  operationId: 'x',
  path: '/x',
  tag: 'X',
  summary: 'X',
  replies: { 204: null },
  errors: [],
} as const;
const post = { ...base, method: 'POST', permission: 'VIEW' } as const;
const BASE_CODES = ['INVALID_INPUT', 'RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];

describe('the codes that follow from the kind of an operation', () => {
  it.each<[string, Contract, string[]]>([
    [
      'a read with a token',
      operation({ ...base, method: 'GET', permission: 'VIEW' }),
      ['UNAUTHORIZED', 'FORBIDDEN'],
    ],
    [
      'a read by an agent',
      operation({ ...base, method: 'GET', auth: 'agent', permission: 'VIEW' }),
      ['UNAUTHORIZED'],
    ],
    ['a read without a credential', operation({ ...base, method: 'GET', auth: 'none' }), []],
    [
      'an operation of a hosted page',
      operation({ ...base, method: 'POST', auth: 'hosted' }),
      ['LINK_ENDED'],
    ],
    ['a POST', operation(post), ['UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT']],
    [
      'a payment',
      operation({ ...post, money: true }),
      ['UNAUTHORIZED', 'FORBIDDEN', 'DUPLICATE_PAY_REQUEST'],
    ],
    [
      'an operation that a wallet signs',
      operation({ ...post, signedRetry: true }),
      [
        'UNAUTHORIZED',
        'FORBIDDEN',
        'WALLET_SIGNATURE_MISSING',
        'WALLET_SIGNATURE_MALFORMED',
        'WALLET_SIGNATURE_BODY_MISMATCH',
        'WALLET_SIGNATURE_INVALID',
        'REQUEST_ID_MISSING',
      ],
    ],
  ])('are complete for %s', (_, contract, expectedCodes) => {
    expect([...commonCodesOf(contract)].sort()).toEqual([...BASE_CODES, ...expectedCodes].sort());
  });

  it('are absent from the errors of a contract', () => {
    const repetitions = publishedErrors().flatMap(({ operationId, specificCodes, commonCodes }) => {
      const unseenCodes = new Set(specificCodes);
      const repeatedCodes = specificCodes.filter(
        (code) => commonCodes.includes(code) || !unseenCodes.delete(code),
      );
      return repeatedCodes.map((code) => `${operationId} ${code}`);
    });
    expect(repetitions).toEqual([]);
  });
});

describe('isListed', () => {
  const contract = operation({
    ...base,
    method: 'GET',
    permission: 'VIEW',
    errors: ['QUOTE_EXPIRED'],
    notFound: 'QUOTE_NOT_FOUND',
  });

  it.each([
    ['QUOTE_EXPIRED', true],
    ['QUOTE_NOT_FOUND', true],
    ['UNAUTHORIZED', true],
    ['CONFLICT', false],
    ['ACCOUNT_NOT_FOUND', false],
  ] as const)('of %s is %s', (code, isExpected) => {
    expect(isListed(contract, code)).toBe(isExpected);
  });
});

describe('the document', () => {
  it('lists the codes of each operation', () => {
    const document = publishedDocument() as {
      paths: Record<string, Record<string, { operationId: string; responses: object }>>;
      components: { schemas: Record<string, Schema>; responses: Record<string, Reply> };
    };
    interface Reply {
      $ref?: string;
      content: { 'application/json': { schema: Schema } };
    }
    interface Schema {
      $ref?: string;
      allOf?: Schema[];
      properties?: { code: { enum: string[] } };
    }
    const resolve = (schema: Schema): Schema => {
      const name = schema.$ref?.split('/').at(-1);
      return name === undefined ? schema : (document.components.schemas[name] as Schema);
    };
    const codesByOperation = new Map<string, string[]>();
    for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
      const replies = Object.entries(operation.responses as Record<string, Reply>).map(
        ([status, reply]) => {
          const name = reply.$ref?.split('/').at(-1);
          return [status, name ? (document.components.responses[name] as Reply) : reply] as const;
        },
      );
      const codes = replies
        .filter(([status]) => status >= '400')
        .flatMap(([status, { content }]) => {
          const [statusSchema, ownSchema] = resolve(content['application/json'].schema).allOf as [
            Schema,
            Schema,
          ];
          const documentedCodes = ownSchema.properties?.code.enum as (keyof typeof STATUS_OF)[];
          expect(documentedCodes.map((code) => STATUS_OF[code])).toEqual(
            documentedCodes.map(() => Number(status)),
          );
          expect(resolve(statusSchema).properties?.code.enum).toEqual(
            expect.arrayContaining(documentedCodes),
          );
          return documentedCodes;
        });
      codesByOperation.set(operation.operationId, codes);
    }
    for (const { operationId, specificCodes, commonCodes } of publishedErrors()) {
      const documentedCodes = codesByOperation.get(operationId);
      // Hosted operations are not published.
      if (documentedCodes)
        expect(documentedCodes).toEqual(expect.arrayContaining([...specificCodes, ...commonCodes]));
    }
    expect(codesByOperation.size).toBeGreaterThan(150);
  });
});
