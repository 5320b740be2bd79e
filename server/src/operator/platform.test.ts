// `platform set --wallet-processing` and `--hourly-payments`: numbers that are settings of a platform.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestPlatform } from '../../test/harness.ts';
import { commandOn } from '../../test/production.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const run = (...argv: string[]) => commandOn(app)(argv);

const set = (value: string, { id }: TestPlatform = app.platform) =>
  run('platform', 'set', id, `--wallet-processing=${value}`, '--json');

describe('how often wallets answer PROCESSING', () => {
  it('is never at first, and what was set last', async () => {
    const shown = await run('platform', 'show', app.platform.id);
    expect(shown.out).not.toContain('PROCESSING');
    for (const polls of [3, 100]) {
      const { code, out } = await set(String(polls));
      expect([code, JSON.parse(out)]).toMatchObject([0, { walletProcessing: polls }]);
    }
    const again = await run('platform', 'show', app.platform.id);
    expect(again.out).toMatch(/Wallets answer PROCESSING +100 times/);
    const other = await run('platform', 'set', app.platform.id, '--name', 'Main', '--json');
    expect(JSON.parse(other.out)).toMatchObject({ walletProcessing: 100 });
    expect(JSON.parse((await set('0')).out)).toMatchObject({ walletProcessing: 0 });
  });

  it.each(['101', '-1', '1.5', 'many', '1e2', ' '])('is not %s', async (value) => {
    const { code, err } = await set(value);
    expect(code).not.toBe(0);
    expect(err).toContain('--wallet-processing');
  });

  it('is nothing for production', async () => {
    const { code, err } = await set('1', app.production);
    expect([code, err.split('\n')[0]]).toEqual([
      expect.any(Number),
      expect.stringContaining('not for production'),
    ]);
    expect(code).not.toBe(0);
    expect((await set('0', app.production)).code).toBe(0);
  });
});

describe('how often a customer may pay in an hour', () => {
  const hourly = (value: string) =>
    run('platform', 'set', app.platform.id, `--hourly-payments=${value}`, '--json');

  it('is as often as it likes, until something else was set', async () => {
    const shown = () => run('platform', 'show', app.platform.id);
    expect((await shown()).out).not.toContain('an hour');
    expect(JSON.parse((await hourly('12')).out)).toMatchObject({ hourlyPayments: 12 });
    const other = await run('platform', 'set', app.platform.id, '--name', 'Main', '--json');
    expect(JSON.parse(other.out)).toMatchObject({ hourlyPayments: 12 });
    expect((await shown()).out).toMatch(/Payments of one customer +12 an hour/);
    expect(JSON.parse((await hourly('0')).out)).toMatchObject({ hourlyPayments: null });
  });

  it.each(['-1', '1.5', 'many', '1000000', ' '])('is not %s', async (value) => {
    const { code, err } = await hourly(value);
    expect(code).not.toBe(0);
    expect(err).toContain('--hourly-payments');
  });
});
