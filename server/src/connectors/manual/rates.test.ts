// Rates from an HTTP service and from a file, including outdated and invalid rates and an
// unavailable service.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { toDecimal } from '../../kernel/money.ts';
import { fileRates, httpRates } from './rates.ts';

const NOW = Date.UTC(2026, 0, 5, 9);
const HOUR_MS = 3_600_000;

let problems: string[] = [];
const options = {
  maxAgeMs: HOUR_MS,
  reportProblem: (problem: string) => void problems.push(problem),
};
afterEach(() => {
  problems = [];
});

const tableText = (eur: string, publishedAt = NOW) =>
  JSON.stringify({ base: 'USD', at: new Date(publishedAt).toISOString(), rates: { EUR: eur } });

async function readEuroRate(port: ReturnType<typeof httpRates>): Promise<string | undefined> {
  const result = await port.rate('USD', 'EUR');
  return result && toDecimal(result.rate, 4);
}

describe('httpRates', () => {
  let server: Server;
  let url: string;
  let requestCount = 0;
  let reply: { status: number; body: string; delayMs?: number };

  beforeAll(async () => {
    server = createServer((_, response) => {
      requestCount++;
      const { status, body, delayMs = 0 } = reply;
      setTimeout(() => response.writeHead(status).end(body), delayMs);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rates?key=secret`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  afterEach(() => {
    requestCount = 0;
  });

  it('sends one request for many calls, and another after a minute', async () => {
    const effects = testEffects(NOW);
    const port = httpRates(effects, url, options);
    reply = { status: 200, body: tableText('0.9154') };
    expect(await Promise.all([readEuroRate(port), readEuroRate(port), readEuroRate(port)])).toEqual(
      Array(3).fill('0.9154'),
    );
    reply.body = tableText('0.92');
    effects.set(NOW + 59_000);
    expect(await readEuroRate(port)).toBe('0.9154');
    expect(requestCount).toBe(1);
    effects.set(NOW + 60_000);
    expect(await readEuroRate(port)).toBe('0.92');
    expect(requestCount).toBe(2);
    expect((await port.rate('USD', 'EUR'))?.at).toBe(NOW);
    expect(problems).toEqual([]);
  });

  it.each([
    [{ status: 500, body: 'down' }, 'The rate service responded with 500.'],
    [{ status: 302, body: '' }, 'The rate service responded with 302.'],
    [
      { status: 200, body: 'x' },
      'The rate service returned an invalid table: the text is not JSON.',
    ],
    [
      { status: 200, body: '{"base":"USD","rates":{"EUR":1}}' },
      'The rate service returned a table without a time.',
    ],
  ])(
    'uses its last table while the service returns %j, until the table is too old',
    async (invalidReply, expectedProblem) => {
      const effects = testEffects(NOW);
      const port = httpRates(effects, url, options);
      reply = { status: 200, body: tableText('0.9154') };
      await readEuroRate(port);
      reply = invalidReply;
      effects.set(NOW + HOUR_MS);
      expect(await readEuroRate(port)).toBe('0.9154');
      expect(await readEuroRate(port)).toBe('0.9154');
      expect(requestCount).toBe(2); // The retry interval has not passed.
      effects.set(NOW + HOUR_MS + 5_000);
      expect(await readEuroRate(port)).toBeUndefined();
      expect(requestCount).toBe(3);
      expect(problems).toEqual([expectedProblem, expectedProblem]);
    },
  );

  it('returns no rate of a table that is too old or in the future', async () => {
    const port = httpRates(testEffects(NOW), url, options);
    reply = { status: 200, body: tableText('0.9', NOW - HOUR_MS - 1) };
    expect(await readEuroRate(port)).toBeUndefined();
    const otherPort = httpRates(testEffects(NOW), url, options);
    reply = { status: 200, body: tableText('0.9', NOW + 10 * 60_000) };
    expect(await readEuroRate(otherPort)).toBeUndefined();
  });

  it('returns no rate if the service is unavailable, and logs no address', async () => {
    const port = httpRates(testEffects(NOW), 'http://127.0.0.1:1/rates?key=secret', options);
    expect(await readEuroRate(port)).toBeUndefined();
    expect(problems).toEqual(['The rate service does not respond.']);
  });
});

describe('fileRates', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rates-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads the file again when it changes, and keeps the last valid table', async () => {
    const effects = testEffects(NOW);
    const file = path.join(folder, 'rates.json');
    writeFileSync(file, tableText('0.9154'));
    const port = fileRates(effects, file, options);
    expect(await readEuroRate(port)).toBe('0.9154');
    writeFileSync(file, tableText('0.92000'));
    effects.set(NOW + 2_000);
    expect(await readEuroRate(port)).toBe('0.92');
    writeFileSync(file, '{"base":"USD","rates":{"EUR":"0","QQQ":"1"}}');
    effects.set(NOW + 4_000);
    expect(await readEuroRate(port)).toBe('0.92');
    effects.set(NOW + 6_000);
    await readEuroRate(port);
    expect(problems).toEqual([
      `The rates in ${file} cannot be used: rates.EUR: 0 is not a decimal above zero; ` +
        'rates.QQQ: QQQ is not a supported currency.',
    ]);
    effects.set(NOW + HOUR_MS + 1);
    expect(await readEuroRate(port)).toBeUndefined();
  });

  it('uses the time of the file for a table without a time', async () => {
    const effects = testEffects(NOW);
    const file = path.join(folder, 'rates.csv');
    writeFileSync(file, 'base,USD\nEUR,0.9\n');
    utimesSync(file, NOW / 1000, NOW / 1000 - 60);
    const port = fileRates(effects, file, options);
    expect((await port.rate('USD', 'EUR'))?.at).toBe(NOW - 60_000);
    effects.set(NOW + HOUR_MS - 60_000 + 1);
    expect(await readEuroRate(port)).toBeUndefined();
  });

  it('throws at the start if the file is invalid or absent', () => {
    const effects = testEffects(NOW);
    const file = path.join(folder, 'invalid.csv');
    writeFileSync(file, 'EUR,zero\n');
    expect(() => fileRates(effects, file, options)).toThrow(
      `The rates in ${file} cannot be used: ` +
        'base must be the supported currency to which all rates refer; ' +
        'line 1: zero is not a decimal above zero.',
    );
    expect(() => fileRates(effects, path.join(folder, 'none.csv'), options)).toThrow('ENOENT');
  });
});
