// The example adapter (examples/provider-python) executes payouts and issues cards of a production
// platform.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { readBalances } from '../kit/app/fixtures.ts';
import { programPath } from '../kit/guides/guide.ts';
import { operatorService } from '../kit/operator/production.ts';

const python = programPath('python3') ?? '';
const adapterFile = path.join(projectRoot(), 'examples/provider-python/adapter.py');
const folder = mkdtempSync(path.join(os.tmpdir(), 'adapter-'));
const BANK = 'python-bank';
const { service, read, write } = operatorService();
let adapterProcess: ChildProcess | undefined;
let origin: string;

/** Arguments of Python that run the adapter with the clock of the server under test. */
function argumentsOf(...argv: string[]): string[] {
  const seconds = (service.app.effects.now() - Date.now()) / 1_000;
  const program = [
    'import runpy, sys, time',
    'clock = time.time',
    `time.time = lambda: clock() + ${seconds}`,
    `sys.path.insert(0, ${JSON.stringify(path.dirname(adapterFile))})`,
    'sys.dont_write_bytecode = True',
    `runpy.run_path(${JSON.stringify(adapterFile)}, run_name="__main__")`,
  ];
  return ['-c', program.join('\n'), ...argv];
}

/** Runs the adapter until it exits. Asynchronous, because it calls the server in this process. */
const run = async (...argv: string[]) =>
  (await promisify(execFile)(python, argumentsOf(...argv), { timeout: 30_000 })).stdout;

/** Starts the adapter on the port, or on a free port if the port is 0. Returns its URL. */
async function serve(port = '0'): Promise<string> {
  const child = spawn(python, argumentsOf('serve', folder, '--port', port), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  adapterProcess = child;
  for await (const line of createInterface({ input: child.stdout })) {
    return line.replace('Serving on ', '');
  }
  throw new Error('the adapter exited without printing its URL');
}

async function stop(): Promise<void> {
  adapterProcess?.kill('SIGKILL');
  if (adapterProcess?.exitCode === null && adapterProcess.signalCode === null)
    await once(adapterProcess, 'exit');
}

describe.skipIf(python === '')('the Python adapter', () => {
  let address: string;

  beforeAll(async () => {
    await run('keys', folder);
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const provider = await write('POST', '/providers', {
      ...{ providerId: BANK, environment: 'production', url: `http://127.0.0.1:${port}` },
      publicKeyPem: readFileSync(path.join(folder, 'adapter.pub.pem'), 'utf8'),
      privateAddressAllowed: true,
    });
    writeFileSync(path.join(folder, 'railhead.pub.pem'), provider.ownKeys[0].publicKeyPem);
    address = await serve(String(port));
    expect(address).toBe(provider.url);
    await write('POST', '/provider-routes', {
      ...{ providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' },
    });
    origin = await service.app.server.listen({ host: '127.0.0.1', port: 0 });
  }, 60_000);
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  const send = (message: object) =>
    run(
      ...['send', folder, '--to', `${origin}/connectors/${BANK}`],
      ...['--message', JSON.stringify({ occurredAt: '2026-01-05T09:00:00Z', ...message })],
    );

  it('returns its capabilities', async () => {
    const checkedProvider = await write('POST', `/providers/${BANK}/check`);
    expect(checkedProvider).toMatchObject({ problem: null, capabilities: { protocol: '1' } });
  });

  it('executes a transfer once across restarts, and reports the result', async () => {
    const { id } = await service.createPayment();
    const readPaymentIds = () =>
      Object.keys(JSON.parse(readFileSync(path.join(folder, 'transfers.json'), 'utf8')).payments);
    expect(readPaymentIds()).toEqual([id]);
    await stop();
    const secondPayment = await service.createPayment();
    expect(readPaymentIds()).toEqual([id]);
    expect(await serve(new URL(address).port)).toBe(address);
    await service.app.advance(3_600_000);
    expect(readPaymentIds()).toEqual([id, secondPayment.id]);
    await stop();
    expect(await serve(new URL(address).port)).toBe(address);
    for (const transferId of [id, secondPayment.id]) {
      const transfer = { state: 'settled', reference: 'BANK-1' };
      const message = { id: `${transferId}-1`, type: 'transfer.updated', transferId, transfer };
      expect(await send(message)).toBe('200 {"result":"APPLIED"}\n');
      expect(await send(message)).toBe('200 {"result":"DUPLICATE"}\n');
      expect(await service.readStatus(transferId)).toBe('COMPLETED - -');
    }
  }, 60_000);

  it('reports days whose statements balance with the ledger', async () => {
    const day = new Date(service.app.effects.now()).toISOString().slice(0, 10);
    await service.app.advance(86_400_000);
    await stop();
    expect(await serve(new URL(address).port)).toBe(address);
    const body = { currency: 'EUR', day };
    await write('POST', `/providers/${BANK}/reconcile`, body);
    await service.app.settle();
    const { data } = await read('/provider-days');
    const days = data.map((record: { day: string }) => record.day).sort();
    expect(days.at(-1)).toBe(day);
    const close = (closingDay: string) =>
      write('POST', `/providers/${BANK}/close-day`, { ...body, day: closingDay });
    for (const day of days.slice(0, -1)) await close(day);
    const closedDay = await close(day);
    expect(closedDay).toMatchObject({ status: 'CLOSED', ties: true, openingBalance: 1_000_000_00 });
    expect(closedDay.closingBalance).toBeLessThan(1_000_000_00);
  }, 60_000);

  it('issues one card even if killed during the order, and requests authorizations', async () => {
    await write('POST', '/provider-routes', {
      ...{ providerId: BANK, environment: 'production', priority: 10 },
      ...{ kind: 'card', currency: 'USD', maxAmount: 15_00 },
    });
    const { app, callOptions } = service;
    const { person, account } = await service.createPayer('20.00');
    const readCards = () => JSON.parse(readFileSync(path.join(folder, 'cards.json'), 'utf8'));
    const http = app.effects.http;
    // The adapter is killed after it has received the order and before it responds.
    app.effects.http = async (request) => {
      const response = await http(request);
      if (!request.url.endsWith('/cards/issue')) return response;
      await stop();
      throw new Error('socket hang up');
    };
    const body = { cardholderId: person.id, form: 'VIRTUAL', fundingSources: [account] };
    const { body: card } = await app.call('POST', '/cards', body, callOptions);
    await app.settle();
    app.effects.http = http;
    const { number } = readCards()[card.id];
    expect(await serve(new URL(address).port)).toBe(address);
    await app.advance(3_600_000);
    const { body: activeCard } = await app.call('GET', `/cards/${card.id}`, undefined, callOptions);
    expect(activeCard).toMatchObject({ state: 'ACTIVE', last4: number.slice(-4) });
    expect(Object.keys(readCards())).toEqual([card.id]);
    await stop();
    // A restart sets the clock of the adapter to the current test time.
    expect(await serve(new URL(address).port)).toBe(address);
    const authorize = async (amount: number, to = origin) =>
      JSON.parse(
        await run(
          ...['authorize', folder, '--to', `${to}/connectors/${BANK}`],
          ...['--card', card.id, '--amount', `${amount}`],
        ),
      );
    expect(await authorize(5_00)).toMatchObject({ decision: 'APPROVED', approvedAmount: 5_00 });
    expect(await authorize(16_00)).toMatchObject({ reason: 'INSUFFICIENT_FUNDS' });
    const unusedUrl = 'http://127.0.0.1:9';
    expect(await authorize(15_01, unusedUrl)).toEqual({
      decision: 'DECLINED',
      reason: 'no response from Railhead',
    });
    expect(await authorize(15_00, unusedUrl)).toMatchObject({
      decision: 'APPROVED',
      stoodIn: true,
    });
    const report = () => run('report', folder, '--to', `${origin}/connectors/${BANK}`);
    expect(await report()).toMatch(/^200 {"result":"APPLIED","authorization":{"decision":"APP/);
    expect(await report()).toBe('\n');
    await app.settle();
    expect((await readBalances(app, account, callOptions)).balance).toBe(0);
  }, 60_000);

  it('rejects unsigned calls', async () => {
    const reply = await fetch(`${address}/transfers/send`, { method: 'POST', body: '{}' });
    expect(reply.status).toBe(401);
  });
});
