// Compilation of all contracts, and the fields that a validation reports.
import { type TSchema, Type } from '@sinclair/typebox';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { CONNECTORS } from '../../connectors/registry.ts';
import { type Deps, operationsOf } from '../../features.ts';
import { ajvParts, named } from '../schema.ts';
import type { Contract } from './operation.ts';
import { compileSchemas, fieldErrors } from './validate.ts';

const contractOf = (body: TSchema) => ({ body }) as unknown as Contract;

// Only the contracts are used.
const deps = { connectors: () => ({}), tokens: {}, webhooks: {} } as unknown as Deps;
const contracts = operationsOf(deps).map(({ contract }) => contract);

it('all request schemas of contracts and all settings of connectors are valid', () => {
  const ajv = new Ajv({ strict: false });
  const requests = contracts.flatMap(({ body, query, headers }) => [body, query, headers]);
  const settings = CONNECTORS.map((connector) => connector.settings);
  const schemas = [...requests, ...settings].filter((schema) => schema !== undefined);
  expect(schemas.length).toBeGreaterThan(100);
  for (const schema of schemas) {
    const { body, definitions } = ajvParts(schema, '/named/');
    for (const each of [body, ...Object.values(definitions)]) {
      expect([ajv.validateSchema(each as object), ajv.errorsText()]).toEqual([true, 'No errors']);
    }
  }
  expect(ajv.validateSchema({ type: 'text' })).toBe(false);
});

it('compileSchemas compiles every contract', () => {
  expect([...compileSchemas(contracts)].length).toBeGreaterThanOrEqual(contracts.length);
  // Compiled schemas are reused, so only the step after each contract remains.
  expect([...compileSchemas(contracts)]).toHaveLength(contracts.length);
});

it('compileSchemas pauses after each named schema and after each contract', () => {
  const Inner = named('ValidateFirst', Type.Object({ code: Type.String() }));
  const Outer = named('ValidateSecond', Type.Object({ inner: Inner }));
  const contract = contractOf(Type.Object({ outer: Outer }));
  // Two named schemas and the contract.
  expect([...compileSchemas([contract])]).toHaveLength(3);
});

it('fieldErrors reports fields of nested named schemas', () => {
  const Inner = named('ValidateInner', Type.Object({ code: Type.String({ minLength: 2 }) }));
  const Outer = named('ValidateOuter', Type.Object({ inner: Inner }));
  const schema = Type.Object({ list: Type.Array(Outer) });
  const errors = fieldErrors(
    schema,
    { list: [{ inner: { code: 'ok' } }, { inner: { code: 'x' } }] },
    'body',
  );
  expect(errors.map(({ field }) => field)).toEqual(['list.1.inner.code']);
});

it('compileSchemas rejects two shapes with one name', () => {
  const firstBody = Type.Object({ a: named('ValidateTwice', Type.Object({ b: Type.String() })) });
  const secondBody = Type.Object({ a: named('ValidateTwice', Type.Object({ c: Type.String() })) });
  const steps = compileSchemas([contractOf(firstBody), contractOf(secondBody)]);
  expect(() => [...steps]).toThrow('two different schemas are named ValidateTwice');
});
