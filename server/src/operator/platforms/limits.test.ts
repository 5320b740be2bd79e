// Limits set by an operator: output and errors of the commands that list, set and remove them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/kit/app/database.ts';
import { main } from '../../operator.ts';

let database: TestDatabase;
let platformId: string;

async function run(...argv: string[]) {
  const result = { out: '', err: '' };
  const code = await main(argv, {
    env: { DATABASE_URL: database.url, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return { code, ...result };
}

async function runJson(...argv: string[]): Promise<unknown> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

beforeAll(async () => {
  database = await createTestDatabase();
  const createdOutput = await runJson('platform', 'create', '--name', 'Shop');
  platformId = (createdOutput as { platformId: string }).platformId;
});
afterAll(() => database.drop());

describe('platform limits', () => {
  it('are not set by default', async () => {
    expect(await runJson('platform', 'limits', platformId)).toEqual([]);
    expect((await run('platform', 'limits', platformId)).out).toBe('None.\n');
  });

  it('are set, replaced and listed by currency and destination', async () => {
    const setLimit = (...flags: string[]) => runJson('platform', 'set-limit', platformId, ...flags);
    await setLimit('--currency', 'USD', '--per-payment', '10000.00', '--per-day', '50000');
    await setLimit('--currency', 'USD', '--to', 'EUR', '--per-day', '0.5');
    await setLimit('--currency', 'BTC', '--per-payment', '0.00000001');
    const allLimits = await setLimit('--currency', 'USD', '--per-payment', '9999.99');
    expect(allLimits).toEqual([
      { currency: 'BTC', perPayment: 1 },
      { currency: 'USD', perPayment: 9_999_99 },
      { currency: 'USD', to: 'EUR', perDay: 50 },
    ]);
    expect(await runJson('platform', 'limits', platformId)).toEqual(allLimits);
    expect((await run('platform', 'limits', platformId)).out).toBe(
      [
        'FROM  TO   PER PAYMENT  PER DAY',
        'BTC   any   0.00000001        -',
        'USD   any     9,999.99        -',
        'USD   EUR            -     0.50',
        '',
      ].join('\n'),
    );
  });

  it('are removed individually', async () => {
    const remove = (...flags: string[]) => run('platform', 'remove-limit', platformId, ...flags);
    expect((await remove('--currency', 'USD')).code).toBe(0);
    expect(await runJson('platform', 'limits', platformId)).toMatchObject([
      { currency: 'BTC' },
      { currency: 'USD', to: 'EUR' },
    ]);
    expect(await remove('--currency', 'USD')).toMatchObject({
      code: 1,
      err: 'Limit not found.\n',
    });
  });

  it.each([
    [['--currency', 'USD'], '--per-payment or --per-day is required'],
    [['--currency', 'XXX', '--per-day', '1'], '--currency: XXX is not a supported currency'],
    [
      ['--currency', 'USD', '--to', 'XXX', '--per-day', '1'],
      '--to: XXX is not a supported currency',
    ],
    [['--currency', 'USD', '--per-day', '1.001'], 'an amount of USD with 2 decimals at most'],
    [['--currency', 'USD', '--per-day', '1,000'], 'an amount of USD with 2 decimals at most'],
    [['--currency', 'USD', '--per-day=-1'], 'an amount of USD with 2 decimals at most'],
    [['--currency', 'USD', '--per-day', '0.00'], 'must be from 0.01 to '],
    [['--currency', 'USD', '--per-payment', '90000000000000.01'], 'must be from 0.01 to '],
    [['--per-day', '1'], '--currency CURRENCY is required'],
  ])('are rejected for %j', async (flags, message) => {
    const { code, out, err } = await run('platform', 'set-limit', platformId, ...flags);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  it('require an existing platform', async () => {
    const { code, err } = await run('platform', 'limits', 'PlatformConfig:none');
    expect([code, err]).toEqual([1, 'Platform not found.\n']);
  });
});
