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

const providers = (...argv: string[]) => service.run('providers', ...argv);
const json = (...argv: string[]) => service.runJson('providers', ...argv);
const add = (...flags: string[]) =>
  providers('add', 'acme-bank', '--environment', 'production', '--public-key', keyFile, ...flags);

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
    const namedResult = await providers(
      ...['add', 'Acme', '--environment', 'production', '--public-key', keyFile, ...url],
    );
    expect(namedResult.err).toContain('PROVIDER must be 2 to 40 lower-case letters');
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
    expect((await providers('list')).out).toMatch(/^manual +BUILT_IN +production +ACTIVE +/m);
  });

  it('are added, checked, paused and resumed, and keys are added and rotated', async () => {
    const addedProvider = await add('--url', adapter.url, '--private-address');
    expect(addedProvider.out).toMatch(/Offers +not checked[\s\S]*\/connectors\/acme-bank/);
    adapter.accept((await json('show', 'acme-bank')).ownKeys);
    expect((await providers('check', 'acme-bank')).out).toMatch(/in EUR over SEPA, SEPA_INSTANT/);
    expect((await json('pause', 'acme-bank')).status).toBe('PAUSED');
    await service.expectRejected(
      'The provider is already paused.',
      'providers',
      'pause',
      'acme-bank',
    );
    expect((await json('resume', 'acme-bank')).status).toBe('ACTIVE');
    expect((await json('rotate', 'acme-bank', '--overlap-hours', '2')).ownKeys).toHaveLength(2);
    const key = generateKeyPairSync('ed25519').publicKey;
    const file = path.join(folder, 'new.pem');
    writeFileSync(file, key.export({ type: 'spki', format: 'pem' }));
    const { providerKeys } = await json('add-key', 'acme-bank', '--public-key', file);
    expect(providerKeys).toHaveLength(2);
    await service.expectRejected('Provider not found.', 'providers', 'show', 'other');
  });

  it('are selected by routes, which can be simulated and deleted', async () => {
    const route = ['add-route', '--environment', 'production', '--provider'];
    expect((await json(...route, 'built-in', '--priority', '200')).providerId).toBeNull();
    const { routeId } = await json(
      ...[...route, 'acme-bank', '--currency', 'EUR', '--min-amount', '100'],
    );
    expect((await providers(...route, 'acme-bank', '--max-amount', '9')).err).toContain(
      'currency: is required with minAmount or maxAmount',
    );
    const explain = (amount: string) =>
      providers(
        ...['explain', '--environment', 'production', '--platform', service.platform.id],
        ...['--kind', 'payout', '--currency', 'EUR', '--amount', amount],
      );
    expect((await explain('100')).out).toMatch(/^Executed by acme-bank\.[\s\S]*LOWER_PRIORITY/);
    expect((await explain('99')).out).toMatch(/^Executed by the built-in rail\./);
    expect((await providers('routes')).out).toMatch(/acme-bank[\s\S]*100 to any[\s\S]*built-in/);
    await providers('delete-route', routeId);
    expect(await json('routes')).toHaveLength(1);
  });

  it('have terms, a balance and health', async () => {
    const file = path.join(folder, 'terms.json');
    writeFileSync(file, JSON.stringify({ prefunding: [{ currency: 'EUR', alertBelow: 900 }] }));
    const { terms } = await json('set-terms', 'acme-bank', '--file', file);
    expect(terms.prefunding).toEqual([{ currency: 'EUR', alertBelow: 900 }]);
    const balance = ['set-balance', 'acme-bank', '--currency', 'EUR', '--amount'];
    expect((await providers(...balance, '800')).out).toMatch(/Balance EUR +800, low \(as of 2/);
    expect((await providers(...balance, '-1')).code).toBe(2);
    expect((await providers(...balance, '1', '--as-of', 'now')).err).toContain('--as-of must be');
    writeFileSync(file, JSON.stringify({ limits: [{ currency: 'EUR', perDay: 0 }] }));
    const invalidResult = await providers('set-terms', 'acme-bank', '--file', file);
    expect(invalidResult.err).toContain('limits.0.perDay: must be > 0\n');
    expect((await providers('health')).out).toMatch(/^acme-bank +ACTIVE +5 +1 +0 % +\d+ ms/m);
    expect((await providers('list')).out).toMatch(
      /^acme-bank +GATEWAY +production +ACTIVE +payout/m,
    );
  });

  it('are explained for a payment without further flags', async () => {
    const { err } = await providers('explain', '--amount', '5');
    expect(err).toContain('--environment is required without --transaction');
    const unknownResult = await providers('explain', '--transaction', 'Transaction:none');
    expect(unknownResult.err).toContain('No provider was chosen for this transaction.');
    const { id } = await service.createPayment();
    const explanation = await providers('explain', '--transaction', id);
    expect(explanation.out).toContain(`${id} at `);
    expect(explanation.out).toMatch(/: the built-in rail\.\n\nVERDICT +ROUTE[\s\S]*SELECTED/);
  });

  it('send messages, which are listed by provider and result', async () => {
    await adapter.send('acme-bank', { type: 'transfer.updated' });
    expect((await providers('messages', '--result', 'REJECTED')).out).toMatch(
      /acme-bank +sha256:\w+ +- +REJECTED +- +Invalid request: transferId, transfer/,
    );
    expect(await json('messages', '--provider', 'other')).toEqual([]);
  });
});
