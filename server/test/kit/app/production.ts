// A new production platform, with commands and requests on one installation and one clock. Rates
// and collection accounts are read from files. The platform's webhooks are recorded and not sent,
// because production sends to public addresses only. Customers are approved by the operator's
// command.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { folderStorage } from '../../../src/connectors/folder/storage.ts';
import { retentionDepsOf } from '../../../src/features/retention/index.ts';
import type { HttpRequest } from '../../../src/kernel/effects.ts';
import { main } from '../../../src/operator.ts';
import { streamRows } from '../../../src/runtime/db/stream.ts';
import { createCustomer, findInternalAccount, ok, quoteBody } from './fixtures.ts';
import { type AppOptions, startApp, type TestApp, type TestPlatform } from './harness.ts';

export const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 5, 9);

interface CommandResult {
  code: number;
  out: string;
  err: string;
}

const COLLECTION_ACCOUNTS = {
  USD: [
    {
      accountOrWalletInfo: {
        accountType: 'USD_ACCOUNT',
        accountNumber: '123456789',
        routingNumber: '021000021',
        bankName: 'First Bank',
        accountHolderName: 'Example Payments',
        paymentRails: ['ACH', 'WIRE', 'RTP'],
      },
    },
  ],
};

const ratesFileOf = (folder: string) => path.join(folder, 'rates.csv');

/** Rates as of `time`, valid for 30 days. */
function writeRates(folder: string, time: number): void {
  const text = `base,USD\nat,${new Date(time).toISOString()}\nEUR,0.9154\nBRL,5\n`;
  writeFileSync(ratesFileOf(folder), text);
}

/** A server that reads production rates and collection accounts from files in `folder`. */
function startWithFiles(folder: string, options: AppOptions): Promise<TestApp> {
  const ratesFile = ratesFileOf(folder);
  writeRates(folder, START);
  const fundingFile = path.join(folder, 'funding.json');
  writeFileSync(fundingFile, JSON.stringify(COLLECTION_ACCOUNTS));
  const connectors = { ratesFile, fundingFile, ratesMaxAgeMs: 30 * DAY };
  return startApp({ start: START, connectors, ...options });
}

/** Returns a function that runs the operator's command on the installation of the app. */
export const commandRunner =
  (app: TestApp) =>
  async (
    argv: readonly string[],
    settings: Record<string, string> = {},
  ): Promise<CommandResult> => {
    const result = { code: 0, out: '', err: '' };
    const { runtime, files, databaseUrl: url, connectorsOf, fundingOf } = app;
    const { providers, builtIn } = app;
    result.code = await main(argv, {
      env: { DATABASE_URL: url, ...settings },
      out: (text) => {
        result.out += text;
      },
      err: (text) => {
        result.err += text;
      },
      open: ({ walletRecoveryMs }, work) =>
        work({
          runtime,
          files,
          connectorsOf,
          fundingOf,
          providers,
          builtIn,
          walletRecoveryMs,
          retention: retentionDepsOf({ databaseUrl: url }, runtime, folderStorage(app.filesFolder)),
          stream: (text, values) => streamRows({ url, statementTimeoutMs: 60_000 }, text, values),
        }),
    });
    return result;
  };

/** Records the webhooks of the platform instead of sending them. */
function recordWebhooks(app: TestApp): HttpRequest[] {
  const requests: HttpRequest[] = [];
  const http = app.effects.http;
  app.effects.http = async (request) => {
    if (!request.url.startsWith('https://hooks.example.com/')) return http(request);
    requests.push(request);
    return { status: 200, headers: {}, body: '' };
  };
  return requests;
}

export async function startProduction(options: AppOptions = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'production-'));
  const app = await startWithFiles(folder, options);
  const webhooks = recordWebhooks(app);
  const command = commandRunner(app);
  const run = (...argv: string[]) => command(argv);

  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  async function runJson(...argv: string[]): Promise<any> {
    const { code, out, err } = await run(...argv, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out);
  }

  const createdPlatform = await runJson(
    ...['platform', 'create', '--name', 'Shop', '--environment', 'production'],
    ...['--currencies', 'USD,EUR'],
  );
  const platform: TestPlatform = {
    id: createdPlatform.platformId,
    environment: 'production',
    ...createdPlatform,
  };
  const callOptions = { platform };
  const config = { webhookEndpoint: 'https://hooks.example.com/shop' };
  ok(await app.call('PATCH', '/config', config, callOptions), 200);

  /** An approved customer, with a recorded deposit of `usd` unless it is undefined. */
  async function createPayer(usd?: string) {
    const person = await createCustomer(app, callOptions);
    await runJson('verifications', 'approve', person.id);
    const account = await findInternalAccount(app, person.id, 'USD', callOptions);
    const { reference } = account.fundingPaymentInstructions[0].accountOrWalletInfo;
    if (usd !== undefined) {
      await runJson(
        ...['deposits', 'record', '--payment-reference', reference, '--amount', usd],
        ...['--currency', 'USD', '--reference', `BANK-${person.id.slice(-12)}`],
      );
    }
    return { person, account: account.id as string };
  }

  async function createPayee(customerId: string): Promise<string> {
    const beneficiary = {
      ...{ beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper', countryOfResidence: 'DE' },
    };
    const iban = 'DE89370400440532013000';
    const accountInfo = { accountType: 'EUR_ACCOUNT', iban, beneficiary };
    const body = { currency: 'EUR', accountInfo, customerId };
    return ok(await app.call('POST', '/customers/external-accounts', body, callOptions), 201).id;
  }

  return {
    app,
    platform,
    callOptions,
    sent: webhooks,
    run,
    runJson,
    createPayer,
    createPayee,
    /** Writes the same rates with the current time. */
    renewRates: () => writeRates(folder, app.effects.now()),
    /** A payment in progress, with its entry in the queue. */
    async createPayment(usd = '1000.00', amount = 100_00) {
      const payer = await createPayer(usd);
      const body = quoteBody(payer.account, await createPayee(payer.person.id), amount);
      const quote = ok(await app.call('POST', '/quotes', body, callOptions), 201);
      const headers = { 'idempotency-key': quote.id };
      const url = `/quotes/${quote.id}/execute`;
      ok(await app.call('POST', url, undefined, { ...callOptions, headers }), 200);
      await app.settle();
      return { ...payer, id: quote.transactionId as string, quote };
    },
    /** Status, refund and reason of a payment in one line. */
    async readStatus(id: string): Promise<string> {
      const { body } = await app.call('GET', `/transactions/${id}`, undefined, callOptions);
      return `${body.status} ${body.refund?.status ?? '-'} ${body.failureReason ?? '-'}`;
    },
    /** Entries of the queue for a transaction. */
    async readQueue(id: string) {
      const allEntries: { transactionId: string }[] = await runJson(
        'payouts',
        'list',
        '--platform',
        platform.id,
      );
      // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
      return allEntries.filter((entry) => entry.transactionId === id) as any[];
    },
    /** Expects the command to exit with 1 and this message, without output. */
    async expectRejected(expectedMessage: string, ...argv: string[]) {
      const { code, out, err } = await run(...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(expectedMessage);
    },
    async close() {
      expect((await run('ledger', 'verify')).code).toBe(0);
      await app.close();
      rmSync(folder, { recursive: true });
    },
  };
}
