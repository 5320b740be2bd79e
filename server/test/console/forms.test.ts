// Request bodies that the forms of the console send.
import { expect, it } from 'vitest';
import { changeOf, type FieldSchema, kindOf } from '../../../packages/console/src/action/schema.ts';

const SCHEMA: FieldSchema = {
  required: ['reason'],
  properties: {
    name: { type: 'string' },
    color: { type: ['string', 'null'] },
    isOpen: { type: 'boolean' },
    currencies: { type: 'array', items: { type: 'string' } },
    reason: { type: 'string' },
  },
};
const CURRENT_VALUES = { name: 'Shop', color: '#112233', isOpen: true, currencies: ['USD'] };

it.each([
  ['only a required value', {}, { reason: 'why' }],
  [
    'a changed value',
    { name: 'Store', isOpen: false },
    { name: 'Store', isOpen: false, reason: 'why' },
  ],
  ['null for an emptied value', { color: '' }, { color: null, reason: 'why' }],
  ['a changed list', { currencies: ['USD', 'EUR'] }, { currencies: ['USD', 'EUR'], reason: 'why' }],
])('a form sends %s', (_, changes, body) => {
  const change = changeOf(SCHEMA, { ...CURRENT_VALUES, ...changes, reason: 'why' }, CURRENT_VALUES);
  expect(change).toEqual({ body, missingFields: [] });
});

it('a form requires values that cannot be null', () => {
  expect(changeOf(SCHEMA, { ...CURRENT_VALUES, name: '' }, CURRENT_VALUES).missingFields).toEqual([
    'reason',
    'name',
  ]);
});

it('a form without current values sends every value', () => {
  const values = { name: 'Shop', isOpen: false, color: '', reason: 'why' };
  const { body, missingFields } = changeOf(SCHEMA, values, {});
  expect([body, missingFields]).toEqual([{ name: 'Shop', isOpen: false, reason: 'why' }, []]);
});

it.each([
  ['perTransfer', { type: 'integer', format: 'int64' }, 'amount'],
  ['costFixed', { type: 'integer', description: 'Cost in minor units of `currency`.' }, 'amount'],
  ['maxAmount', { type: 'integer' }, 'amount'],
  ['priority', { type: 'integer', description: 'Order of the routes.' }, 'number'],
] as const)('a form chooses the input for %s by its name and schema', (name, schema, kind) => {
  expect(kindOf(name, schema)).toBe(kind);
});
