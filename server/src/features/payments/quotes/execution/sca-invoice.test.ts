// A payment that awaits authorization reserves neither funds nor an invoice.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import {
  authorize,
  CODE,
  createScaPayer,
  execute,
} from '../../../../../test/kit/sca/strong-customers.ts';
import { bolt11 } from '../../../../connectors/sandbox/payments/bolt11.ts';

const app = testApp();

const MINUTE_MS = 60_000;

describe('invoice of a payment that awaits authorization', () => {
  let invoiceCount = 0;
  const createInvoice = () =>
    bolt11({
      prefix: 'lnbcrt',
      amountMsat: 50_000_000n,
      expirySeconds: 7_200,
      timestamp: Math.floor(app.effects.now() / 1_000),
      paymentHash: new Uint8Array(32).fill(++invoiceCount),
      paymentSecret: new Uint8Array(32).fill(1),
      description: 'tea',
      privateKey: new Uint8Array(32).fill(7),
    });

  async function createQuoteTo(
    invoice: string,
    from: string,
    customerId: string,
    options?: CallOptions,
  ) {
    const accountInfo = { accountType: 'LIGHTNING', invoice: invoice };
    const body = { currency: 'BTC', customerId, accountInfo };
    const to = ok(await app.call('POST', '/customers/external-accounts', body, options), 201);
    const request = quoteBody(from, to.id, 50_000, { lockedCurrencySide: 'RECEIVING' });
    return ok(await app.call('POST', '/quotes', request, options), 201);
  }

  async function createTwoPayments() {
    const payer = await createScaPayer(app);
    const otherCustomer = await createCustomer(app, {}, { currencies: ['BTC'] });
    const btcAccount = await findInternalAccount(app, otherCustomer.id, 'BTC');
    await fundAccount(app, btcAccount.id, 1_000_000);
    const invoice = createInvoice();
    const [firstQuote, secondQuote] = [
      await createQuoteTo(invoice, payer.eur.id, payer.person.id),
      await createQuoteTo(invoice, btcAccount.id, otherCustomer.id),
    ];
    expect(ok(await execute(app, firstQuote.id), 200).status).toBe('PENDING_AUTHORIZATION');
    return { firstQuote, secondQuote, eur: payer.eur.id };
  }

  it('can be paid by another customer before the authorization', async () => {
    const { firstQuote, secondQuote, eur } = await createTwoPayments();
    expect(ok(await execute(app, secondQuote.id), 200).status).toBe('PROCESSING');
    const rejectedResponse = await authorize(app, firstQuote.id);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([
      400,
      'INVALID_RECEIVER',
    ]);
    expect((await readBalances(app, eur)).balance).toBe(1_000_00);
    await app.advance(5 * MINUTE_MS);
    const { body } = await app.call('GET', `/transactions/${firstQuote.transactionId}`);
    expect(body).toMatchObject({ status: 'FAILED', failureReason: 'SCA_NOT_COMPLETED' });
  });

  it('is paid once by two concurrent payments', async () => {
    const { firstQuote, secondQuote } = await createTwoPayments();
    const responses = await Promise.all([
      authorize(app, firstQuote.id, { code: CODE }),
      execute(app, secondQuote.id),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});
