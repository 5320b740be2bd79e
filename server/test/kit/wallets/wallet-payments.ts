// Fixture for payments from an embedded wallet: a customer with a balance and a session, quotes,
// and their execution with signature headers.
import { expect } from 'vitest';
import { fundAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp, TestPlatform } from '../app/harness.ts';
import { type ClientSession, stampWith, walletFixture } from './embedded-wallets.ts';

export const payloadOf = (quote: ApiResponse['body']): string =>
  quote.paymentInstructions[0].accountOrWalletInfo.payloadToSign;

/** The header of a signature, with additional headers. */
export const stampHeaders = (stamp: string, overrides: Record<string, string> = {}) => ({
  'service-wallet-signature': stamp,
  ...overrides,
});

interface RecordedStamp extends Record<string, unknown> {
  operation: string;
  subject: string;
  session_id: string | null;
  public_key: string;
  stamp: string;
}

export function walletPaymentFixture(app: TestApp, platform?: TestPlatform) {
  const fixture = walletFixture(app, { platform });

  const createQuote = (body: object) => app.call('POST', '/quotes', body, { platform });

  const execute = (id: string, headers: Record<string, string> = {}, body?: object) =>
    app.call('POST', `/quotes/${id}/execute`, body, { platform, headers });

  return {
    fixture,
    createQuote,
    execute,

    /** A wallet with 100 USDB and a session of it. */
    async createFundedWallet() {
      const wallet = await fixture.createWalletCustomer();
      await fundAccount(app, wallet.accountId, 100_000_000);
      return { ...wallet, session: await fixture.openEmailSession(wallet.accountId) };
    },

    /** A Spark wallet that receives USDB. */
    async createSparkAccount(customerId: string): Promise<ApiResponse['body']> {
      const beneficiary = {
        ...{ beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper', countryOfResidence: 'US' },
      };
      const address = `sparkrt1${'q'.repeat(40)}`;
      const accountInfo = { accountType: 'SPARK_WALLET', address, beneficiary };
      const body = { customerId, currency: 'USDB', accountInfo };
      return ok(await app.call('POST', '/customers/external-accounts', body, { platform }), 201);
    },

    /** Creates, signs and executes a quote. */
    async pay({ privateKey }: Pick<ClientSession, 'privateKey'>, body: object) {
      const quote = ok(await createQuote(body), 201);
      const stamp = await stampWith(privateKey, payloadOf(quote));
      expect(ok(await execute(quote.id, stampHeaders(stamp)), 200).id).toBe(quote.id);
      return quote;
    },

    /** Authorizations of the quotes of a wallet. */
    readStamps: (accountId: string) =>
      app.runtime.db.query<RecordedStamp>(
        `select operation, subject, session_id, public_key, stamp from wallet_authorizations
          where account_id = $1 and operation = 'executeQuote' order by id`,
        [accountId],
      ),
  };
}
