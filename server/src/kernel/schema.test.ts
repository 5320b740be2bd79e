// Schema types: validation errors of Ajv and the published document.
import { type Static, Type } from '@sinclair/typebox';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  Address,
  Amount,
  CurrencyAmount,
  named,
  nullable,
  oneOf,
  PageQuery,
  Phone,
  PositiveAmount,
  page,
  toAjv,
  toOpenApi,
  variant,
  withDescription,
  withErrorText,
} from './schema.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
formats.default(ajv);

/** The errors shown to a client: `path keyword`, without the wrapping `if`. */
function errorsOf(schema: Parameters<typeof toAjv>[0], value: unknown): string[] {
  const validate = ajv.compile(toAjv(schema));
  validate(value);
  return (validate.errors ?? [])
    .filter((error: ErrorObject) => error.keyword !== 'if')
    .map((error) => {
      const missingField = (error.params as { missingProperty?: string }).missingProperty;
      return `${error.instancePath}${missingField ? `/${missingField}` : ''} ${error.keyword}`;
    })
    .sort();
}

const Person = variant('kind', {
  PERSON: Type.Object({ fullName: Type.String({ minLength: 1 }) }),
  FIRM: Type.Object({ legalName: Type.String(), taxId: Type.Optional(Type.String()) }),
});
const Pay = variant('via', {
  BANK: Type.Object({ iban: Type.String({ minLength: 4 }), owner: Person }),
  PHONE: Type.Intersect([Type.Object({ number: Phone }), Type.Object({ provider: Type.String() })]),
});
const Request = Type.Object({ amount: Amount, pay: Pay, others: Type.Optional(Type.Array(Pay)) });

describe('variant, for Ajv', () => {
  it('accepts every branch and unknown properties', () => {
    const bank = { via: 'BANK', iban: 'XX00', owner: { kind: 'FIRM', legalName: 'A' }, extra: 1 };
    const phone = { via: 'PHONE', number: '+255700000000', provider: 'MTN' };
    expect(errorsOf(Request, { amount: 1, pay: bank, others: [phone, bank] })).toEqual([]);
  });

  it('reports exactly the fields of the chosen branch, at any depth', () => {
    const pay = { via: 'BANK', iban: 'X', owner: { kind: 'FIRM', fullName: 7 } };
    expect(errorsOf(Request, { amount: -1, pay, others: [{ via: 'PHONE', number: '1' }] })).toEqual(
      [
        '/amount minimum',
        '/others/0/number pattern',
        '/others/0/provider required',
        '/pay/iban minLength',
        '/pay/owner/legalName required',
      ],
    );
  });

  it('reports only the tag if the tag is missing or unknown', () => {
    expect(errorsOf(Pay, {})).toEqual(['/via required']);
    expect(errorsOf(Pay, { via: 'CASH' })).toEqual(['/via enum']);
    expect(errorsOf(Pay, { via: 7 })).toEqual(['/via enum', '/via type']);
    expect(errorsOf(Pay, 'BANK')).toEqual([' type']);
  });

  it('works inside an intersection and with a variant as a branch', () => {
    const NestedKind = variant('level', { ONE: Person, TWO: Type.Object({ a: Type.Integer() }) });
    const CombinedKind = Type.Intersect([Type.Object({ id: Type.String() }), NestedKind]);
    expect(errorsOf(CombinedKind, { level: 'ONE', kind: 'PERSON' })).toEqual([
      '/fullName required',
      '/id required',
    ]);
    expect(errorsOf(CombinedKind, { id: 'x', level: 'TWO', a: 3 })).toEqual([]);
  });

  it('has the union as its static type', () => {
    expectTypeOf<Static<typeof Person>>().toEqualTypeOf<
      | ({ kind: 'PERSON' } & { fullName: string })
      | ({ kind: 'FIRM' } & { legalName: string; taxId?: string })
    >();
    expectTypeOf<Static<typeof Request>['pay']['via']>().toEqualTypeOf<'BANK' | 'PHONE'>();
  });
});

describe('variant, for OpenAPI', () => {
  it('becomes oneOf with a discriminator and a required tag in each branch', () => {
    expect(toOpenApi(Person, {})).toEqual({
      oneOf: [
        {
          type: 'object',
          required: ['kind', 'fullName'],
          properties: {
            kind: { type: 'string', enum: ['PERSON'], description: 'Always `PERSON`.' },
            fullName: { type: 'string', minLength: 1 },
          },
        },
        {
          type: 'object',
          required: ['kind', 'legalName'],
          properties: {
            kind: { type: 'string', enum: ['FIRM'], description: 'Always `FIRM`.' },
            legalName: { type: 'string' },
            taxId: { type: 'string' },
          },
        },
      ],
      discriminator: { propertyName: 'kind' },
    });
  });

  it('maps values to components if every branch has a name', () => {
    const Kind = named('Kind', oneOf(['A', 'B', 'C']));
    const branches = { A: named('Aa', Type.Object({})), B: named('Bb', Type.Intersect([Person])) };
    const components: Record<string, unknown> = {};
    const schema = variant('kind', branches, { tagType: Kind, description: 'Some kind.' });
    expect(toOpenApi(schema, components)).toEqual({
      description: 'Some kind.',
      oneOf: [{ $ref: '#/components/schemas/Aa' }, { $ref: '#/components/schemas/Bb' }],
      discriminator: {
        propertyName: 'kind',
        mapping: { A: '#/components/schemas/Aa', B: '#/components/schemas/Bb' },
      },
    });
    expect(Object.keys(components).sort()).toEqual(['Aa', 'Bb', 'Kind']);
    expect(components.Aa).toEqual({
      type: 'object',
      required: ['kind'],
      properties: {
        kind: { allOf: [{ type: 'string', enum: ['A'] }, { $ref: '#/components/schemas/Kind' }] },
      },
    });
  });
});

describe('named', () => {
  it('is added to components once, at any depth', () => {
    const Quote = named('Quote', Type.Object({ sent: CurrencyAmount, received: CurrencyAmount }));
    const components: Record<string, unknown> = {};
    expect(toOpenApi(page(Quote), components)).toMatchObject({
      required: ['data', 'hasMore'],
      properties: { data: { items: { $ref: '#/components/schemas/Quote' } } },
    });
    expect(Object.keys(components).sort()).toEqual(['Currency', 'CurrencyAmount', 'Quote']);
    expect(components.Quote).toEqual({
      type: 'object',
      required: ['sent', 'received'],
      properties: {
        sent: { $ref: '#/components/schemas/CurrencyAmount' },
        received: { $ref: '#/components/schemas/CurrencyAmount' },
      },
    });
  });

  it('rejects one name for two shapes', () => {
    const components = {};
    toOpenApi(named('Item', Type.Object({ a: Type.String() })), components);
    toOpenApi(named('Item', Type.Object({ a: Type.String() })), components);
    expect(() => toOpenApi(named('Item', Type.Object({})), components)).toThrow('named Item');
  });

  it('is absent from a derived shape and present with another description', () => {
    expect(toOpenApi(Type.Partial(Address), {})).toMatchObject({ type: 'object' });
    expect(toOpenApi(Type.Pick(Address, ['line1']), {})).not.toHaveProperty('$ref');
    expect(toOpenApi(Type.Optional(withDescription(Address, 'Place of residence.')), {})).toEqual({
      $ref: '#/components/schemas/Address',
      description: 'Place of residence.',
    });
  });

  it('is one component for all unchanged copies', () => {
    const Item = named('Item', Type.Object({ a: Type.String() }));
    const components = {};
    toOpenApi(
      Type.Object({ one: Item, two: Type.Optional(withDescription(Item, 'x')) }),
      components,
    );
    expect(Object.keys(components)).toEqual(['Item']);
    const changedItem = { ...Item, required: [] };
    expect(() => toOpenApi(changedItem, components)).toThrow(
      'two different schemas are named Item',
    );
  });

  it('is compiled once for Ajv, without documentation keywords', () => {
    expect(toAjv(withDescription(PositiveAmount, 'x'))).toEqual({
      type: 'integer',
      format: 'int64',
      exclusiveMinimum: 0,
      maximum: 9_000_000_000_000_000,
    });
    const Notes = Type.Object({ title: Type.String(), description: Type.String() });
    expect(Object.keys(toAjv(Notes).properties as object)).toEqual(['title', 'description']);
    const { $defs, properties } = toAjv(page(CurrencyAmount)) as Record<string, object>;
    expect(Object.keys($defs ?? {})).toEqual(['Currency', 'CurrencyAmount']);
    expect(properties).toMatchObject({ data: { items: { $ref: '#/$defs/CurrencyAmount' } } });
    const Item = named('Item', Type.Object({ a: Type.String() }));
    const Other = named('Item', Type.Object({ b: Type.String() }));
    expect(errorsOf(Type.Object({ one: Item, two: Other }), { one: {}, two: {} })).toEqual([
      '/one/a required',
      '/two/b required',
    ]);
    expect(errorsOf(Address, { line1: 'A 1', postalCode: '1', country: 'usa' })).toEqual([
      '/country pattern',
    ]);
  });
});

describe('withErrorText', () => {
  it('adds an error text to a rule, which the document omits', () => {
    const schema = Type.Object({
      a: withErrorText(Type.String({ pattern: '^a$' }), 'must be an a'),
    });
    const publishedSchema = { type: 'string', pattern: '^a$' };
    expect(toAjv(schema).properties).toEqual({ a: { ...publishedSchema, rule: 'must be an a' } });
    expect(toOpenApi(schema, {})).toMatchObject({ properties: { a: publishedSchema } });
    expect(JSON.stringify(toOpenApi(schema, {}))).not.toContain('must be an a');
  });
});

describe('shared schemas', () => {
  it('define oneOf as an enum, typed as the union', () => {
    const Side = oneOf(['SENDING', 'RECEIVING'], { description: 'Side.' });
    expectTypeOf<Static<typeof Side>>().toEqualTypeOf<'SENDING' | 'RECEIVING'>();
    expect(toOpenApi(Side, {})).toEqual({
      type: 'string',
      enum: ['SENDING', 'RECEIVING'],
      description: 'Side.',
    });
    expect(errorsOf(nullable(Side), null)).toEqual([]);
    expect(errorsOf(nullable(Side), 'UP')).toEqual([' enum']);
    expect(errorsOf(nullable(Address), null)).toEqual([]);
  });

  it('limit amounts to integers that JSON represents exactly', () => {
    expect(errorsOf(Amount, 0)).toEqual([]);
    expect(errorsOf(Amount, 9_000_000_000_000_000)).toEqual([]);
    expect(errorsOf(Amount, 9_000_000_000_000_001)).toEqual([' maximum']);
    expect(errorsOf(PositiveAmount, 0)).toEqual([' exclusiveMinimum']);
    expect(errorsOf(PositiveAmount, 1.5).length).toBeGreaterThan(0);
  });

  it('limit page queries', () => {
    const Query = Type.Object(PageQuery);
    expect(errorsOf(Query, { limit: 100, cursor: 'x' })).toEqual([]);
    expect(errorsOf(Query, { limit: 101 })).toEqual(['/limit maximum']);
    expect(errorsOf(Query, { limit: 0 })).toEqual(['/limit minimum']);
  });
});
