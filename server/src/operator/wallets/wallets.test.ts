// Embedded wallets as shown to the operator.

import { describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import type { Mode } from '../../kernel/mode.ts';
import { main } from '../../operator.ts';

const app = testApp();

async function run(masterKey: string, ...argv: string[]) {
  const result = { out: '', err: '' };
  const code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: masterKey },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return { code, ...result };
}

const MASTER_KEY = '07'.repeat(32);
const POINT = /^04[0-9a-f]{128}$/;

describe('wallet keys', () => {
  it("shows the server's signing keys, separate for each environment", async () => {
    const { code, out, err } = await run(MASTER_KEY, 'wallet', 'keys', '--json');
    expect([code, err]).toEqual([0, '']);
    const keysOf = (environment: Mode) => ({
      environment,
      ...app.connectorsOf(environment).custody?.publicKeys(),
    });
    const keys = JSON.parse(out);
    expect(keys).toEqual([keysOf('sandbox'), keysOf('production')]);
    const allKeys: string[] = keys.flatMap(({ bundles, tokens }: Record<string, string>) => [
      bundles,
      tokens,
    ]);
    for (const key of allKeys) expect(key).toMatch(POINT);
    expect(new Set(allKeys).size).toBe(4);
  });

  it('prints the keys as text', async () => {
    const { code, out } = await run(MASTER_KEY, 'wallet', 'keys');
    expect(code).toBe(0);
    const names = out.split('\n').map((line) => line.split(/ +/)[0]);
    expect(names).toEqual([
      'Environment',
      'Bundles',
      'Tokens',
      '',
      'Environment',
      'Bundles',
      'Tokens',
      '',
    ]);
    expect(out).toContain(app.connectorsOf('production').custody?.publicKeys().tokens);
  });

  it("shows no keys with another master key than the server's", async () => {
    const { code, out, err } = await run('08'.repeat(32), 'wallet', 'keys');
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/another master key/);
  });
});
