// Privacy of wallets and export of recovery phrases, signed by sessions whose keys the test
// generates, and decrypted with the client libraries.
import { createHash } from 'node:crypto';
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { describe, expect, it } from 'vitest';
import { createCustomer, findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse, TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { walletCrypto } from '../../../../test/kit/wallets/client-libraries.ts';
import {
  generateKeys,
  type Keys,
  signedHeaders,
  stampWith,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { insertSession } from '../../../../test/kit/wallets/sessions.ts';
import { customerKey } from '../../../features.ts';
import { openMessageOf } from '../../notifications/messages/send.ts';
import { messages } from '../../notifications/messages/store.ts';
import { walletAuthorizations, wallets } from '../store.ts';

const app = testApp();

const HOUR_MS = 3_600_000;
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];

/** A wallet of a new customer. */
async function createWallet(platform: TestPlatform = app.platform, email?: string) {
  const person = await createCustomer(app, { platform }, email === undefined ? {} : { email });
  const url = `/customers/internal-accounts?customerId=${person.id}&type=EMBEDDED_WALLET`;
  const [account] = ok(await app.call('GET', url, undefined, { platform }), 200).data;
  return { person, id: account.id as string, account };
}

const createSession = (id: string, overrides?: { expires_at: number }) =>
  insertSession(app, id, overrides);

const patchAccount = (id: string, body: unknown, headers = {}, platform = app.platform) =>
  app.call('PATCH', `/internal-accounts/${id}`, body, { headers, platform });

const requestExport = (id: string, keys: Keys, headers = {}, platform = app.platform) =>
  app.call(
    'POST',
    `/internal-accounts/${id}/export`,
    { clientPublicKey: keys.uncompressedKey },
    { headers, platform },
  );

/** Both requests of an export. */
async function exportWallet(
  id: string,
  session: Keys,
  keys = generateKeys(),
  platform = app.platform,
) {
  const exportRequest = ok(await requestExport(id, keys, {}, platform), 202);
  return requestExport(id, keys, await signedHeaders(exportRequest, session), platform);
}

const readAccount = async (id: string) =>
  ok(await app.call('GET', `/internal-accounts/${id}`), 200);
const findAuthorizations = (id: string) =>
  app.runtime.db.find(walletAuthorizations, { account_id: id }, { orderBy: 'id' });

/** The recovery phrase in an unsigned bundle, as in the sandbox. */
function openBundle({ data }: { data: string }, { privateKey }: Keys): string {
  const bundle = JSON.parse(Buffer.from(data, 'hex').toString());
  const phrase = walletCrypto.hpkeDecrypt({
    ciphertextBuf: Buffer.from(bundle.ciphertext, 'hex'),
    encappedKeyBuf: Buffer.from(bundle.encappedPublic, 'hex'),
    receiverPriv: privateKey,
  });
  return Buffer.from(phrase).toString();
}

const isMnemonic = (text: string) => validateMnemonic(text, wordlist);

describe('updateInternalAccount', () => {
  it('makes a wallet private after one of its sessions has signed exactly this change', async () => {
    const { id } = await createWallet();
    const session = await createSession(id);
    const privacyRequest = ok(await patchAccount(id, { privateEnabled: true }), 202);
    expect(Object.keys(privacyRequest).sort()).toEqual(['expiresAt', 'payloadToSign', 'requestId']);
    const activity = JSON.parse(privacyRequest.payloadToSign);
    expect(activity.type).toBe('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2');
    expect(activity.parameters).toMatchObject({
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    const change = `{"accountId":"${id}","privateEnabled":true,"requestId":"${privacyRequest.requestId}"}`;
    expect(activity.parameters.payload).toBe(createHash('sha256').update(change).digest('hex'));
    expect((await readAccount(id)).privateEnabled).toBe(false);

    const eventCountBefore = (await app.events()).length;
    const headers = await signedHeaders(privacyRequest, session);
    const otherResponse = await patchAccount(id, { privateEnabled: false }, headers);
    expect(codeOf(otherResponse)).toEqual([401, 'WALLET_SIGNATURE_BODY_MISMATCH']);
    const accountAfter = ok(await patchAccount(id, { privateEnabled: true }, headers), 200);
    expect(accountAfter).toEqual(await readAccount(id));
    expect(accountAfter).toMatchObject({ id, type: 'EMBEDDED_WALLET', privateEnabled: true });
    expect(codeOf(await patchAccount(id, { privateEnabled: true }, headers))).toEqual([
      401,
      'UNAUTHORIZED',
    ]);
    expect(await app.events()).toHaveLength(eventCountBefore);
    expect(await findAuthorizations(id)).toMatchObject([
      { operation: 'updateInternalAccount', subject: id, public_key: session.publicKey },
    ]);

    const disableRequest = ok(await patchAccount(id, { privateEnabled: false }), 202);
    ok(
      await patchAccount(
        id,
        { privateEnabled: false },
        await signedHeaders(disableRequest, session),
      ),
      200,
    );
    expect((await readAccount(id)).privateEnabled).toBe(false);
  });

  it('accepts only a signature of an active session of this wallet', async () => {
    const [ownWallet, otherWallet] = [await createWallet(), await createWallet()];
    const foreignSession = await createSession(otherWallet.id);
    const expiredSession = await createSession(ownWallet.id, { expires_at: app.effects.now() });
    const privacyRequest = ok(await patchAccount(ownWallet.id, { privateEnabled: true }), 202);
    for (const keys of [foreignSession, expiredSession, generateKeys()]) {
      const headers = await signedHeaders(privacyRequest, keys);
      const response = await patchAccount(ownWallet.id, { privateEnabled: true }, headers);
      expect(codeOf(response)).toEqual([401, 'UNAUTHORIZED']);
    }
    // A challenge is valid for one wallet only.
    const session = await createSession(ownWallet.id);
    const headers = await signedHeaders(privacyRequest, session);
    expect(codeOf(await patchAccount(otherWallet.id, { privateEnabled: true }, headers))).toEqual([
      401,
      'UNAUTHORIZED',
    ]);
    expect((await readAccount(ownWallet.id)).privateEnabled).toBe(false);
    expect(await findAuthorizations(ownWallet.id)).toEqual([]);
  });

  it('rejects accounts that are not wallets, and bodies without a change', async () => {
    const { person, id } = await createWallet();
    const usdAccount = await findInternalAccount(app, person.id, 'USD');
    const change = { privateEnabled: true };
    expect(codeOf(await patchAccount(usdAccount.id, change))).toEqual([400, 'INVALID_INPUT']);
    expect(codeOf(await patchAccount(id, {}))).toEqual([400, 'INVALID_INPUT']);
    expect(codeOf(await patchAccount(id, { privateEnabled: 'yes' }))).toEqual([
      400,
      'INVALID_INPUT',
    ]);
    const unknownAccountId = `InternalAccount:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`;
    for (const missingId of [unknownAccountId, 'nothing']) {
      expect(codeOf(await patchAccount(missingId, change))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    }
    expect(codeOf(await patchAccount(id, change, {}, app.other))).toEqual([
      404,
      'ACCOUNT_NOT_FOUND',
    ]);
    const viewer = await app.tokenWith(['VIEW']);
    const forbiddenResponse = await app.call('PATCH', `/internal-accounts/${id}`, change, {
      platform: viewer,
    });
    expect(codeOf(forbiddenResponse)).toEqual([403, 'FORBIDDEN']);
  });
});

describe('exportInternalAccount', () => {
  it('encrypts the recovery phrase to the key in the request only', async () => {
    const { id } = await createWallet();
    const session = await createSession(id);
    const [keys, otherKeys] = [generateKeys(), generateKeys()];
    const exportRequest = ok(await requestExport(id, keys), 202);
    const activity = JSON.parse(exportRequest.payloadToSign);
    const row = await app.runtime.db.read(wallets, id);
    expect(activity).toMatchObject({
      type: 'ACTIVITY_TYPE_EXPORT_WALLET',
      organizationId: row?.organization_id,
      parameters: { targetPublicKey: keys.uncompressedKey, walletId: row?.wallet_id },
    });
    const headers = await signedHeaders(exportRequest, session);
    expect(codeOf(await requestExport(id, otherKeys, headers))).toEqual([
      401,
      'WALLET_SIGNATURE_BODY_MISMATCH',
    ]);
    const result = ok(await requestExport(id, keys, headers), 200);
    expect(Object.keys(result).sort()).toEqual(['encryptedWalletCredentials', 'id']);
    expect(result.id).toBe(id);
    const bundle = JSON.parse(result.encryptedWalletCredentials);
    expect(bundle).toMatchObject({ dataSignature: '', enclaveQuorumPublic: '' });
    const phrase = openBundle(bundle, keys);
    expect(isMnemonic(phrase)).toBe(true);
    expect(codeOf(await requestExport(id, keys, headers))).toEqual([401, 'UNAUTHORIZED']);
    // Each export returns the same phrase, encrypted to a new key.
    const secondExport = ok(await exportWallet(id, session, otherKeys), 200);
    expect(openBundle(JSON.parse(secondExport.encryptedWalletCredentials), otherKeys)).toBe(phrase);
    expect(await findAuthorizations(id)).toMatchObject([
      { operation: 'exportInternalAccount', subject: id, public_key: session.publicKey },
      { operation: 'exportInternalAccount', subject: id, public_key: session.publicKey },
    ]);
    const storedRows = await app.runtime.db.query(
      'select row_to_json(r)::text as text from wallet_requests r where account_id = $1',
      [id],
    );
    expect(storedRows).toHaveLength(2);
    const storedTexts =
      JSON.stringify(storedRows) + app.log.join('\n') + JSON.stringify(await app.events());
    expect(storedTexts).not.toContain(phrase);
    expect(storedTexts).not.toContain(bundle.data);
  });

  it('notifies the customer by e-mail', async () => {
    const { id, person } = await createWallet(app.platform, 'owner@example.com');
    ok(await exportWallet(id, await createSession(id)), 200);
    const sentMessages = await app.runtime.db.find(messages, { customer_id: person.id });
    expect(sentMessages).toMatchObject([{ kind: 'WALLET_EXPORTED', channel: 'EMAIL' }]);
    const [row] = sentMessages as [(typeof sentMessages)[0]];
    const { to, text } = await openMessageOf(app.runtime, customerKey, row);
    expect(to).toBe('owner@example.com');
    expect(text).toContain('Main');
    await app.settle();
  });

  it('succeeds at most three times an hour', async () => {
    const { id } = await createWallet();
    const firstKeys = generateKeys();
    const firstExport = ok(await requestExport(id, firstKeys), 202);
    const headers = await signedHeaders(firstExport, await createSession(id));
    for (let index = 0; index < 3; index++)
      ok(await exportWallet(id, await createSession(id)), 200);
    for (const response of [
      await requestExport(id, generateKeys()),
      await requestExport(id, firstKeys, headers),
    ]) {
      expect(codeOf(response)).toEqual([429, 'RATE_LIMITED']);
      expect(Number(response.headers['retry-after'])).toBe(HOUR_MS / 1000);
    }
    await app.advance(HOUR_MS);
    ok(await exportWallet(id, await createSession(id)), 200);
  });

  it('counts only completed exports, even if they are concurrent', async () => {
    const { id } = await createWallet();
    const session = await createSession(id);
    for (let index = 0; index < 5; index++) ok(await requestExport(id, generateKeys()), 202);
    const responses = await Promise.all(Array.from({ length: 6 }, () => exportWallet(id, session)));
    const statuses = responses.map((each) => each.status).sort();
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('rejects compressed and invalid keys, other accounts, and other platforms', async () => {
    const { id, person } = await createWallet();
    const keys = generateKeys();
    const expectRejection = async (clientPublicKey: unknown, message: string) => {
      const response = await app.call('POST', `/internal-accounts/${id}/export`, {
        clientPublicKey,
      });
      expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
      expect(response.body.details.errors).toMatchObject([{ field: 'clientPublicKey', message }]);
    };
    const formatError =
      'must be an uncompressed P-256 public key: 130 hex digits that start with 04';
    await expectRejection(keys.publicKey, formatError);
    await expectRejection(7, formatError);
    await expectRejection(`04${'1'.repeat(128)}`, 'must be a point of P-256');
    await expectRejection(undefined, 'is required');
    const usdbAccount = await findInternalAccount(app, person.id, 'USDB');
    expect(codeOf(await requestExport(usdbAccount.id, keys))).toEqual([400, 'INVALID_INPUT']);
    expect(codeOf(await requestExport(id, keys, {}, app.other))).toEqual([
      404,
      'ACCOUNT_NOT_FOUND',
    ]);
    expect(codeOf(await requestExport('InternalAccount:x', keys))).toEqual([
      404,
      'ACCOUNT_NOT_FOUND',
    ]);
  });

  it('returns the configured number of PROCESSING replies and stores no reply', async () => {
    const { id } = await createWallet();
    const session = await createSession(id);
    const sql = 'update platforms set wallet_polls = $2, version = version + 1 where id = $1';
    await app.runtime.db.query(sql, [app.platform.id, 2]);
    const keys = generateKeys();
    const exportRequest = ok(await requestExport(id, keys), 202);
    const headers = await signedHeaders(exportRequest, session);
    for (let index = 0; index < 2; index++) {
      expect(ok(await requestExport(id, keys, headers), 200).status).toBe('PROCESSING');
    }
    await app.advance(60_000);
    const result = ok(await requestExport(id, keys, headers), 200);
    expect(isMnemonic(openBundle(JSON.parse(result.encryptedWalletCredentials), keys))).toBe(true);
    await app.runtime.db.query(sql, [app.platform.id, 0]);
    const [row] = await app.runtime.db.query('select reply from wallet_requests where id = $1', [
      exportRequest.requestId,
    ]);
    expect(row?.reply).toBeNull();
  });

  it('in production returns a signed bundle and rejects an invalid signature', async () => {
    const platform = app.production;
    const { id } = await createWallet(platform);
    const keys = generateKeys();
    const row = await app.runtime.db.read(wallets, id);
    const result = ok(await exportWallet(id, await createSession(id), keys, platform), 200);
    const phrase = await walletCrypto.decryptExportBundle({
      exportBundle: result.encryptedWalletCredentials,
      embeddedKey: keys.privateKey,
      organizationId: row?.organization_id as string,
      dangerouslyOverrideSignerPublicKey: JSON.parse(result.encryptedWalletCredentials)
        .enclaveQuorumPublic,
      returnMnemonic: true,
    });
    expect(isMnemonic(phrase)).toBe(true);
    const exportRequest = ok(await requestExport(id, keys, {}, platform), 202);
    const wrongStamp = await stampWith(generateKeys().privateKey, exportRequest.payloadToSign);
    const headers = {
      'service-wallet-signature': wrongStamp,
      'request-id': exportRequest.requestId,
    };
    expect(codeOf(await requestExport(id, keys, headers, platform))).toEqual([
      401,
      'WALLET_SIGNATURE_INVALID',
    ]);
  });
});

describe('a wallet that is not active', () => {
  const setStatus = (id: string, to: string) =>
    app.runtime.db.query(
      'update internal_accounts set status = $2, version = version + 1 where id = $1',
      [id, to],
    );

  it.each([
    ['PENDING', [409, 'WALLET_NOT_PROVISIONED'], [409, 'WALLET_NOT_PROVISIONED']],
    ['FAILED', [409, 'WALLET_NOT_PROVISIONED'], [409, 'WALLET_NOT_PROVISIONED']],
    ['FROZEN', [202, undefined], [400, 'INVALID_INPUT']],
    ['CLOSED', [404, 'ACCOUNT_NOT_FOUND'], [404, 'ACCOUNT_NOT_FOUND']],
  ])('in the status %s is restricted', async (status, patchError, exportError) => {
    const { id } = await createWallet();
    await setStatus(id, status);
    expect(codeOf(await patchAccount(id, { privateEnabled: true }))).toEqual(patchError);
    expect(codeOf(await requestExport(id, generateKeys()))).toEqual(exportError);
  });

  it('is not found after its customer is deleted, and pending requests cannot be signed', async () => {
    const { id, person } = await createWallet();
    const [keys, session] = [generateKeys(), await createSession(id)];
    const headers = await signedHeaders(ok(await requestExport(id, keys), 202), session);
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    expect(codeOf(await requestExport(id, keys))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    expect(codeOf(await requestExport(id, keys, headers))).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await patchAccount(id, { privateEnabled: true }))).toEqual([
      404,
      'ACCOUNT_NOT_FOUND',
    ]);
  });
});
