// Creates one resource of each type, for tests of access.
import { agentActions } from '../../../src/features/agents/store.ts';
import { imports } from '../../../src/features/customers/imports/store.ts';
import { agentFixture } from '../agents/agents.ts';
import { cardFixture } from '../cards/cards.ts';
import { delegatedFixture } from '../cards/delegated-cards.ts';
import { ownerHarness } from '../customers/owners.ts';
import { documentForm, pdfFile } from '../http/documents.ts';
import { mintFixture } from '../payments/mints.ts';
import { createPhoneVerifiedCustomer } from '../sca/strong-customers.ts';
import { walletFixture } from '../wallets/embedded-wallets.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from './fixtures.ts';
import type { TestApp, TestPlatform } from './harness.ts';

/** An import of customers after its upload. */
async function createImport(app: TestApp, platform: TestPlatform): Promise<string> {
  const defaults = {
    columns: [],
    problem: null,
    total: 1,
    next_byte: 0n,
    successful: 0,
    failed: 0,
  };
  const row = await app.operate(async (ctx) => {
    const id = ctx.id('BulkCustomerImportJob');
    const commonFields = {
      id,
      platform_id: platform.id,
      status: 'PENDING',
      created_at: ctx.now,
    } as const;
    return ctx.insert(imports, { ...commonFields, ...defaults });
  }, platform);
  return row.id;
}

async function createDocument(
  app: TestApp,
  documentHolder: string,
  platform: TestPlatform,
): Promise<string> {
  const form = documentForm(
    { documentHolder, documentType: 'OTHER', country: 'US' },
    { bytes: pdfFile() },
  );
  return ok(await app.call('POST', '/documents', form, { platform }), 201).id;
}

/** A pending action of an agent. */
async function createAction(
  app: TestApp,
  agent_id: string,
  customer_id: string,
  transaction_id: string,
  platform: TestPlatform,
): Promise<string> {
  const row = await app.operate(
    async (ctx) =>
      ctx.insert(agentActions, {
        id: ctx.id('AgentAction'),
        platform_id: platform.id,
        agent_id,
        customer_id,
        type: 'TRANSFER_OUT',
        status: 'PENDING_APPROVAL',
        transaction_id,
        signed: false,
        created_at: ctx.now,
        updated_at: ctx.now,
      }),
    platform,
  );
  return row.id;
}

/** A pending factor reset. */
async function createReset(app: TestApp, platform: TestPlatform): Promise<string> {
  const { id } = await createPhoneVerifiedCustomer(app, { platform });
  const body = { factor: 'SMS_OTP' };
  const path = `/sca/factors/reset?customerId=${id}`;
  return ok(await app.call('POST', path, body, { platform }), 201).resetId;
}

/** A stablecoin and a mint of it. */
async function createCoin(app: TestApp, platform: TestPlatform) {
  const fixture = mintFixture(app, { platform });
  const coin = await fixture.createCoin();
  const mintOrder = ok(
    await fixture.mint(coin.id, fixture.mintBody((await fixture.createWallet()).id)),
    201,
  );
  return {
    stablecoinId: coin.id,
    stablecoinProviderAccountId: coin.stablecoinProviderAccountId,
    stablecoinOperationId: mintOrder.id,
  };
}

/** Returns the ID of a stored event, read from the table because the list shows events later. */
async function readEventId(app: TestApp, platform: TestPlatform): Promise<string> {
  const text = 'select id from events where platform_id = $1 limit 1';
  const [event] = await app.runtime.db.query<{ id: string }>(text, [platform.id]);
  return (event as { id: string }).id;
}

/** A pending delivery of a stored event. */
async function createDelivery(
  app: TestApp,
  platform: TestPlatform,
  endpointId: string,
): Promise<string> {
  const path = `/events/${await readEventId(app, platform)}/resend`;
  const { deliveryIds } = ok(await app.call('POST', path, { endpointId }, { platform }), 202);
  return deliveryIds[0];
}

/** A replay without events. */
async function createReplay(
  app: TestApp,
  platform: TestPlatform,
  endpointId: string,
): Promise<string> {
  const body = { endpointId, from: new Date(app.effects.now()).toISOString() };
  return ok(await app.call('POST', '/webhook-replays', body, { platform }), 202).id;
}

/** Creates one resource of each type for a platform. Returns the IDs by their path parameters. */
export async function createOneOfEach(
  app: TestApp,
  platform: TestPlatform,
): Promise<Record<string, string>> {
  const options = { platform };
  const person = await createCustomer(app, options);
  const account = await findInternalAccount(app, person.id, 'USD', options);
  await fundAccount(app, account.id, 1_000_00, options);
  const externalPayee = await createExternalAccount(app, person.id, 'EUR', '000', options);
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, externalPayee.id, 100_00), options),
    201,
  );
  const unverifiedCustomer = await createCustomer(app, options, { fullName: 'Ada Lovelace 003' });
  const submission = { customerId: unverifiedCustomer.id };
  const verification = ok(await app.call('POST', '/verifications', submission, options), 200);
  const token = ok(
    await app.call('POST', '/tokens', { name: 'Reporting', permissions: ['VIEW'] }, options),
    201,
  );
  const wallets = walletFixture(app, { platform });
  const { accountId: walletId, credential } = await wallets.createWalletCustomer();
  const { session } = await wallets.openEmailSession(walletId);
  const configResponse = await app.call('GET', '/config', undefined, options);
  const endpointBody = { url: 'https://example.com/hook' };
  const endpoint = ok(await app.call('POST', '/webhook-endpoints', endpointBody, options), 201);
  const agent = await agentFixture(app, { platform }).connectAgent(person.id);
  const cards = cardFixture(app, { platform });
  const delegatedCards = delegatedFixture(app, { platform });
  return {
    requestId: configResponse.headers['x-request-id'] as string,
    cardId: (await cards.createCard(await cards.createCardholder())).id,
    delegatedKeyId: (await delegatedCards.createKey(await delegatedCards.createWalletCard())).id,
    agentId: agent.id,
    actionId: await createAction(app, agent.id, person.id, quote.transactionId, platform),
    code: agent.code,
    customerId: person.id,
    receiverUmaAddress: person.umaAddress,
    accountId: account.id,
    id: account.id,
    credentialId: credential.id,
    sessionId: session.id,
    externalAccountId: externalPayee.id,
    quoteId: quote.id,
    transactionId: quote.transactionId,
    tokenId: token.id,
    eventId: await readEventId(app, platform),
    endpointId: endpoint.id,
    replayId: await createReplay(app, platform, endpoint.id),
    deliveryId: await createDelivery(app, platform, endpoint.id),
    beneficialOwnerId: (await ownerHarness(app).create({}, {}, platform)).id,
    jobId: await createImport(app, platform),
    verificationId: verification.id,
    documentId: await createDocument(app, person.id, platform),
    resetId: await createReset(app, platform),
    ...(await createCoin(app, platform)),
  };
}
