// The command `npm run conformance`: keys, flags, report and exit codes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckResult } from '../../src/conformance/check.ts';
import { conformance } from '../../src/conformance/conformance.ts';
import { newSignatureKey, ownKey } from '../../src/conformance/keys.ts';
import { textReport, wrap } from '../../src/conformance/report.ts';
import { systemEffects } from '../../src/runtime/config/system-effects.ts';
import { pemOf } from '../../src/runtime/security/keys.ts';
import { type Fault, simulatedProvider } from '../kit/providers/simulated-provider.ts';

const effects = systemEffects();
const folder = mkdtempSync(path.join(os.tmpdir(), 'conformance-'));
const key = newSignatureKey(effects);
const INBOX_PORT = 20_000 + Math.floor(Math.random() * 20_000);
const pathOf = (name: string) => path.join(folder, name);

beforeAll(() => writeFileSync(pathOf('adapter.pub.pem'), pemOf(key.privateKey)));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...argv: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await conformance(argv, {
    print: (text) => void out.push(text),
    err: (text) => void err.push(text),
    ...{ width: 120, isColored: false },
  });
  return { code, out: out.join(''), err: err.join('') };
}

/** Runs the command against an adapter. */
async function runAgainst(fault: Fault | undefined, ...flags: string[]) {
  const inbox = `http://127.0.0.1:${INBOX_PORT}/connectors/acme-bank`;
  const railhead = ownKey(effects, folder);
  const options = { key, railhead, next: ownKey(effects, folder, 'next'), inbox };
  const provider = simulatedProvider(fault ? { ...options, fault } : options);
  const url = await provider.start();
  const commonFlags = ['--url', url, '--keys', folder, '--port', String(INBOX_PORT)];
  try {
    return await run(...commonFlags, '--wait', '2', '--quiet', '0.3', ...flags);
  } finally {
    await provider.kill();
  }
}

describe('the conformance command', () => {
  it('creates the key of Railhead once, with read access for the owner only', async () => {
    const keysFolder = pathOf('new');
    expect((await run('--keys', keysFolder)).code).toBe(0);
    const file = path.join(keysFolder, 'railhead.pem');
    const firstKey = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run('--keys', keysFolder)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(firstKey);
    rmSync(file);
    const { code, err } = await run('--keys', keysFolder);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('another folder'),
    });
  });

  it('reports an adapter without faults, as text and as JSON', async () => {
    const { code, out, err } = await runAgainst(undefined, '--only', 'signatures,cancel');
    expect(code).toBe(0);
    expect(out).toContain('The adapter conforms to the protocol: 17 passed, 0 failed, 0 skipped.');
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120);
    expect(err).toContain('passed  signatures.expired\n');
    const json = await runAgainst(undefined, '--only', 'cancel', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ isConformant: true });
  });

  it('prints failed checks with their remedies, and exits with 1', async () => {
    const { code, out } = await runAgainst('accepts an old signature', '--only', 'signatures');
    expect(code).toBe(1);
    expect(out).toContain('The adapter does not conform: 11 passed, 2 failed, 0 skipped.');
    const remedy = out.slice(out.indexOf('\nsignatures.expired\n'));
    expect(remedy).toContain('Expected: status 401, and the transfer is not executed.');
    expect(remedy).toMatch(/Actual: status 200, and the transfer is (accepted|settled)\./);
    expect(remedy).toContain('Remedy: Reject a signature whose `created` differs');
  });

  it('skips excluded outcomes, and uses the transfer fields of the file', async () => {
    const file = pathOf('transfers.json');
    writeFileSync(file, JSON.stringify({ transfer: { amount: 7 }, outcomes: { failed: null } }));
    const flags = ['--only', 'outcomes', '--transfers', file];
    const { code, out } = await runAgainst(undefined, ...flags);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('1 skipped') });
    writeFileSync(file, JSON.stringify({ transfer: { amount: 0.5 } }));
    const invalidRun = await runAgainst(undefined, ...flags);
    expect(invalidRun.out).toContain('--transfers: the field amount must be integer');
  });

  it.each([
    [['--url', 'adapter'], /--url must be an http or https URL/],
    [['--unknown'], /Unknown option/],
    [['--wait', 'x'], /--wait must be a number/],
    [['--transfers', '/absent'], /no such file/],
  ])('exits with 2 and the reason after invalid usage: %j', async (argv, problem) => {
    const { code, err } = await run('--keys', folder, ...argv);
    expect(code).toBe(2);
    expect(err).toMatch(problem);
    expect(err).toContain('Usage: npm run conformance');
  });

  it('requires the public key of the adapter', async () => {
    const keysFolder = pathOf('empty');
    const { code, err } = await run(
      '--url',
      'http://127.0.0.1:1',
      '--keys',
      keysFolder,
      '--port',
      '1',
    );
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringMatching(/adapter\.pub\.pem/),
    });
  });

  it('fails if the address of the adapter does not respond', async () => {
    const flags = ['--url', 'http://127.0.0.1:1', '--keys', folder, '--port', String(INBOX_PORT)];
    const { code, out } = await run(...flags);
    expect(code).toBe(1);
    expect(out).toContain('0 passed, 1 failed');
  });

  it('can be run as a script of the repository', () => {
    const script = path.resolve(import.meta.dirname, '../../bin/conformance.js');
    const printedText = execFileSync(process.execPath, [script, '--help'], { encoding: 'utf8' });
    expect(printedText).toContain('--url URL');
  }, 60_000);
});

describe('the report', () => {
  it.each([
    ['a b c', 3, ['a b', 'c']],
    ['abcdef g', 4, ['abcd', 'ef g']],
    ['a\u001b[31m', 20, ['a [31m']],
  ])('wraps %j to %i columns', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  it('has colors in a terminal only', () => {
    const result: CheckResult = {
      ...{ name: 'a.b', action: 'x', expected: 'y', actual: 'z', remedy: 'w', verdict: 'failed' },
    };
    const options = { url: 'http://a', inbox: 'http://b', width: 80 };
    expect(textReport([result], { ...options, isColored: true })).toContain('\u001b[31mfailed');
    expect(textReport([result], { ...options, isColored: false })).not.toContain('\u001b');
  });
});
