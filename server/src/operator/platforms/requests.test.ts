// Recorded requests as shown to the operator, and the permission to store bodies in production.
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { main } from '../../operator.ts';

// The command uses the real clock, with which the end of the retention is compared.
const app = testApp({ start: Date.now() });

async function run(...argv: string[]) {
  const result = { code: 0, out: '', err: '' };
  result.code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return result;
}

async function runJson(...argv: string[]) {
  const { code, out, err } = await run(...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

it('the command shows a failed request of any platform by its ID', async () => {
  const path = '/quotes/Quote:00000000-0000-7000-8000-000000000000';
  const failedReply = await app.call('GET', path, undefined, { platform: app.other });
  await app.call('GET', '/requests', undefined, { platform: app.other });
  const id = String(failedReply.headers['x-request-id']);
  const view = await runJson('requests', 'show', id);
  expect(view).toMatchObject({ id, platformId: app.other.id, errorCode: 'QUOTE_NOT_FOUND' });
  const { out } = await run('requests', 'show', id);
  expect(out).toMatch(/Error code +QUOTE_NOT_FOUND\nReason +Quote not found/);
  const list = await runJson('requests', 'list', app.other.id, '--status', '4xx');
  expect(list.map((each: { id: string }) => each.id)).toEqual([id]);
  expect(await runJson('requests', 'list', app.other.id, '--operation', 'createQuote')).toEqual([]);
  expect((await run('requests', 'list', app.other.id)).out).toMatch(/^REQUEST +TIME +OPERATION/);
  const unknownResult = await run('requests', 'show', '00000000-0000-7000-8000-000000000000');
  expect([unknownResult.code, unknownResult.err]).toEqual([1, 'Request not found.\n']);
});

it('the command stores bodies of a production platform until a time', async () => {
  const { id } = app.production;
  const endTime = new Date(Date.now() + 60_000).toISOString();
  expect(await runJson('platform', 'request-bodies', id, '--until', endTime)).toEqual({
    platformId: id,
    environment: 'production',
    requestBodiesUntil: endTime,
  });
  expect((await runJson('platform', 'show', id)).requestBodiesUntil).toBe(endTime);
  const { out } = await run('platform', 'request-bodies', id, '--until', 'off');
  expect(out).toBe(`Request bodies of ${id} are not stored.\n`);
  for (const text of ['tomorrow', '2020-01-01T00:00:00Z']) {
    expect((await run('platform', 'request-bodies', id, '--until', text)).code).toBe(2);
  }
  const sandboxResult = await run(
    'platform',
    'request-bodies',
    app.platform.id,
    '--until',
    endTime,
  );
  expect([sandboxResult.code, sandboxResult.err]).toEqual([
    1,
    'Request bodies of sandbox platforms are always stored. Use a production platform.\n',
  ]);
});
