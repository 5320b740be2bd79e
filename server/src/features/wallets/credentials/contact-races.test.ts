// Concurrent changes of a contact and its credentials. The second change is checked against the
// first, so that codes are never sent to a contact without a signature of the holder. The
// concurrent change runs after all reads and before the commit.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { signedHeaders, walletFixture } from '../../../../test/kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../../../../test/kit/wallets/one-time-codes.ts';
import { connectorRegistry } from '../../../connectors/registry.ts';
import type { Input } from '../../../kernel/contract/operation.ts';
import type { updateCustomerById } from '../../customers/registration/contract.ts';
import { changeCustomer } from '../../customers/registration/update.ts';
import { openWallets } from '../accounts/provision.ts';
import { startRecovery } from '../recovery/recovery-jobs.ts';
import { authorizeContactChange } from './contacts.ts';

const RECOVERY_DELAY_MS = 48 * 3_600_000;

const app = testApp({ walletRecoveryMs: RECOVERY_DELAY_MS });
const fixture = walletFixture(app);

type OpenWallets = Parameters<typeof changeCustomer>[1]['openWallets'];

/**
 * Changes a customer. On the first attempt `concurrentWork` runs between its reads and its commit.
 */
function change(customerId: string, overrides: object, concurrentWork: () => Promise<unknown>) {
  const connectors = connectorRegistry(app.effects);
  const openWithConnectors: OpenWallets = (ctx, ...rest) =>
    openWallets(ctx, { connectors }, ...rest);
  const deps = {
    connectors,
    openWallets: openWithConnectors,
    authorizeContactChange: authorizeContactChange({ connectors }),
  };
  const body = { customerType: 'INDIVIDUAL', ...overrides };
  const input: unknown = { params: { customerId }, query: {}, headers: {}, body };
  let attempts = 0;
  return app.operate(async (ctx) => {
    const result = await changeCustomer(ctx, deps, input as Input<typeof updateCustomerById>);
    if (++attempts === 1) await concurrentWork();
    return result;
  });
}

/** The change requires a signature, and the contact is unchanged. */
async function expectSignatureRequired(
  previousContact: { id: string; email?: string; phoneNumber?: string },
  overrides: object,
  concurrentWork: () => Promise<unknown>,
) {
  expect(await change(previousContact.id, overrides, concurrentWork)).toMatchObject({
    status: 202,
  });
  const customer = ok(await app.call('GET', `/customers/${previousContact.id}`), 200);
  expect([customer.email, customer.phoneNumber]).toEqual([
    previousContact.email,
    previousContact.phoneNumber,
  ]);
}

describe('a contact that changes while a credential is linked to it', () => {
  it('requires a signature after a session has added the credential', async () => {
    const wallet = await fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
    const session = await fixture.openEmailSession(wallet.accountId);
    await expectSignatureRequired(wallet.customer, { phoneNumber: newPhoneNumber() }, async () => {
      const body = { type: 'SMS_OTP', accountId: wallet.accountId };
      ok(await fixture.callSigned('POST', '/auth/credentials', body, session), 201);
    });
  });

  it('requires a signature after the first credential of a wallet', async () => {
    const person = await createCustomer(app, {}, { phoneNumber: newPhoneNumber() });
    const { id: accountId } = await fixture.walletOf(person.id);
    await expectSignatureRequired(person, { phoneNumber: newPhoneNumber() }, async () => {
      ok(await app.call('POST', '/auth/credentials', { type: 'SMS_OTP', accountId }), 201);
    });
  });

  it('requires a signature after a completed recovery', async () => {
    const wallet = await fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
    const { accountId } = wallet;
    const recoveryRequest = {
      accountId,
      type: 'SMS_OTP',
      actor: 'Ada',
      reason: 'No access to the mailbox',
      delayMs: RECOVERY_DELAY_MS,
    };
    await app.operate((ctx) =>
      startRecovery(ctx, recoveryRequest as Parameters<typeof startRecovery>[1]),
    );
    await app.settle();
    await expectSignatureRequired(wallet.customer, { phoneNumber: newPhoneNumber() }, () =>
      app.advance(RECOVERY_DELAY_MS),
    );
    const types = (await fixture.credentialsOf(accountId)).map(({ type }) => type);
    expect(types).toEqual(['EMAIL_OTP', 'SMS_OTP']);
  });
});

it('a contact is assigned to one of two customers that request it concurrently', async () => {
  const email = 'wanted@example.com';
  const body = { customerType: 'INDIVIDUAL', email };
  const signedRequests = await Promise.all(
    [1, 2].map(async () => {
      const { customer: person, accountId } = await fixture.createWalletCustomer();
      const path = `/customers/${person.id}`;
      const session = await fixture.openEmailSession(accountId);
      const headers = await signedHeaders(ok(await app.call('PATCH', path, body), 202), session);
      return () => app.call('PATCH', path, body, { headers });
    }),
  );
  const responses = await Promise.all(signedRequests.map((send) => send()));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { body: rejection } = responses.find(({ status }) => status === 409) as ApiResponse;
  expect(rejection.code).toBe('EMAIL_OTP_EMAIL_ALREADY_EXISTS');
});
