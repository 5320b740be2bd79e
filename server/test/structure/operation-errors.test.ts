// Examples of errors of each operation, chosen from the replies that tests have observed, and the runs
// that may write them.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const script = new URL('../../../scripts/tests/operation-errors.mjs', import.meta.url).href;
const { chooseErrors, operationErrorProblems } = await import(script);
const { runOptionsOf } = await import(
  new URL('../../../scripts/tests/run-options.mjs', import.meta.url).href
);

const invalid = (...fields: string[]) => {
  const errors = fields.map((field) => ({ field, message: 'is required' }));
  return { reason: `Invalid request: ${fields.join(', ')}`, details: { errors } };
};
const lineOf = (body: object) => `createQuote 400 INVALID_INPUT ${JSON.stringify(body)}`;
const BODIES = [
  { reason: 'The body is not valid JSON.' },
  invalid('Idempotency-Key'),
  invalid('source'),
  invalid('source', 'destination'),
  invalid('a', 'b', 'c', 'd'),
  invalid('Customer:019b8d60-2a80-7000-8000-000000000001', 'source'),
];
const LINES = ['createQuote 201', 'createQuote 404 ACCOUNT_NOT_FOUND', ...BODIES.map(lineOf)];

describe('chooseErrors', () => {
  it('prefers a body with two fields of the operation', () => {
    expect(chooseErrors(LINES, {})).toEqual({
      createQuote: { INVALID_INPUT: invalid('source', 'destination') },
    });
  });

  it('preserves a committed body that was observed', () => {
    const committed = { createQuote: { INVALID_INPUT: invalid('source') } };
    expect(chooseErrors(LINES, committed)).toEqual(committed);
    expect(chooseErrors(LINES, { createQuote: { INVALID_INPUT: invalid('x') } })).toEqual({
      createQuote: { INVALID_INPUT: invalid('source', 'destination') },
    });
  });
});

describe('operationErrorProblems', () => {
  it('reports a committed body that differs from every observed one', () => {
    const committed = { createQuote: { INVALID_INPUT: invalid('source') } };
    expect(operationErrorProblems(LINES, committed)).toEqual([]);
    const problems = operationErrorProblems(LINES, {
      createQuote: { INVALID_INPUT: invalid('x'), CONFLICT: { reason: 'Used.' } },
    });
    expect(problems).toEqual([expect.stringMatching(/createQuote INVALID_INPUT$/)]);
  });
});

describe('--write-examples', () => {
  const FLAG = '--write-examples';

  it.each([[[FLAG]], [[FLAG, '--long']]])('is accepted in the complete run %j', (argv) => {
    const expectedOptions = { isFullRun: true, suite: 'main', writesExamples: true };
    expect(runOptionsOf(argv)).toMatchObject({ ...expectedOptions, problem: undefined });
  });

  it.each([
    [[FLAG, 'server/src/kernel/id.test.ts']],
    [['-t', 'name', FLAG]],
    [[FLAG, '--shard=1/2']],
    [[FLAG, '--system']],
    [['--cluster', FLAG]],
    [[FLAG, '--short']],
  ])('is rejected in the partial run %j', (argv) => {
    expect(runOptionsOf(argv).problem).toContain('Run `npm test -- --write-examples` without');
    const otherArguments = argv.filter((argument) => argument !== FLAG);
    expect(runOptionsOf(otherArguments).problem).toBeUndefined();
  });

  it('of a partial run ends npm test with exit code 2', () => {
    const args = ['scripts/test.mjs', FLAG, 'none.test.ts'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      ...{ cwd: path.resolve(import.meta.dirname, '../../..'), encoding: 'utf8' },
    });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^The examples need a complete run/);
  });
});
