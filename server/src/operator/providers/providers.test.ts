// The `providers` commands, with a local adapter.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorService } from '../../../test/kit/operator/production.ts';
import { type Adapter, startAdapter } from '../../../test/kit/providers/adapter.ts';

const { service } = operatorService();
const folder = mkdtempSync(path.join(os.tmpdir(), 'keys-'));
const keyFile = path.join(folder, 'adapter.pub.pem');
let adapter: Adapter;

const runProviders = (...argv: string[]) => service.run('providers', ...argv);
const runProvidersJson = (...argv: string[]) => service.runJson('providers', ...argv);
const add = (...flags: string[]) =>
  runProviders(
    'add',
    'acme-bank',
    '--environment',
    'production',
    '--public-key',
    keyFile,
    ...flags,
  );

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  writeFileSync(keyFile, adapter.publicKeyPem);
});
afterAll(async () => {
  await adapter.close();
  rmSync(folder, { recursive: true });
});

describe('providers', () => {
  it('are rejected with a reason for an invalid name, file, key or address', async () => {
    const url = ['--url', adapter.url];
    expect((await add(...url)).err).toContain('url: must be an https URL, unless private');
    const invalidNameResult = await runProviders(
      ...['add', 'Acme', '--environment', 'production', '--public-key', keyFile, ...url],
    );
    expect(invalidNameResult.err).toContain('PROVIDER must be 2 to 40 lower-case letters');
    const missingFile = path.join(folder, 'none.pem');
    expect((await add(...url, '--public-key', missingFile)).err).toContain(
      'none.pem cannot be read',
    );
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const otherFile = path.join(folder, 'other.pem');
    writeFileSync(otherFile, publicKey.export({ type: 'spki', format: 'pem' }));
    const { code, err } = await add('--url', 'x', '--public-key', otherFile);
    expect(code).toBe(2);
    expect(err).toContain('url: must be an http or https URL without a query\n');
    expect(err).toContain('publicKeyPem: must be an Ed25519 key\n');
    expect((await runProviders('list')).out).toMatch(/^manual +BUILT_IN +production +ACTIVE +/m);
  });

  it('are added, checked, paused and resumed, and keys are added and rotated', async () => {
    const addedResult = await add('--url', adapter.url, '--private-address');
    expect(addedResult.out).toMatch(/Offers +not checked[\s\S]*\/connectors\/acme-bank/);
    adapter.accept((await runProvidersJson('show', 'acme-bank')).ownKeys);
    expect((await runProviders('check', 'acme-bank')).out).toMatch(
      /in EUR over SEPA, SEPA_INSTANT/,
    );
    expect((await runProvidersJson('pause', 'acme-bank')).status).toBe('PAUSED');
    await service.expectRejected(
      'The provider is already paused.',
      'providers',
      'pause',
      'acme-bank',
    );
    expect((await runProvidersJson('resume', 'acme-bank')).status).toBe('ACTIVE');
    expect(
      (await runProvidersJson('rotate', 'acme-bank', '--overlap-hours', '2')).ownKeys,
    ).toHaveLength(2);
    const key = generateKeyPairSync('ed25519').publicKey;
    const file = path.join(folder, 'new.pem');
    writeFileSync(file, key.export({ type: 'spki', format: 'pem' }));
    const { providerKeys } = await runProvidersJson('add-key', 'acme-bank', '--public-key', file);
    expect(providerKeys).toHaveLength(2);
    await service.expectRejected('Provider not found.', 'providers', 'show', 'other');
  });

  it('are selected by routes, which can be simulated and deleted', async () => {
    const addRoute = ['add-route', '--environment', 'production', '--provider'];
    expect(
      (await runProvidersJson(...addRoute, 'built-in', '--priority', '200')).providerId,
    ).toBeNull();
    const { routeId } = await runProvidersJson(
      ...[...addRoute, 'acme-bank', '--currency', 'EUR', '--min-amount', '100'],
    );
    expect((await runProviders(...addRoute, 'acme-bank', '--max-amount', '9')).err).toContain(
      'currency: is required with minAmount or maxAmount',
    );
    for (const [flag, value, limits] of [
      ['priority', '10001', '1 and 10000'],
      ['cost-basis-points', '10001', '0 and 10000'],
      ['cost-fixed', '1000000001', '0 and 1000000000'],
    ] as const) {
      const { code, err } = await runProviders(...addRoute, 'acme-bank', `--${flag}`, value);
      expect([code, err.split('\n')[0]]).toEqual([
        2,
        `--${flag} must be an integer between ${limits}`,
      ]);
    }
    const explain = (amount: string) =>
      runProviders(
        ...['explain', '--environment', 'production', '--platform', service.platform.id],
        ...['--kind', 'payout', '--currency', 'EUR', '--amount', amount],
      );
    expect((await explain('100')).out).toMatch(/^Executed by acme-bank\.[\s\S]*LOWER_PRIORITY/);
    expect((await explain('99')).out).toMatch(/^Executed by the built-in rail\./);
    expect((await runProviders('routes')).out).toMatch(/acme-bank[\s\S]*100 to any[\s\S]*built-in/);
    await runProviders('delete-route', routeId);
    expect(await runProvidersJson('routes')).toHaveLength(1);
  });

  it('have terms, a balance and health', async () => {
    const file = path.join(folder, 'terms.json');
    writeFileSync(file, JSON.stringify({ prefunding: [{ currency: 'EUR', alertBelow: 900 }] }));
    const { terms } = await runProvidersJson('set-terms', 'acme-bank', '--file', file);
    expect(terms.prefunding).toEqual([{ currency: 'EUR', alertBelow: 900 }]);
    const setBalance = ['set-balance', 'acme-bank', '--currency', 'EUR', '--amount'];
    expect((await runProviders(...setBalance, '800')).out).toMatch(
      /Balance EUR +800, low \(as of 2/,
    );
    expect((await runProviders(...setBalance, '-1')).code).toBe(2);
    expect((await runProviders(...setBalance, '1', '--as-of', 'now')).err).toContain(
      '--as-of must be',
    );
    writeFileSync(file, JSON.stringify({ limits: [{ currency: 'EUR', perDay: 0 }] }));
    const invalidResult = await runProviders('set-terms', 'acme-bank', '--file', file);
    expect(invalidResult.err).toContain('limits.0.perDay: must be greater than 0\n');
    expect((await runProviders('health')).out).toMatch(/^acme-bank +ACTIVE +5 +1 +0 % +\d+ ms/m);
    expect((await runProviders('list')).out).toMatch(
      /^acme-bank +GATEWAY +production +ACTIVE +payout/m,
    );
  });

  it('are shown with the routing decision of an executed payment', async () => {
    const { err } = await runProviders('explain', '--amount', '5');
    expect(err).toContain('--environment is required without --transaction');
    const unknownResult = await runProviders('explain', '--transaction', 'Transaction:none');
    expect(unknownResult.err).toContain('No provider was chosen for this transaction.');
    const { id } = await service.createPayment();
    const explanation = await runProviders('explain', '--transaction', id);
    expect(explanation.out).toContain(`${id} at `);
    expect(explanation.out).toMatch(/: the built-in rail\.\n\nVERDICT +ROUTE[\s\S]*SELECTED/);
  });

  it('send messages, which are listed by provider and result', async () => {
    await adapter.send('acme-bank', { type: 'transfer.updated' });
    expect((await runProviders('messages', '--result', 'REJECTED')).out).toMatch(
      /acme-bank +sha256:\w+ +- +REJECTED +- +Invalid request: transferId, transfer/,
    );
    expect(await runProvidersJson('messages', '--provider', 'other')).toEqual([]);
  });
});
