// Replies are stored under their idempotency key for a week. Replies with personal data are stored
// encrypted. A repeated request returns the identical reply.
import type { TSchema } from '@sinclair/typebox';
import { expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';

const PERSON = { customerType: 'INDIVIDUAL', fullName: 'Wilhelmina Kestrel' };

const app = testApp();

const create = (key: string, overrides: object = {}) =>
  app.call(
    'POST',
    '/customers',
    { ...PERSON, ...overrides },
    { headers: { 'idempotency-key': key } },
  );
const readStoredReply = async (key: string) => {
  const sql = 'select id, reply from idempotency where id like $1';
  const [row] = await app.runtime.db.query(sql, [`% ${key}`]);
  return row as { id: string; reply: string };
};

it('the server stores a personal reply encrypted and replays it', async () => {
  const firstReply = ok(await create('sealed-1'), 201);
  expect((await readStoredReply('sealed-1')).reply).not.toContain('Kestrel');
  const secondResponse = await create('sealed-1');
  expect(secondResponse.headers['idempotency-replayed']).toBe('true');
  expect(ok(secondResponse, 201)).toEqual(firstReply);
  expect((await create('sealed-1', { fullName: 'Another' })).status).toBe(409);
});

it('the server stores a rejection encrypted and replays it', async () => {
  const body = { umaAddress: '$unknown@elsewhere.example' };
  const firstResponse = await create('sealed-2', body);
  expect(firstResponse.status).toBe(400);
  expect((await readStoredReply('sealed-2')).reply).toMatch(/^s1\./);
  expect((await create('sealed-2', body)).body).toEqual(firstResponse.body);
});

it('the server replays a reply that an earlier version stored as plain text', async () => {
  const firstReply = ok(await create('sealed-3'), 201);
  await app.runtime.db.query('update idempotency set reply = $2 where id = $1', [
    (await readStoredReply('sealed-3')).id,
    JSON.stringify(firstReply),
  ]);
  expect(ok(await create('sealed-3'), 201)).toEqual(firstReply);
});

const PERSONAL_FIELDS = [
  ...['fullName', 'firstName', 'lastName', 'birthDate', 'email', 'phoneNumber', 'identifier'],
  ...['documentNumber', 'fileName', 'beneficiary', 'verificationUrl', 'passkeyOptions'],
];

function personalFieldsIn(schema: TSchema, visitedSchemas = new Set<TSchema>()): string[] {
  if (visitedSchemas.has(schema)) return [];
  visitedSchemas.add(schema);
  const composedSchema = schema as TSchema &
    Record<'anyOf' | 'oneOf' | 'allOf', TSchema[] | undefined>;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
  return [
    ...properties.map(([name]) => name).filter((name) => PERSONAL_FIELDS.includes(name)),
    ...properties.flatMap(([, property]) => personalFieldsIn(property, visitedSchemas)),
    ...[composedSchema.anyOf, composedSchema.oneOf, composedSchema.allOf].flatMap((schemas) =>
      (schemas ?? []).flatMap((schema) => personalFieldsIn(schema, visitedSchemas)),
    ),
    ...(schema.items ? personalFieldsIn(schema.items as TSchema, visitedSchemas) : []),
  ];
}

it('the server encrypts the replies of every operation with personal data', () => {
  const unsealedFields = app.operations.flatMap(({ contract }) => {
    if (contract.method !== 'POST' || contract.sealed || contract.auth === 'hosted') return [];
    const personalFields = Object.values(contract.replies).flatMap((reply) =>
      reply ? personalFieldsIn(reply) : [],
    );
    return personalFields.length
      ? [`${contract.operationId}: ${[...new Set(personalFields)].join(', ')}`]
      : [];
  });
  expect(unsealedFields).toEqual([]);
});
