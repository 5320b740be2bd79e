// `webhooks keys list|rotate|retire`: a rotation as shown to the operator.
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { main } from '../../operator.ts';

const app = testApp();

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

interface ShownKey {
  keyId: string;
  environment: string;
  algorithm: string;
  status: string;
  activeFrom: string;
  retiredAt?: string;
}

async function runJson(...argv: string[]): Promise<ShownKey[]> {
  const { code, out, err } = await run(...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const ROTATE_COMMAND = ['webhooks', 'keys', 'rotate', '--environment', 'production'];

it('the command lists, rotates and retires the keys of an environment', async () => {
  const firstKeys = await runJson('webhooks', 'keys', 'list');
  expect(firstKeys.map((each) => each.status)).toEqual(['active', 'active', 'active', 'active']);
  expect((await run('webhooks', 'keys', 'list')).out).toMatch(
    /^KEY +ENVIRONMENT +ALGORITHM +STATUS/,
  );

  const rotatedOutput = await runJson(...ROTATE_COMMAND, '--overlap-hours', '48');
  expect(rotatedOutput.map((each) => each.environment)).toEqual(Array(4).fill('production'));
  const announcedKeys = rotatedOutput.filter((each) => each.status === 'announced');
  expect(announcedKeys).toHaveLength(2);
  const hours = (Date.parse(announcedKeys[0]?.activeFrom ?? '') - Date.now()) / 3_600_000;
  expect(hours).toBeCloseTo(48, 1);
  const activeKeys = rotatedOutput.filter((each) => each.status === 'active');
  for (const { retiredAt = '' } of activeKeys) {
    expect((Date.parse(retiredAt) - Date.now()) / 3_600_000).toBeCloseTo(96, 1);
  }
  const repeatedResult = await run(...ROTATE_COMMAND);
  expect(repeatedResult).toMatchObject({ code: 1, out: '' });
  expect(repeatedResult.err).toContain('A rotation is in progress.');

  const retiredOutput = await runJson('webhooks', 'keys', 'retire', announcedKeys[0]?.keyId ?? '');
  expect(retiredOutput.map((each) => each.status)).toEqual(['retired', 'retired']);
  const rejectedResult = await run('webhooks', 'keys', 'retire', activeKeys[0]?.keyId ?? '');
  expect(rejectedResult.err).toContain('The key is active.');
});

it.each(['-1', '1.5', 'x', '2161'])('the command rejects an overlap of %s', async (hours) => {
  const result = await run(...ROTATE_COMMAND, `--overlap-hours=${hours}`);
  expect(result).toMatchObject({ code: 2, out: '' });
  expect(result.err).toContain('--overlap-hours must be a whole number from 0 to 2160');
});
