// Inserts sessions of a wallet directly into the table, with any credential, any expiry and a known
// private key, for tests of signers.
import { credentials, walletSessions, wallets } from '../../../src/features/wallets/store.ts';
import type { TestApp } from '../app/harness.ts';
import { generateKeys, type Keys } from './embedded-wallets.ts';

/** Inserts a session of the oldest credential, or of a nonexistent credential. Returns its keys. */
export async function insertSession(
  { runtime, operate }: TestApp,
  accountId: string,
  overrides: { expires_at?: number } = {},
): Promise<Keys> {
  const keys = generateKeys();
  const wallet = await runtime.db.read(wallets, accountId);
  if (!wallet) throw new Error(`${accountId} is not a wallet`);
  const { platform_id, customer_id } = wallet;
  const [credential] = await runtime.db.find(credentials, { account_id: accountId });
  await operate(async (ctx) => {
    ctx.insert(walletSessions, {
      id: ctx.id('Session'),
      platform_id,
      account_id: accountId,
      customer_id,
      credential_id: credential?.id ?? 'AuthMethod:none',
      status: 'ACTIVE',
      public_key: keys.publicKey,
      client_key: keys.publicKey,
      api_key_id: 'x',
      authenticated_at: ctx.now,
      expires_at: ctx.now + 15 * 60_000,
      created_at: ctx.now,
      updated_at: ctx.now,
      ...overrides,
    });
  });
  return keys;
}
