// Problems that a complete test run reports about declared replies. Each kind of problem is
// provoked once.
import { describe, expect, it } from 'vitest';

const script = new URL('../../../scripts/tests/reply-coverage.mjs', import.meta.url).href;
const { replyProblems } = await import(script);

const ERRORS = [
  {
    operationId: 'createQuote',
    specificCodes: ['INVALID_CURRENCY', 'USER_NOT_READY'],
    commonCodes: ['CONFLICT'],
  },
  {
    operationId: 'agentCreateQuote',
    specificCodes: ['INVALID_CURRENCY', 'USER_NOT_READY', 'FORBIDDEN'],
    commonCodes: ['CONFLICT'],
  },
];
const SAME_AS = { agentCreateQuote: { '*': 'same as createQuote' } };
const PRODUCED_REPLIES = [
  'createQuote 201',
  'createQuote 400 INVALID_CURRENCY',
  'createQuote 403 USER_NOT_READY',
  'createQuote 409 CONFLICT',
  'agentCreateQuote 201',
  'agentCreateQuote 403 FORBIDDEN',
  'settleTransfer posts',
];

interface Change {
  omittedLine?: string;
  untestedCodes?: object;
  errors?: object;
  posting?: string[];
}

const problemsAfter = (change: Change): string[] =>
  replyProblems({
    lines: PRODUCED_REPLIES.filter((line) => line !== change.omittedLine),
    successes: [
      ['createQuote', '201'],
      ['agentCreateQuote', '201'],
    ],
    errors: change.errors ?? ERRORS,
    untested: change.untestedCodes ?? SAME_AS,
    posting: change.posting ?? ['settleTransfer'],
  });

describe('the replies of a complete run', () => {
  it('cover all declared replies if an operation is the same as another operation', () => {
    expect(problemsAfter({})).toEqual([]);
  });

  it.each([
    ['createQuote 201', ['declared but not produced by a test: createQuote 201']],
    ['agentCreateQuote 201', ['declared but not produced by a test: agentCreateQuote 201']],
    [
      'agentCreateQuote 403 FORBIDDEN',
      ['declared but not produced by a test: agentCreateQuote FORBIDDEN'],
    ],
    [
      'createQuote 403 USER_NOT_READY',
      [
        'declared but not produced by a test: createQuote USER_NOT_READY',
        'same as createQuote, but no test of it produces the code: agentCreateQuote USER_NOT_READY',
      ],
    ],
    ['createQuote 409 CONFLICT', ['common error but not produced by a test: CONFLICT']],
  ])('are reported as incomplete without %s', (omittedReply, expectedProblems) => {
    expect(problemsAfter({ omittedLine: omittedReply })).toEqual(expectedProblems);
  });

  it('are required of each operation if no operation is the same as another operation', () => {
    expect(problemsAfter({ untestedCodes: {} })).toEqual([
      'declared but not produced by a test: agentCreateQuote INVALID_CURRENCY',
      'declared but not produced by a test: agentCreateQuote USER_NOT_READY',
    ]);
  });
});

describe('the operations that are declared to post money', () => {
  it('have posted in a test', () => {
    expect(problemsAfter({ posting: ['settleTransfer', 'closeCard'] })).toEqual([
      'declared to post money but posted in no test: closeCard',
    ]);
  });
});

describe('the list of untested replies', () => {
  it('exempts codes of an operation', () => {
    const replies = { INVALID_CURRENCY: 'same as createQuote', USER_NOT_READY: 'no test can' };
    expect(problemsAfter({ untestedCodes: { agentCreateQuote: replies } })).toEqual([]);
  });

  it('may contain only codes that the operation declares', () => {
    const [quoteErrors, agentQuoteErrors] = ERRORS;
    const errors = [
      quoteErrors,
      { ...agentQuoteErrors, specificCodes: ['INVALID_CURRENCY', 'FORBIDDEN'] },
    ];
    expect(problemsAfter({ errors })).toEqual([
      'listed as untested, but not declared: agentCreateQuote USER_NOT_READY',
    ]);
  });

  it.each([
    [
      { FORBIDDEN: 'no test can' },
      'listed as untested, but produced by a test: agentCreateQuote FORBIDDEN',
    ],
    [
      { QUOTE_EXPIRED: 'no test can' },
      'listed as untested, but not declared: agentCreateQuote QUOTE_EXPIRED',
    ],
    [{ '*': 'no test can' }, '"*" needs the reason "same as" an operation: agentCreateQuote *'],
    [
      { '*': 'same as makeQuote' },
      '"*" needs the reason "same as" an operation: agentCreateQuote *',
    ],
    [
      { INVALID_CURRENCY: 'same as makeQuote' },
      'same as makeQuote, but no test of it produces the code: agentCreateQuote INVALID_CURRENCY',
    ],
  ])('reports %o', (replies, expectedProblem) => {
    expect(problemsAfter({ untestedCodes: { agentCreateQuote: replies } })).toContain(
      expectedProblem,
    );
  });

  it('may contain only existing operations', () => {
    expect(problemsAfter({ untestedCodes: { ...SAME_AS, makeQuote: {} } })).toEqual([
      'listed as untested, but not an operation: makeQuote',
    ]);
  });
});
