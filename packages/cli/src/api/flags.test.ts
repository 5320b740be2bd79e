// Flags of operations: their options, their values, and the input that they form with `--data`.
import { describe, expect, it } from 'vitest';
import { flagValue, inputOf, readData, setAt } from './flags.ts';
import { operationsOf, RESOURCES } from './metadata.ts';

const findOperation = (resource: string, verb: string) => {
  const knownResource = RESOURCES.find(({ name }) => name === resource);
  const knownOperation =
    knownResource && operationsOf(knownResource).find((candidate) => candidate.verb === verb);
  if (!knownOperation) throw new Error(`The operation ${resource} ${verb} does not exist.`);
  return knownOperation;
};

describe('flagValue', () => {
  const field = (type: 'string' | 'number' | 'boolean' | 'list' | 'json', values?: string[]) => ({
    path: 'a',
    flag: 'a',
    type,
    ...(values && { values }),
  });

  it.each([
    [field('string'), 'x', 'x'],
    [field('string', ['SENDING']), 'sending', 'SENDING'],
    [field('number'), '25000', 25000],
    [field('boolean'), true, true],
    [field('boolean'), 'false', false],
    [field('list'), 'a, b', ['a', 'b']],
    [field('json'), '{ "a": 1 }', { a: 1 }],
  ] as const)('for the field %j converts %j', (flagField, flagInput, value) => {
    expect(flagValue(flagField, flagInput)).toEqual(value);
  });

  it.each([
    [field('number'), '1,000', 'is not a number'],
    [field('number'), '', 'is not a number'],
    [field('boolean'), 'yes', 'neither true nor false'],
    [field('json'), '{', 'is not JSON'],
    [field('list', ['USD']), 'USD,EUX', 'EUX is unknown'],
  ] as const)('for the field %j rejects %j', (flagField, flagInput, reason) => {
    expect(() => flagValue(flagField, flagInput)).toThrow(reason);
  });
});

describe('inputOf', () => {
  it('sets nested fields, and replaces fields of --data by flags', () => {
    const options = {
      data: '{ "source": { "accountId": "a", "sourceType": "ACCOUNT" }, "description": "x" }',
      'source.accountId': 'b',
      lockedCurrencyAmount: '5',
    };
    expect(inputOf(findOperation('quotes', 'create'), options)).toEqual({
      source: { accountId: 'b', sourceType: 'ACCOUNT' },
      description: 'x',
      lockedCurrencyAmount: 5,
    });
  });
});

it('readData rejects text without a JSON object and an absent file', () => {
  expect(() => readData('[]')).toThrow('must be a JSON object');
  expect(() => readData('@/absent/file')).toThrow('cannot be read');
});

it('setAt replaces a text by an object for a nested field', () => {
  const target: Record<string, unknown> = { a: 'text' };
  setAt(target, 'a.b', 1);
  expect(target).toEqual({ a: { b: 1 } });
});

it('an operation has flags for the values of all variants of its body', () => {
  const { body } = findOperation('external-accounts', 'create');
  const field = (path: string) => body?.fields.find((each) => each.path === path);
  expect(field('accountInfo.accountType')?.values).toContain('EUR_ACCOUNT');
  expect(field('accountInfo.accountType')?.values).toContain('SPARK_WALLET');
  expect(field('accountInfo.iban')).toMatchObject({ flag: 'account-info.iban', type: 'string' });
  expect(field('currency')).toMatchObject({ required: true });
});
