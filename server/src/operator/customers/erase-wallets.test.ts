// A customer's embedded wallet in an export, and after an erasure.
import { expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { exportOf } from '../../../test/kit/customers/export.ts';
import { signedHeaders } from '../../../test/kit/wallets/embedded-wallets.ts';
import { insertSession } from '../../../test/kit/wallets/sessions.ts';
import { addCredential } from '../../features/wallets/accounts/credentials.ts';
import { findWallet, type Wallet } from '../../features/wallets/accounts/wallet.ts';
import {
  credentials,
  otpTargets,
  walletAuthorizations,
  walletRequests,
  walletSessions,
  wallets,
} from '../../features/wallets/store.ts';
import type { System } from '../cli/verb.ts';

const app = testApp();

/** A customer with a wallet, a passkey, a session, a signed change, a pending change, and a code. */
async function createWalletOwner() {
  const person = await createCustomer(app, {}, { email: 'vesna@quorbat.example' });
  const path = `/customers/internal-accounts?customerId=${person.id}&type=EMBEDDED_WALLET`;
  const [{ id }] = ok(await app.call('GET', path), 200).data;
  await app.operate(async (ctx) => {
    const wallet = (await findWallet(ctx, id)) as Wallet;
    const facts = { credentialId: 'cGFzc2tleQ' };
    addCredential(ctx, wallet, {
      type: 'PASSKEY',
      uniquenessKey: 'PASSKEY cGFzc2tleQ',
      nickname: "Vesna's phone",
      facts,
    });
  });
  const [emailCredential] = await app.runtime.db.find(credentials, {
    account_id: id,
    type: 'EMAIL_OTP',
  });
  ok(await app.call('POST', `/auth/credentials/${emailCredential?.id}/challenge`, {}), 200);
  const keys = await insertSession(app, id);
  const change = { privateEnabled: true };
  const requestedReply = ok(await app.call('PATCH', `/internal-accounts/${id}`, change), 202);
  const headers = await signedHeaders(requestedReply, keys);
  ok(await app.call('PATCH', `/internal-accounts/${id}`, change, { headers }), 200);
  ok(await app.call('PATCH', `/internal-accounts/${id}`, { privateEnabled: false }), 202);
  return { person, id: id as string, requestedReply };
}

/** The stored one-time codes of a customer. */
const codesOf = (customerId: string) =>
  app.runtime.db.query(
    `select c.id from codes c join credentials k on c.id = 'otp ' || k.id where k.customer_id = $1`,
    [customerId],
  );

it('a wallet is exported decrypted, without signing keys', async () => {
  const { person, id, requestedReply } = await createWalletOwner();
  const row = await app.runtime.db.read(wallets, id);
  const { text, all } = await exportOf(app, person.id);
  expect(all.wallets).toMatchObject([{ id, wallet_id: row?.wallet_id }]);
  expect(all.credentials).toMatchObject([
    { type: 'EMAIL_OTP', nickname: null, facts: null },
    { type: 'PASSKEY', nickname: "Vesna's phone", facts: { credentialId: 'cGFzc2tleQ' } },
  ]);
  expect(all.wallet_authorizations).toMatchObject([
    { operation: 'updateInternalAccount', payload: requestedReply.payloadToSign },
  ]);
  expect(all.wallet_sessions).toHaveLength(1);
  expect(all.wallet_requests).toHaveLength(2);
  expect(all.otp_targets).toHaveLength(1);
  expect(text).not.toContain(row?.seed);
  for (const hiddenText of [
    '"seed"',
    '"uniqueness_key"',
    '"target"',
    '"input"',
    '"bound"',
    '"reply"',
  ]) {
    expect(text).not.toContain(hiddenText);
  }
});

it('an erasure of the owner removes the seed, sessions and codes of a wallet', async () => {
  const { person, id } = await createWalletOwner();
  const otherOwner = await createWalletOwner();
  ok(await app.call('DELETE', `/customers/${person.id}`), 200);
  const decision = { actor: 'test', reason: null };
  const system = { runtime: app.runtime } as unknown as System;
  const { counts } = await erase(system.runtime, person.id, decision);
  expect(counts).toMatchObject({
    wallets: 1,
    credentials: 2,
    wallet_sessions: 1,
    wallet_requests: 2,
    otp_targets: 1,
  });
  const { db } = app.runtime;
  expect(await db.read(wallets, id)).toMatchObject({ seed: null });
  const condition = { customer_id: person.id };
  const credentialRows = await db.find(credentials, condition);
  expect(credentialRows).toHaveLength(2);
  for (const row of credentialRows) {
    expect(row).toMatchObject({
      status: 'REVOKED',
      uniqueness_key: null,
      nickname: null,
      facts: null,
    });
  }
  for (const table of [walletSessions, walletRequests, otpTargets]) {
    expect(await db.find(table, condition)).toEqual([]);
  }
  // No part of a sent code remains, including the keyed hash with the address.
  const [erasedCodes, otherCodes] = await Promise.all([
    codesOf(person.id),
    codesOf(otherOwner.person.id),
  ]);
  expect([erasedCodes, otherCodes]).toEqual([[], [expect.anything()]]);
  // Signatures remain, but their payloads cannot be read.
  expect(await db.find(walletAuthorizations, condition)).toHaveLength(1);
  const { all } = await exportOf(app, person.id);
  expect(all.wallet_authorizations).toMatchObject([{ payload: null }]);
  expect(all.credentials).toMatchObject([{ nickname: null }, { nickname: null }]);
  expect((await db.read(wallets, otherOwner.id))?.seed).toEqual(expect.any(String));
  expect(await db.find(walletSessions, { customer_id: otherOwner.person.id })).toHaveLength(1);
});
