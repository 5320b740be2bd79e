// The first start, alone and concurrent, and the keys it generates.
import { createPublicKey, sign, verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../test/kit/app/database.ts';
import { silentLog } from '../test/kit/http/outbox.ts';
import { createPlatformWithToken, FIRST_CURRENCIES, firstStart } from './bootstrap.ts';
import { readConfig } from './config.ts';
import { internalAccounts } from './features/balances/internal-accounts/store.ts';
import { platforms } from './features/tenancy/platform/store.ts';
import { authenticator } from './features/tenancy/tokens/index.ts';
import { tokens } from './features/tenancy/tokens/store.ts';
import { withSystem } from './operator/cli/system.ts';
import type { System } from './operator/cli/verb.ts';
import type { Runtime } from './runtime/operation/operate.ts';
import { openKeyRing } from './runtime/security/key-ring.ts';
import { checkSigningKeys, ensureSigningKeys, publicKeys } from './runtime/security/keys.ts';
import { createVault } from './runtime/security/vault.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

function onSystem<T>(work: (system: System) => Promise<T>): Promise<T> {
  const result = readConfig({ DATABASE_URL: database.url }, []);
  if (!('config' in result)) throw new Error(`The settings are invalid: ${JSON.stringify(result)}`);
  return withSystem(result.config, work);
}

const start = (credentials?: { clientId: string; clientSecret: string }) =>
  onSystem(({ runtime, fundingOf }) => firstStart(runtime, fundingOf, credentials));

describe('firstStart', () => {
  it('creates a regulated sandbox platform and a token with all permissions', () =>
    onSystem(async ({ runtime, fundingOf }) => {
      const firstPlatform = await firstStart(runtime, fundingOf);
      expect(firstPlatform.isCreated).toBe(true);
      const [platform] = await runtime.db.find(platforms, { id: firstPlatform.platformId });
      expect(platform).toMatchObject({
        environment: 'sandbox',
        regulated: true,
        documents_optional: false,
        sca: true,
        terms_required: false,
        wallet_polls: 0,
        invitations: true,
      });
      const codes = platform?.currencies.map((each) => each.currencyCode);
      expect(codes).toEqual([...FIRST_CURRENCIES]);
      const accounts = await runtime.db.find(internalAccounts, {
        platform_id: firstPlatform.platformId,
      });
      expect(accounts.map((each) => each.currency).sort()).toEqual([...FIRST_CURRENCIES].sort());
      const basicCredentials = Buffer.from(
        `${firstPlatform.clientId}:${firstPlatform.clientSecret}`,
      ).toString('base64');
      const caller = await authenticator(runtime.db, () => 0).authenticate(
        `Basic ${basicCredentials}`,
      );
      expect(caller.permissions).toEqual(['VIEW', 'TRANSACT', 'MANAGE']);
    }));

  it('creates one platform and returns its secret only once', async () => {
    const firstResult = await start();
    const { platformId, clientId } = firstResult;
    expect(await start()).toEqual({ isCreated: false, platformId, clientId });
  });

  it('accepts fixed credentials, and returns them only to a start with the same secret', async () => {
    const fixedCredentials = { clientId: 'ci', clientSecret: 'a fixed secret' };
    const firstResult = await start(fixedCredentials);
    expect(firstResult).toMatchObject({ isCreated: true, ...fixedCredentials });
    expect(await start(fixedCredentials)).toMatchObject({ isCreated: false, ...fixedCredentials });
    const otherSecretResult = await start({ clientId: 'ci', clientSecret: 'another' });
    expect(otherSecretResult).toEqual({
      isCreated: false,
      platformId: firstResult.platformId,
      clientId: 'ci',
    });
  });

  it('creates no platform if an operator already created one', async () => {
    const createdPlatform = await onSystem(({ runtime, fundingOf }) =>
      createPlatformWithToken(runtime, {
        name: 'Mine',
        environment: 'production',
        regulated: false,
        documentsOptional: false,
        currencies: ['USD'],
        fundingOf,
      }),
    );
    const { platformId, clientId } = createdPlatform;
    expect(await start()).toEqual({ isCreated: false, platformId, clientId });
  });

  it('creates one platform for servers that start concurrently', async () => {
    const starts = await Promise.all([start(), start(), start(), start()]);
    expect(starts.filter((each) => each.isCreated)).toHaveLength(1);
    expect(new Set(starts.map((each) => each.platformId)).size).toBe(1);
    expect(new Set(starts.map((each) => each.clientId)).size).toBe(1);
    await onSystem(async ({ runtime }) => {
      expect(await runtime.db.query('select id from platforms')).toHaveLength(1);
      expect(await runtime.db.query('select id from internal_accounts')).toHaveLength(12);
      expect(await runtime.db.find(tokens, {})).toHaveLength(1);
    });
  });
});

describe('signing keys', () => {
  async function load(runtime: Runtime) {
    await checkSigningKeys(runtime);
    return (await openKeyRing({ ...runtime, log: silentLog })).keys;
  }

  it('are generated once for each environment, and verify their signatures', () =>
    onSystem(async ({ runtime }) => {
      const keys = await load(runtime);
      const reloadedKeys = await load(runtime);
      for (const environment of ['sandbox', 'production'] as const) {
        const { privateKey, publicKeyPem, standard } = keys[environment];
        expect(reloadedKeys[environment].publicKeyPem).toBe(publicKeyPem);
        const body = Buffer.from('{"type":"TEST"}');
        const signature = sign('sha256', body, privateKey);
        expect(verify('sha256', body, createPublicKey(publicKeyPem), signature)).toBe(true);
        const standardSignature = sign(null, body, standard.privateKey);
        expect(verify(null, body, createPublicKey(standard.publicKeyPem), standardSignature)).toBe(
          true,
        );
      }
      expect(keys.sandbox.publicKeyPem).not.toBe(keys.production.publicKeyPem);
      expect(await publicKeys(runtime)).toHaveLength(4);
    }));

  it('are the same for servers that start concurrently', async () => {
    const start = () => onSystem(({ runtime }) => load(runtime));
    const allKeys = await Promise.all([start(), start(), start()]);
    expect(new Set(allKeys.map((each) => each.sandbox.publicKeyPem)).size).toBe(1);
    expect(new Set(allKeys.map((each) => each.production.standard.publicKeyPem)).size).toBe(1);
  });

  it('cannot be opened with another master key, and are not replaced', () =>
    onSystem(async ({ runtime }) => {
      await ensureSigningKeys(runtime);
      const keysBefore = await publicKeys(runtime);
      const vault = createVault(runtime.effects, () => Buffer.alloc(32, 4));
      await expect(checkSigningKeys({ ...runtime, vault })).rejects.toThrow(/another master key/);
      expect(await publicKeys(runtime)).toEqual(keysBefore);
    }));

  it('are stored sealed', () =>
    onSystem(async ({ runtime }) => {
      await ensureSigningKeys(runtime);
      const rows = await runtime.db.query<{ private_key: string }>(
        'select private_key from signing_keys',
      );
      for (const row of rows) expect(row.private_key).toMatch(/^s1\.[\w-]+\.[\w-]+$/);
    }));
});
