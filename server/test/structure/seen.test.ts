// What a whole run reports about replies that no test has seen: a check that cannot fail checks nothing.
import { describe, expect, it } from 'vitest';

const script = new URL('../../../scripts/seen.mjs', import.meta.url).href;
const { replyProblems } = await import(script);

const ERRORS = [
  { operationId: 'createQuote', own: ['INVALID_CURRENCY', 'USER_NOT_READY'], common: ['CONFLICT'] },
  {
    operationId: 'agentCreateQuote',
    own: ['INVALID_CURRENCY', 'USER_NOT_READY', 'FORBIDDEN'],
    common: ['CONFLICT'],
  },
];
const SAME = { agentCreateQuote: { '*': 'same as createQuote' } };
const SEEN = [
  'createQuote 201',
  'createQuote 400 INVALID_CURRENCY',
  'createQuote 403 USER_NOT_READY',
  'createQuote 409 CONFLICT',
  'agentCreateQuote 201',
  'agentCreateQuote 403 FORBIDDEN',
];

const problems = (change: { without?: string; awaited?: object; errors?: object }): string[] =>
  replyProblems({
    lines: SEEN.filter((line) => line !== change.without),
    successes: [
      ['createQuote', '201'],
      ['agentCreateQuote', '201'],
    ],
    errors: change.errors ?? ERRORS,
    awaited: change.awaited ?? SAME,
  });

describe('the replies that a whole run has seen', () => {
  it('are all that are declared, where an operation is the same as another one', () => {
    expect(problems({})).toEqual([]);
  });

  it.each([
    ['createQuote 201', ['declared but seen by no test: createQuote 201']],
    ['agentCreateQuote 201', ['declared but seen by no test: agentCreateQuote 201']],
    [
      'agentCreateQuote 403 FORBIDDEN',
      ['declared but seen by no test: agentCreateQuote FORBIDDEN'],
    ],
    [
      'createQuote 403 USER_NOT_READY',
      [
        'declared but seen by no test: createQuote USER_NOT_READY',
        'awaited of createQuote but seen by no test there: agentCreateQuote USER_NOT_READY',
      ],
    ],
    ['createQuote 409 CONFLICT', ['common error but seen by no test: CONFLICT']],
  ])('lack %s', (without, expected) => {
    expect(problems({ without })).toEqual(expected);
  });

  it('are those of each operation where none is the same as another one', () => {
    expect(problems({ awaited: {} })).toEqual([
      'declared but seen by no test: agentCreateQuote INVALID_CURRENCY',
      'declared but seen by no test: agentCreateQuote USER_NOT_READY',
    ]);
  });
});

describe('the list of codes that no test provokes', () => {
  it('excuses one code', () => {
    const replies = { INVALID_CURRENCY: 'same as createQuote', USER_NOT_READY: 'no test can' };
    expect(problems({ awaited: { agentCreateQuote: replies } })).toEqual([]);
  });

  it('names an operation that has every code of the other one', () => {
    const [first, second] = ERRORS;
    const errors = [first, { ...second, own: ['INVALID_CURRENCY', 'FORBIDDEN'] }];
    expect(problems({ errors })).toEqual([
      'awaited but not declared: agentCreateQuote USER_NOT_READY',
    ]);
  });

  it.each([
    [{ FORBIDDEN: 'no test can' }, 'awaited but answered already: agentCreateQuote FORBIDDEN'],
    [{ QUOTE_EXPIRED: 'no test can' }, 'awaited but not declared: agentCreateQuote QUOTE_EXPIRED'],
    [{ '*': 'no test can' }, 'awaited but not the same as any operation: agentCreateQuote *'],
    [{ '*': 'same as makeQuote' }, 'awaited but not the same as any operation: agentCreateQuote *'],
    [
      { INVALID_CURRENCY: 'same as makeQuote' },
      'awaited of makeQuote but seen by no test there: agentCreateQuote INVALID_CURRENCY',
    ],
  ])('reports %o', (replies, expected) => {
    expect(problems({ awaited: { agentCreateQuote: replies } })).toContain(expected);
  });

  it('names operations that there are', () => {
    expect(problems({ awaited: { ...SAME, makeQuote: {} } })).toEqual([
      'awaited but no operation: makeQuote',
    ]);
  });
});
