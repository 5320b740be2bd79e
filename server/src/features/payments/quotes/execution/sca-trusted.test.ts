// Payments to trusted accounts without a proof: the rejection of locked customers, and the record of the
// exemption. Further tests cover blockchain addresses in messages, and phone numbers that were not verified
// at creation.
import { describe, expect, it } from 'vitest';
import { ok, quoteBody } from '../../../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../../../test/kit/app/production.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../../test/kit/customers/contacts.ts';
import { scaEventsOf } from '../../../../../test/kit/sca/login.ts';
import {
  CODE,
  createQuotedPayout,
  createScaPayer,
  execute,
  logIn,
} from '../../../../../test/kit/sca/strong-customers.ts';

const app = testApp();

async function trust(accountId: string): Promise<void> {
  const path = `/customers/external-accounts/${accountId}/trust`;
  ok(await app.call('POST', path), 200);
  ok(await app.call('POST', `${path}/confirm`, { code: CODE }), 200);
}

const post = (path: string, body: object) => app.call('POST', path, body);

describe('payment to a trusted account', () => {
  it('is recorded as exempt, on execution and for realtime funding', async () => {
    const payer = await createScaPayer(app);
    const { quote, target } = await createQuotedPayout(app, payer);
    await trust(target.id);
    expect(ok(await execute(app, quote.id), 200).status).toBe('PROCESSING');
    const realtimeQuote = ok(
      await post('/quotes', {
        ...quoteBody(payer.eur.id, target.id, 10_00),
        source: { sourceType: 'REALTIME_FUNDING', currency: 'EUR', customerId: payer.person.id },
      }),
      201,
    );
    const observedScaEvents = (await scaEventsOf(app, payer.person.id)).filter(
      ({ type }) => type === 'TRUSTED' || type === 'EXEMPTED',
    );
    expect(observedScaEvents.map(({ type, subject }) => [type, subject])).toEqual([
      ['TRUSTED', target.id],
      ['EXEMPTED', quote.id],
      ['EXEMPTED', realtimeQuote.id],
    ]);
    await app.settle();
  });

  it('is rejected during a lockout of the customer', async () => {
    const payer = await createScaPayer(app);
    const { quote, target } = await createQuotedPayout(app, payer);
    await trust(target.id);
    const recordPath = `/sca/record-event?customerId=${payer.person.id}`;
    for (let index = 0; index < 5; index++) {
      ok(await post(recordPath, { eventType: 'FAILED_LOGIN_ATTEMPT' }), 200);
    }
    const rejectedResponse = await execute(app, quote.id);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([423, 'ACCOUNT_LOCKED']);
    const body = quoteBody(payer.eur.id, target.id, 10_00, { immediatelyExecute: true });
    const secondResponse = await post('/quotes', body);
    expect([secondResponse.status, secondResponse.body.details.failedAttempts]).toEqual([423, 5]);
    ok(await post(recordPath, { eventType: 'RESET_PASSWORD_COMPLETED' }), 200);
    await logIn(app, payer.person.id);
    expect(ok(await execute(app, quote.id), 200).status).toBe('PROCESSING');
    await app.settle();
  });
});

describe('message about a payment to a blockchain address', () => {
  it('shows the first and last ten characters of the address', async () => {
    const payer = await createScaPayer(app);
    const address = `0x${'52ab34cd'.repeat(5)}`;
    const accountInfo = { accountType: 'BASE_WALLET', address };
    const body = { customerId: payer.person.id, currency: 'USDC', accountInfo };
    const { id } = ok(await post('/customers/external-accounts', body), 201);
    const quote = ok(await post('/quotes', quoteBody(payer.usdc.id, id, 5_000_000)), 201);
    ok(await execute(app, quote.id), 200);
    const lastMessage = (await messagesTo(app, payer.person.id)).at(-1);
    expect(lastMessage?.text).toContain(`to ${address.slice(0, 10)}…${address.slice(-10)}.`);
  });
});

describe('platform that enables SCA later', () => {
  it('offers SMS_OTP only after the verification of an existing phone number', async () => {
    const platform = await app.newPlatform('Late');
    const runCommand = commandRunner(app);
    expect((await runCommand(['platform', 'set', platform.id, '--no-sca'])).code).toBe(0);
    const person = ok(
      await app.call(
        'POST',
        '/customers',
        {
          customerType: 'INDIVIDUAL',
          fullName: 'Ada Lovelace',
          region: 'DE',
          email: 'late@example.org',
          phoneNumber: '+491511234500',
        },
        { platform },
      ),
      201,
    );
    const factorsPath = `/sca/factors?customerId=${person.id}`;
    expect((await app.call('GET', factorsPath, undefined, { platform })).status).toBe(409);
    expect((await runCommand(['platform', 'set', platform.id, '--sca'])).code).toBe(0);
    expect(ok(await app.call('GET', factorsPath, undefined, { platform }), 200).factors).toEqual(
      [],
    );
    const path = `/customers/${person.id}/verify-phone`;
    ok(await app.call('POST', path, undefined, { platform }), 204);
    const verificationResponse = await app.call(
      'POST',
      `${path}/confirm`,
      { code: CODE },
      { platform },
    );
    expect(ok(verificationResponse, 200).contactVerification).toEqual({
      email: 'PENDING',
      phone: 'VERIFIED',
    });
    expect(ok(await app.call('GET', factorsPath, undefined, { platform }), 200).factors).toEqual([
      { factor: 'SMS_OTP' },
    ]);
  });
});
