// Secrets appear only in the permitted places of outputs and storage. Wallets, customers under
// strong authentication and agents are used in both environments, and a card in the sandbox. Then
// logs, metrics, events, webhooks, errors, console output and the database are searched for every
// secret. Control values show that the search works.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRecovery } from '../../src/features/wallets/recovery/recovery-jobs.ts';
import { walletRequests } from '../../src/features/wallets/store.ts';
import { fundAccount, ok, quoteBody } from '../kit/app/fixtures.ts';
import type { CallOptions, TestApp, TestPlatform } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import { createDataFolder, type DataFolder as Folder, type Running } from '../kit/crash/server.ts';
import {
  type IdentityProvider,
  providerKey,
  segment,
  signToken,
  startIdentityProvider,
} from '../kit/http/identity-provider.ts';
import { type MailServer, startMailServer } from '../kit/http/mail-server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';
import { SITE, setPasskeySite } from '../kit/sca/factors.ts';
import { CODE as SCA_CODE } from '../kit/sca/strong-customers.ts';
import { runAgentScenario } from '../kit/secrets/agents.ts';
import { digitsAt, NUMBERS, runCardScenario, SIGNERS } from '../kit/secrets/cards.ts';
import { CREDENTIALS, runIssuerScenario } from '../kit/secrets/issuer.ts';
import {
  databaseText,
  type Exchange,
  errorsIn,
  outputsOf,
  type SearchedText,
  type SecretList,
  secretList,
} from '../kit/secrets/search.ts';
import { runScaScenario, type StrongAuthenticationHarness } from '../kit/secrets/second-factors.ts';
import {
  beginLifecycle,
  type CompletedWallet,
  continueLifecycle,
  recordCalls,
  refreshLate,
  type WalletHarness,
} from '../kit/secrets/wallets.ts';
import { CODE, generateKeys, signedHeaders } from '../kit/wallets/embedded-wallets.ts';
import { walletPaymentFixture } from '../kit/wallets/wallet-payments.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const [SEED_COLUMN, TARGET_COLUMN] = ['wallets.seed', 'otp_targets.target'] as const;

let mail: MailServer;
let sms: Receiver;
let webhookReceiver: Receiver;
let provider: IdentityProvider;
let key: Awaited<ReturnType<typeof providerKey>>;
let searchedTexts: SearchedText[];
let exchanges: Exchange[];
let plantedValue: string;
const secrets = secretList();

/** Secrets of the installation. */
function noteInstallation({ platform, other: otherPlatform, production }: TestApp): void {
  secrets.note('the master key', Buffer.alloc(32, 7).toString('hex'));
  secrets.note('the password of the mail server', 'p@ss:word');
  for (const { clientId, clientSecret } of [platform, otherPlatform, production]) {
    secrets.note('an API secret', clientSecret);
    secrets.note('a login', Buffer.from(`${clientId}:${clientSecret}`).toString('base64'));
  }
  for (const name of ['wallet bundles', 'wallet tokens', 'card numbers'].flatMap((subject) => [
    `sandbox ${subject}`,
    `production ${subject}`,
  ])) {
    const key = app.runtime.vault.derive(name);
    secrets.note('a key derived from the master key', Buffer.from(key).toString('hex'));
  }
}

/** Values encrypted by the custodian, with their permitted columns. */
async function noteCustody(): Promise<void> {
  const sealedRows = await app.runtime.db.query<{ at: string; text: string }>(
    `select '${SEED_COLUMN}' as at, seed as text from wallets where seed is not null
      union all select '${TARGET_COLUMN}', target from otp_targets`,
    [],
  );
  for (const { at, text } of sealedRows) secrets.note(`the encrypted value of ${at}`, text, at);
}

const sandboxToken = (now: number) => async (claims: object) => {
  const seconds = Math.floor(now / 1000);
  const validTimes = { iss: 'https://accounts.google.com', iat: seconds - 1, exp: seconds + 300 };
  const signature = randomBytes(32).toString('base64url');
  const header = segment({ alg: 'RS256', typ: 'JWT' });
  return [header, segment({ ...validTimes, ...claims }), signature].join('.');
};

async function useInProduction(harness: WalletHarness): Promise<void> {
  const config = { embeddedWalletConfig: { otpLength: 12, alphanumeric: true } };
  ok(await harness.app.call('PATCH', '/config', config, { platform: harness.platform }), 200);
  const completedWallet = await continueLifecycle(await beginLifecycle(harness));
  await noteCustody();
  const { fixture, accountId, email, session } = completedWallet;
  ok(await fixture.callSigned('DELETE', `/auth/credentials/${email.id}`, undefined, session), 204);
  await app.advance(HOUR);
  const operatorInput = { actor: 'Ada', reason: 'lost the mailbox' };
  const recoveryInput = { accountId, type: 'EMAIL_OTP', delayMs: HOUR, ...operatorInput } as const;
  await app.operate((ctx) => startRecovery(ctx, recoveryInput), harness.platform);
  await app.advance(HOUR);
  const types = (await fixture.credentialsOf(accountId)).map(({ type }) => type);
  expect(types.sort()).toEqual(['EMAIL_OTP', 'OAUTH', 'PASSKEY', 'SMS_OTP']);
}

/** Damages rows, each of which a request then reads. */
async function damage(
  { secrets: list }: WalletHarness,
  { fixture, accountId, session }: CompletedWallet,
) {
  const { db } = app.runtime;
  const noteSecret = (...permittedPlaces: string[]) =>
    list.note(
      'the content of a damaged row',
      `Secret${randomBytes(6).toString('hex')}`,
      ...permittedPlaces,
    );
  const path = `/internal-accounts/${accountId}/export`;
  const body = { clientPublicKey: generateKeys().uncompressedKey };
  const challengeReply = ok(await fixture.call('POST', path, body), 202);
  await db.query('update wallets set seed = $2 where id = $1', [
    accountId,
    `s1.${noteSecret(SEED_COLUMN)}`,
  ]);
  const headers = await signedHeaders(challengeReply, session);
  expect((await fixture.call('POST', path, body, headers)).status).toBe(500);

  const secondChallengeReply = ok(await fixture.call('POST', path, body), 202);
  const row = await db.read(walletRequests, secondChallengeReply.requestId);
  const [person] = await db.query<{ id: string; data_key: string }>(
    'select id, data_key from customers where id = $1',
    [row?.customer_id],
  );
  const key = { owner: person?.id ?? '', sealed: person?.data_key ?? '' };
  const context = `wallet_requests ${row?.id} input`;
  await db.query('update wallet_requests set input = $2 where id = $1', [
    row?.id,
    app.runtime.vault.seal(key, noteSecret(), context),
  ]);
  const secondSignedHeaders = await signedHeaders(secondChallengeReply, session);
  expect((await fixture.call('POST', path, body, secondSignedHeaders)).status).toBe(500);

  const facts = noteSecret('credentials.facts');
  await db.query("update credentials set facts = $2 where account_id = $1 and type = 'PASSKEY'", [
    accountId,
    facts,
  ]);
  expect((await fixture.call('GET', `/auth/credentials?accountId=${accountId}`)).status).toBe(500);
  await sendMalformed(list, '/auth/credentials');
}

/** Sends a body that is truncated within a secret. */
async function sendMalformed(list: SecretList, path: string): Promise<void> {
  const brokenSecret = list.note(
    'a text in a broken body',
    `Secret${randomBytes(16).toString('hex')}`,
  );
  const { clientId, clientSecret } = app.platform;
  const login = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const reply = await app.server.inject({
    method: 'POST',
    url: `/2025-10-13${path}`,
    headers: { authorization: `Basic ${login}`, 'content-type': 'application/json' },
    payload: `{"type":"OAUTH","oidcToken":"${brokenSecret}`,
  });
  expect(reply.statusCode).toBe(400);
  searchedTexts.push({ name: 'the error of a broken body', text: reply.body });
}

/** Runs all wallet operations and payments, and then damages rows of the database. */
async function useInSandbox(harness: WalletHarness): Promise<void> {
  const completedWallet = await continueLifecycle(await beginLifecycle(harness));
  harness.wait();
  await completedWallet.fixture.requestOtpBundle(completedWallet.email.id);
  await noteCustody();
  const { accountId, customerId, session } = completedWallet;
  const payer = walletPaymentFixture(harness.app);
  await fundAccount(harness.app, accountId, 100_000_000);
  const { id: to } = await payer.createSparkAccount(customerId);
  const quote = quoteBody(accountId, to, 5_000_000);
  await payer.pay(session, quote);
  const otherQuote = ok(await payer.createQuote(quote), 201);
  const headers = await signedHeaders(ok(await payer.execute(otherQuote.id), 202), session);
  const repeatedHeaders = { ...headers, 'idempotency-key': 'twice' };
  ok(await payer.execute(otherQuote.id, repeatedHeaders), 200);
  ok(await payer.execute(otherQuote.id, repeatedHeaders), 200);
  await app.settle();
  await finishWallet(completedWallet);
  await damage(harness, completedWallet);
}

/** Uses a customer under strong authentication, and another customer with an agent. */
async function useStrongAuthentication(harness: StrongAuthenticationHarness): Promise<void> {
  await runScaScenario(harness);
  await runAgentScenario(harness);
}

const readDatabaseText = () => databaseText((sql) => app.runtime.db.query(sql, []));

/**
 * Creates a session whose encrypted key is in the database until the client retries the request.
 */
async function finishWallet(completedWallet: CompletedWallet): Promise<void> {
  const setPollsSql = 'update platforms set wallet_polls = $2 where id = $1';
  await app.runtime.db.query(setPollsSql, [completedWallet.platform.id, 1]);
  await refreshLate(completedWallet, async () => {
    await app.advance(10_000);
    const waitingSql =
      "select 1 from wallet_requests where status = 'SETTLED' and reply is not null";
    expect(await app.runtime.db.query(waitingSql, [])).toHaveLength(1);
    searchedTexts.push(...(await readDatabaseText()));
  });
  await app.runtime.db.query(setPollsSql, [completedWallet.platform.id, 0]);
}

beforeAll(async () => {
  key = await providerKey('one');
  provider = await startIdentityProvider([key]);
  [mail, sms, webhookReceiver] = await Promise.all([
    startMailServer(),
    startReceiver(),
    startReceiver(),
  ]);
});
afterAll(() => Promise.all([mail.close(), sms.close(), webhookReceiver.close(), provider.close()]));
const app = testApp(() => ({
  connectors: {
    ...{ smtpUrl: mail.url, mailFrom: 'codes@pay.example.com', smsUrl: sms.url },
    oidcIssuers: [provider.issuer],
  },
  walletRecoveryMs: HOUR,
}));
beforeAll(async () => {
  searchedTexts = [];
  noteInstallation(app);
  ok(await app.call('PATCH', '/config', { webhookEndpoint: webhookReceiver.url }), 200);
  const productionRecorder = recordCalls(app, secrets);
  const readMailedCode = () =>
    /^(\w{12}) is your code/m.exec(mail.receivedMail.at(-1)?.rawText ?? '')?.[1];
  const readTextedCode = () =>
    /^(\w{12}) /.exec(JSON.parse(sms.arrivals.at(-1)?.body ?? '{}').text)?.[1];
  const wait = () => app.effects.set(app.effects.now() + MINUTE);
  await useInProduction({
    ...{ app: productionRecorder.app, platform: app.production, secrets, wait },
    async codeOf(type) {
      await app.settle();
      return secrets.note(
        'a one-time code',
        (type === 'SMS_OTP' ? readTextedCode() : readMailedCode()) ?? '',
      );
    },
    tokenOf(claims) {
      const seconds = Math.floor(app.effects.now() / 1000);
      const validTimes = { iss: provider.issuer, iat: seconds, exp: seconds + 300 };
      return signToken(key, { ...validTimes, ...claims });
    },
  });
  const recordStoredText = async () => void searchedTexts.push(...(await readDatabaseText()));
  const scaOptions = { secrets, wait, recordStoredData: recordStoredText };
  await setPasskeySite(app, app.production, SITE);
  await useStrongAuthentication({
    ...{ ...productionRecorder, ...scaOptions, platform: app.production },
    async sentCode() {
      await app.settle();
      return /^(\d{6}) /.exec(JSON.parse(sms.arrivals.at(-1)?.body ?? '{}').text)?.[1] ?? '';
    },
  });
  const sandboxRecorder = recordCalls(app, secrets);
  await useInSandbox({
    ...{ app: sandboxRecorder.app, platform: app.platform, secrets, wait },
    codeOf: async () => CODE,
    tokenOf: (claims) => sandboxToken(app.effects.now())(claims),
  });
  await useStrongAuthentication({
    ...sandboxRecorder,
    ...scaOptions,
    platform: app.platform,
    sentCode: async () => SCA_CODE,
  });
  await runCardScenario({
    app: sandboxRecorder.app,
    platform: app.platform,
    secrets,
    recordStoredData: recordStoredText,
    searchedTexts,
  });
  await runIssuerScenario({ app: sandboxRecorder.app, platform: app.platform, secrets });
  plantedValue = `Planted${randomBytes(8).toString('hex')}`;
  const customerBody = {
    customerType: 'INDIVIDUAL',
    fullName: 'Ada',
    platformCustomerId: plantedValue,
  };
  ok(await sandboxRecorder.app.call('POST', '/customers', customerBody), 201);
  ok(await sandboxRecorder.app.call('GET', `/${plantedValue}`), 404);
  await app.settle();
  exchanges = [...productionRecorder.exchanges, ...sandboxRecorder.exchanges];
  searchedTexts.push(
    ...(await outputsOf(app)),
    ...errorsIn(exchanges),
    ...webhookReceiver.arrivals.map(({ type, headers, body }) => ({
      name: `the webhook ${type}`,
      text: `${JSON.stringify(headers)} ${body}`,
    })),
  );
}, 120_000);

describe('the use of wallets, strong authentication, agents and a card', () => {
  it('leaves secrets only in the permitted places', () => {
    const { leaks, foundPlaces } = secrets.find(searchedTexts);
    expect(leaks).toEqual([]);
    expect(foundPlaces).toEqual([
      'a stamp in wallet_authorizations.stamp',
      'a telephone number in customers.',
      'a telephone number in the event CUSTOMER.',
      'a telephone number in the webhook CUSTOMER.',
      'an e-mail address in customers.',
      'an e-mail address in the event CUSTOMER.',
      'an e-mail address in the webhook CUSTOMER.',
      'the ID of a passkey in idempotency.reply',
      'the content of a damaged row in credentials.facts',
      'the content of a damaged row in wallets.seed',
      ...[NUMBERS, SIGNERS, TARGET_COLUMN, CREDENTIALS, SEED_COLUMN].map(
        (table) => `the encrypted value of ${table} in ${table}`,
      ),
    ]);
  });

  it('leaves no possible card verification code', async () => {
    expect(await digitsAt({ app }, exchanges, 3)).toEqual([]);
    const permittedPlaces = [
      'cards.last4',
      'the event CARD.STATE_CHANGE',
      'the reply to GET /cards/Card',
    ];
    expect(await digitsAt({ app }, exchanges, 4)).toEqual(expect.arrayContaining(permittedPlaces));
  });

  it('involves the expected numbers of secrets', () => {
    expect(secrets.count()).toMatchObject({
      'a one-time code': 3,
      'the words of a seed': 2,
      'a key derived from the master key': 6,
      ...{ 'the number of a card': 3, 'the link to a card': 2, 'a private key of a card': 1 },
      ...{ 'a code by SMS': 6, 'a code of an app': 4, 'a recovery code': 40 },
      ...{ secretBase32Encoded: 4, livenessAccessToken: 1, attestationObject: 4 },
      ...{ 'a device code': 6, 'an access token': 4 },
    });
    expect(secrets.size).toBeGreaterThan(150);
  });

  it('leaves control values that the search finds in every place', () => {
    const control = secretList();
    control.note('a name', plantedValue);
    control.note('an operation', 'verifyAuthCredential');
    control.note('an operation of a customer', 'completeScaLogin');
    control.note('an operation of an agent', 'redeemAgentDeviceCode');
    control.note('a platform', app.platform.id);
    control.note('a reason', 'The path was not found');
    const { leaks } = control.find(searchedTexts);
    for (const place of [
      'a platform in the log',
      'an operation in the log',
      'an operation in the metrics',
      'an operation of a customer in the log',
      'an operation of an agent in the log',
      'a name in the event CUSTOMER.KYC_APPROVED',
      'a name in the webhook CUSTOMER.KYC_APPROVED',
      'a name in customers.platform_customer_id',
      `a reason in the error of GET /${plantedValue}`,
      'a platform in wallet_requests.platform_id',
    ]) {
      expect(leaks).toContain(place);
    }
    for (const place of ['the metrics', `the error of GET /${plantedValue}`]) {
      expect(leaks).not.toContain(`a name in ${place}`);
    }
  });
});

/** A server in another process, with the interface that walletFixture uses. */
function createRemoteApp({ credentials }: Running, platform: TestPlatform): TestApp {
  const { baseUrl } = credentials;
  async function call(method: string, path: string, body?: unknown, options: CallOptions = {}) {
    const { clientId, clientSecret } = options.platform ?? platform;
    const login = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const reply = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Basic ${login}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const headers = Object.fromEntries(reply.headers);
    return { status: reply.status, body: text ? JSON.parse(text) : text, headers };
  }
  return { call, platform, settle: async () => undefined } as unknown as TestApp;
}

describe('a server process', () => {
  const list = secretList();
  const folder: Folder = createDataFolder('secrets');
  afterAll(() => folder.remove(), 60_000);

  it('prints and stores secrets only in the permitted places', async () => {
    const key = list.note('the master key', randomBytes(32).toString('hex'));
    const server = await folder.start([], { LOG_LEVEL: 'debug', RAILHEAD_MASTER_KEY: key });
    const { clientId, clientSecret } = server.credentials;
    list.note('an API secret', clientSecret, 'the printed output');
    const platform: TestPlatform = { id: '', environment: 'sandbox', clientId, clientSecret };
    const { app: remoteApp, exchanges } = recordCalls(createRemoteApp(server, platform), list);
    await continueLifecycle(
      await beginLifecycle({
        ...{ app: remoteApp, platform, secrets: list, wait: () => undefined },
        codeOf: async () => CODE,
        tokenOf: (claims) => sandboxToken(Date.now())(claims),
      }),
    );
    const client = new pg.Client({ connectionString: await folder.database() });
    await client.connect();
    const storedText = await databaseText(async (sql) => (await client.query(sql)).rows);
    await client.end();
    server.child.kill('SIGTERM');
    const { code, out, err } = await folder.waitForExit(server.child);
    expect(code).toBe(0);
    expect(out).toContain('verifyAuthCredential');
    const { leaks, foundPlaces } = list.find([
      { name: 'the log output', text: out },
      { name: 'the printed output', text: err },
      ...errorsIn(exchanges),
      ...storedText,
    ]);
    expect(leaks).toEqual([]);
    expect(foundPlaces).toContain('an API secret in the printed output');
    expect(foundPlaces).toContain('a stamp in wallet_authorizations.stamp');
  }, 120_000);
});
