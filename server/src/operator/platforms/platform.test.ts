// Settings of a platform: `--standard-webhooks`, numbers such as `--wallet-processing` and
// `--hourly-payments`, `--terms` for unregulated platforms, and `--brand-color` of hosted pages.
import { describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';

const app = testApp();

const run = (...argv: string[]) => commandRunner(app)(argv);

const setWalletProcessing = (value: string, { id }: TestPlatform = app.platform) =>
  run('platform', 'set', id, `--wallet-processing=${value}`, '--json');

describe('--standard-webhooks', () => {
  it('is enabled by default, and can be disabled and enabled', async () => {
    const { id } = app.platform;
    const readSetting = async (flag: string) =>
      JSON.parse((await run('platform', 'set', id, flag, '--json')).out).standardWebhooks;
    const line = /Headers of Standard Webhooks +no/;
    expect((await run('platform', 'show', id)).out).not.toMatch(line);
    expect(await readSetting('--no-standard-webhooks')).toBe(false);
    expect((await run('platform', 'show', id)).out).toMatch(line);
    expect(await readSetting('--standard-webhooks')).toBe(true);
  });
});

describe('--wallet-processing', () => {
  it('is zero by default, and keeps the last value that was set', async () => {
    const output = await run('platform', 'show', app.platform.id);
    expect(output.out).not.toContain('PROCESSING');
    for (const pollCount of [3, 100]) {
      const { code, out } = await setWalletProcessing(String(pollCount));
      expect([code, JSON.parse(out)]).toMatchObject([0, { walletProcessing: pollCount }]);
    }
    const repeatedReply = await run('platform', 'show', app.platform.id);
    expect(repeatedReply.out).toMatch(/Wallets return PROCESSING +100 times/);
    const nextChange = await run('platform', 'set', app.platform.id, '--name', 'Main', '--json');
    expect(JSON.parse(nextChange.out)).toMatchObject({ walletProcessing: 100 });
    expect(JSON.parse((await setWalletProcessing('0')).out)).toMatchObject({ walletProcessing: 0 });
  });

  it.each(['101', '-1', '1.5', 'many', '1e2', ' '])('rejects %s', async (value) => {
    const { code, err } = await setWalletProcessing(value);
    expect(code).not.toBe(0);
    expect(err).toContain('--wallet-processing');
  });

  it('is rejected in production', async () => {
    const { code, err } = await setWalletProcessing('1', app.production);
    expect([code, err.split('\n')[0]]).toEqual([
      expect.any(Number),
      expect.stringContaining('in the sandbox only'),
    ]);
    expect(code).not.toBe(0);
    expect((await setWalletProcessing('0', app.production)).code).toBe(0);
  });
});

describe('--hourly-payments', () => {
  const setHourlyPayments = (value: string) =>
    run('platform', 'set', app.platform.id, `--hourly-payments=${value}`, '--json');

  it('is unlimited until set', async () => {
    const showPlatform = () => run('platform', 'show', app.platform.id);
    expect((await showPlatform()).out).not.toContain('an hour');
    expect(JSON.parse((await setHourlyPayments('12')).out)).toMatchObject({ hourlyPayments: 12 });
    const nextChange = await run('platform', 'set', app.platform.id, '--name', 'Main', '--json');
    expect(JSON.parse(nextChange.out)).toMatchObject({ hourlyPayments: 12 });
    expect((await showPlatform()).out).toMatch(/Maximum payments per customer +12 an hour/);
    expect(JSON.parse((await setHourlyPayments('0')).out)).toMatchObject({ hourlyPayments: null });
  });

  it.each(['-1', '1.5', 'many', '1000000', ' '])('rejects %s', async (value) => {
    const { code, err } = await setHourlyPayments(value);
    expect(code).not.toBe(0);
    expect(err).toContain('--hourly-payments');
  });
});

describe('--terms', () => {
  const createPlatform = async (...flags: string[]): Promise<string> => {
    const { out } = await run('platform', 'create', '--name', 'Terms', ...flags, '--json');
    return JSON.parse(out).platformId;
  };
  const readSettings = async (id: string) => {
    const { terms, regulated, name } = JSON.parse(
      (await run('platform', 'show', id, '--json')).out,
    );
    return { terms, regulated, name };
  };
  const REASON =
    '--terms has no effect, because customers of a regulated platform accept the terms of the ' +
    'platform.';

  it.each([
    ['of the sandbox, which is regulated', ['--terms']],
    ['that becomes regulated', ['--regulated', '--terms', '--environment', 'production']],
  ])('is rejected with the reason for a new platform %s', async (_, flags) => {
    const { code, err } = await run('platform', 'create', '--name', 'None', ...flags);
    expect([code, err.includes(`${REASON} Add --unregulated.`)]).toEqual([2, true]);
    const { out } = await run('platform', 'list', '--json');
    expect(JSON.parse(out).some(({ name }: { name: string }) => name === 'None')).toBe(false);
  });

  it('is rejected without a change if a platform is regulated or becomes regulated', async () => {
    const regulatedPlatform = await createPlatform();
    const termsChange = await run(
      'platform',
      'set',
      regulatedPlatform,
      '--terms',
      '--name',
      'Changed',
    );
    expect([termsChange.code, termsChange.err.includes(`${REASON} Add --unregulated.`)]).toEqual([
      2,
      true,
    ]);
    expect(await readSettings(regulatedPlatform)).toEqual({
      terms: false,
      regulated: true,
      name: 'Terms',
    });
    const otherPlatform = await createPlatform('--unregulated', '--terms');
    const rejectedChange = await run('platform', 'set', otherPlatform, '--regulated');
    expect([rejectedChange.code, rejectedChange.err.includes(`${REASON} Add --no-terms.`)]).toEqual(
      [2, true],
    );
    expect(await readSettings(otherPlatform)).toEqual({
      terms: true,
      regulated: false,
      name: 'Terms',
    });
  });

  it('is accepted together with --unregulated, and removed by --no-terms', async () => {
    const id = await createPlatform();
    expect((await run('platform', 'set', id, '--terms', '--unregulated')).code).toBe(0);
    expect(await readSettings(id)).toMatchObject({ terms: true, regulated: false });
    expect((await run('platform', 'set', id, '--regulated', '--no-terms')).code).toBe(0);
    expect(await readSettings(id)).toMatchObject({ terms: false, regulated: true });
  });

  it('allows other changes of a regulated platform that already requires terms', async () => {
    const id = await createPlatform();
    await app.runtime.db.query('update platforms set terms_required = true where id = $1', [id]);
    expect((await run('platform', 'set', id, '--name', 'Kept')).code).toBe(0);
    expect(await readSettings(id)).toEqual({ terms: true, regulated: true, name: 'Kept' });
  });
});

describe('--brand-color', () => {
  const setBrandColor = (value: string) =>
    run('platform', 'set', app.platform.id, `--brand-color=${value}`, '--json');
  const showPlatform = async () => (await run('platform', 'show', app.platform.id)).out;

  it('has a default color that the value default restores', async () => {
    expect(await showPlatform()).not.toContain('Color of hosted pages');
    expect(JSON.parse((await setBrandColor('#FFE500')).out)).toMatchObject({
      brandColor: '#ffe500',
    });
    // Yellow text on white cannot be read, so light pages use a darker shade.
    expect(await showPlatform()).toMatch(
      /Color of hosted pages +#ffe500 \(#[0-9a-f]{6} on light pages, #ffe500 on dark pages\)/,
    );
    const nextChange = await run('platform', 'set', app.platform.id, '--name', 'Main', '--json');
    expect(JSON.parse(nextChange.out)).toMatchObject({ brandColor: '#ffe500' });
    expect(JSON.parse((await setBrandColor('default')).out)).toMatchObject({ brandColor: null });
  });

  it.each(['red', '#fff', '3b49df', '#3b49dg', '#3b49df;'])('rejects %s', async (value) => {
    const { code, err } = await setBrandColor(value);
    expect(code).not.toBe(0);
    expect(err).toContain('--brand-color must be six hexadecimal digits');
  });
});
