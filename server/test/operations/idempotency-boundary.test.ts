// A key has one effect until the deletion of its stored reply at the end of the retention. Two
// processes repeat a request during the deletion. After the deletion the key counts as new.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type App, compose } from '../../src/compose.ts';
import { BASE_PATH } from '../../src/http/server.ts';
import { idempotencyRetention } from '../../src/runtime/operation/idempotency.ts';
import { testApp } from '../kit/app/test-app.ts';
import { silentLog } from '../kit/http/outbox.ts';
import { lengthOf } from '../kit/length.ts';

const WEEK_MS = 7 * 86_400_000;

const app = testApp();
let secondApp: App;

beforeAll(async () => {
  const settings = {
    ...{ serviceNamePrefix: 'Service', databaseUrl: app.databaseUrl },
    masterKey: Buffer.alloc(32, 7),
    files: { folder: app.filesFolder },
  };
  secondApp = await compose(settings, app.effects, silentLog);
  secondApp.readiness.markStarted();
});
afterAll(() => secondApp.stop());

interface CreatedToken {
  id: string;
  isReplayed: boolean;
}

async function create({ server }: Pick<App, 'server'>, name: string): Promise<CreatedToken> {
  const { clientId, clientSecret } = app.platform;
  const reply = await server.inject({
    method: 'POST',
    url: `${BASE_PATH}/tokens`,
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'idempotency-key': name,
    },
    payload: { name, permissions: ['VIEW'] },
  });
  expect(reply.statusCode, reply.body).toBe(201);
  return { id: reply.json().id, isReplayed: reply.headers['idempotency-replayed'] === 'true' };
}

const tokensOf = async (name: string) =>
  (await app.runtime.db.query<{ id: string }>('select id from tokens where name = $1', [name])).map(
    ({ id }) => id,
  );

it('a key has one effect before its deletion and at most one effect after it', async () => {
  const roundCount = lengthOf(20, 200);
  let deletionCount = 0;
  for (let round = 0; round < roundCount; round++) {
    const name = `boundary ${round}`;
    const firstResult = await create(app, name);
    app.effects.set(app.effects.now() + WEEK_MS + 1);
    const repeat = (attempt: number) => create(attempt % 2 === 0 ? app : secondApp, name);
    const repetitions = Array.from({ length: round % 5 }, (_, attempt) => repeat(attempt));
    const deletion = idempotencyRetention().run(app.runtime);
    repetitions.push(...Array.from({ length: 4 }, (_, attempt) => repeat(attempt)));
    const replies = await Promise.all(repetitions);
    deletionCount += await deletion;
    // A reply describes the first effect or the only later effect.
    const tokens = await tokensOf(name);
    expect(tokens).toContain(firstResult.id);
    expect(tokens.length).toBeLessThanOrEqual(2);
    for (const { id } of replies) expect(tokens).toContain(id);
    const laterReplies = replies.filter(({ id }) => id !== firstResult.id);
    expect(laterReplies.filter(({ isReplayed }) => !isReplayed).length).toBeLessThanOrEqual(1);
    expect(tokens).toHaveLength(laterReplies.length > 0 ? 2 : 1);
  }
  expect(deletionCount).toBeGreaterThanOrEqual(roundCount - 1);
});
