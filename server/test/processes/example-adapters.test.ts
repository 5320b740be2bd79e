// The example adapters of examples/ conform to the protocol for providers, as processes that the
// conformance kit kills and starts again.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conformance } from '../../src/conformance/conformance.ts';
import { openInbox } from '../../src/conformance/inbox.ts';
import { adapterKeys, ownKey } from '../../src/conformance/keys.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { systemEffects } from '../../src/runtime/config/system-effects.ts';
import { programPath } from '../kit/guides/guide.ts';

const TRIAL_MS = 120_000;
const examples = path.join(projectRoot(), 'examples');
const folder = mkdtempSync(path.join(os.tmpdir(), 'example-adapters-'));
afterAll(() => rmSync(folder, { recursive: true }));

const randomPort = () => 20_000 + Math.floor(Math.random() * 20_000);
const run = promisify(execFile);

/** Creates the keys of an adapter, and runs the conformance kit with this adapter. */
async function testAdapter(name: string, program: readonly string[], port = randomPort()) {
  const keys = path.join(folder, name);
  const [command = '', ...args] = program;
  await run(command, [...args, 'keys', keys]);
  const inbox = randomPort();
  const railhead = `http://127.0.0.1:${inbox}/connectors/acme-bank`;
  const serve = ['serve', keys, '--port', String(port), '--railhead', railhead, '--test'];
  const printedLines: string[] = [];
  const flags = ['--url', `http://127.0.0.1:${port}`, '--keys', keys, '--port', String(inbox)];
  const code = await conformance([...flags, '--quiet', '1', '--json', '--', ...program, ...serve], {
    print: (text) => void printedLines.push(text),
    err: () => undefined,
    ...{ width: 120, isColored: false },
  });
  const { checks } = JSON.parse(printedLines.join(''));
  const failedChecks = checks.filter(({ verdict }: { verdict: string }) => verdict !== 'passed');
  expect({ code, failedChecks }).toEqual({ code: 0, failedChecks: [] });
  return { keys, names: checks.map((check: { name: string }) => check.name) };
}

describe('the TypeScript adapter', () => {
  it('conforms, and has fewer than 60 lines', { timeout: TRIAL_MS }, async () => {
    const file = path.join(examples, 'provider-typescript/adapter.ts');
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(60);
    const start = path.join(examples, 'provider-typescript/start.mjs');
    const { names } = await testAdapter('typescript', [process.execPath, start]);
    expect(names).toContain('restart.during-send');
  });
});

describe('the Python adapter', () => {
  const python = programPath('python3');
  it.skipIf(python === undefined)('conforms', { timeout: TRIAL_MS }, async () => {
    const adapter = path.join(examples, 'provider-python/adapter.py');
    const { names } = await testAdapter('python', [python ?? '', '-B', adapter]);
    expect(names).toContain('cancel.not-offered');
  });
});

describe('the adapter of a bank', () => {
  const start = path.join(examples, 'provider-bank/start.mjs');
  const settings = {
    BANK_CLIENT_ID: 'railhead',
    BANK_CLIENT_SECRET: 'client-secret',
    BANK_WEBHOOK_SECRET: 'webhook-secret',
    BANK_MAX_PROCESSING_MS: '1000',
  };
  // biome-ignore lint/suspicious/noExplicitAny: the bank is not written in TypeScript.
  let bank: any;
  let port: number;

  beforeEach(async () => {
    const file = new URL('../../../examples/provider-bank/test/bank.mjs', import.meta.url);
    const { startBank } = await import(file.href);
    port = randomPort();
    bank = await startBank({
      ...{ clientId: 'railhead', clientSecret: 'client-secret', webhookSecret: 'webhook-secret' },
      ...{ webhookUrl: `http://127.0.0.1:${port}/bank-events`, delayMs: 100 },
    });
    Object.assign(process.env, settings, { BANK_URL: bank.url });
  });
  afterEach(async () => {
    for (const name of [...Object.keys(settings), 'BANK_URL']) delete process.env[name];
    await bank.close();
  });

  it('conforms, and orders each payment once', { timeout: TRIAL_MS }, async () => {
    const { names } = await testAdapter('bank', [process.execPath, start], port);
    expect(names).toContain('cancel.held');
    const endToEndIds = bank.payments.map(
      (payment: { end_to_end_id: string }) => payment.end_to_end_id,
    );
    expect(endToEndIds.length).toBeGreaterThan(10);
    expect(new Set(endToEndIds).size).toBe(endToEndIds.length);
    expect(bank.payments[0]).toMatchObject({ amount: '12.34', currency: 'EUR' });
  });

  it('reports credits as deposits, and only those that the bank has signed', async () => {
    const keys = path.join(folder, 'deposits');
    await run(process.execPath, [start, 'keys', keys]);
    const effects = systemEffects();
    ownKey(effects, keys);
    const publicKeys = adapterKeys(keys);
    const inbox = await openInbox(effects, { name: 'acme-bank', port: 0, publicKeys });
    const args = [start, 'serve', keys, '--port', String(port), '--railhead', inbox.url];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      expect(line).toBe(`Serving on http://127.0.0.1:${port}`);
      break;
    }
    const forgedReply = await fetch(`http://127.0.0.1:${port}/bank-events`, {
      method: 'POST',
      headers: { 'bank-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` },
      body: '{}',
    });
    expect(forgedReply.status).toBe(401);
    await bank.credit({
      ...{ amount: '2500.50', currency: 'EUR', entry_reference: 'ENTRY-1' },
      ...{ remittance: 'RF18 5390', debtor_name: 'Ada Lovelace' },
    });
    await expect.poll(() => inbox.attempts.length, { timeout: 10_000 }).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await inbox.close();
    expect(inbox.attempts[0]).toMatchObject({ status: 200, errors: [] });
    expect(inbox.attempts[0]?.fields).toMatchObject({
      ...{ type: 'deposit.received', amount: 2500_50, currency: 'EUR' },
      ...{ bankReference: 'ENTRY-1', paymentReference: 'RF18 5390' },
    });
  }, 60_000);
});
