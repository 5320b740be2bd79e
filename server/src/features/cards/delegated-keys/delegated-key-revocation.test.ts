// Revocation of delegated keys by a request, and with their funding source, card or holder, even
// while a key is being created. Only one of several keys of a funding source is active. In
// production only real signatures are accepted.
import { describe, expect, it } from 'vitest';
import { findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse, TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { delegatedFixture, type WalletCard } from '../../../../test/kit/cards/delegated-cards.ts';
import { erase } from '../../../../test/kit/customers/erasure.ts';
import { exportOf } from '../../../../test/kit/customers/export.ts';
import { signedHeaders, walletFixture } from '../../../../test/kit/wallets/embedded-wallets.ts';
import { insertSession } from '../../../../test/kit/wallets/sessions.ts';
import { findWallet, type Wallet } from '../../wallets/accounts/wallet.ts';
import { parseStamp, verifyStamp } from '../../wallets/signing/stamp.ts';
import { addFundingSources } from '../clearing/funding.ts';
import { cards, delegatedKeys, fundingSources } from '../store.ts';
import { activeKeyOf, addKey } from './delegated-keys.ts';

const app = testApp();
const fixture = delegatedFixture(app);

const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const reasonOf = ({ status, body }: ApiResponse) => [status, body.code, body.reason];
const rowOf = (id: string) => app.runtime.db.read(delegatedKeys, id);
const HAS_ACTIVE_KEY = [
  409,
  'CONFLICT',
  'The funding source of the card already has an active key. Revoke that key first.',
];
const CARD_CLOSED = [409, 'CARD_NOT_MUTABLE', 'The card is closed.'];
const NOT_FUNDING_SOURCE = [
  404,
  'NOT_FOUND',
  'The wallet is not a funding source of the card. Add the wallet to the card first.',
];

const statusesOf = async ({ accountId }: Pick<WalletCard, 'accountId'>): Promise<string[]> =>
  (await fixture.listKeys(`accountId=${accountId}`)).map(({ status }) => status);

/** Asserts that all keys of the wallet are revoked, without references of the custodian. */
async function expectAllRevoked({ accountId }: Pick<WalletCard, 'accountId'>, count: number) {
  const rows = await app.runtime.db.find(delegatedKeys, { account_id: accountId });
  expect(rows).toHaveLength(count);
  for (const row of rows) expect(row).toMatchObject({ status: 'REVOKED', signer: null });
}

/** A card with an active key, and a second key that is PENDING. */
async function createActiveAndPendingKeys() {
  const walletCard = await fixture.createWalletCard();
  const body = fixture.keyBody(walletCard);
  const pendingResponse = await fixture.registerKey(body, walletCard.session);
  return {
    walletCard,
    body,
    pendingResponse,
    activeKey: await fixture.createKey(walletCard),
  };
}

describe('several keys of one funding source', () => {
  it('are active one at a time, and an abandoned key blocks no others', async () => {
    const walletCard = await fixture.createWalletCard();
    const firstBody = fixture.keyBody(walletCard);
    const abandonedKey = await fixture.registerKey(firstBody, walletCard.session);
    const activeKey = await fixture.createKey(walletCard);
    expect(reasonOf(await fixture.send(fixture.keyBody(walletCard)))).toEqual(HAS_ACTIVE_KEY);
    expect(reasonOf(await fixture.sendSigned(firstBody, abandonedKey, walletCard.session))).toEqual(
      HAS_ACTIVE_KEY,
    );
    const keyList = await fixture.listKeys(`accountId=${walletCard.accountId}`);
    expect(keyList.map((key) => key.status)).toEqual(['PENDING', 'ACTIVE']);
    ok(await fixture.revoke(activeKey.id), 204);
    // The abandoned key can now be activated.
    ok(await fixture.sendSigned(firstBody, abandonedKey, walletCard.session), 201);
  });

  it('are limited to one of several concurrent activations', async () => {
    const walletCard = await fixture.createWalletCard();
    const requestBodies = Array.from({ length: 4 }, () => fixture.keyBody(walletCard));
    const challenges: [object, ApiResponse][] = [];
    for (const body of requestBodies)
      challenges.push([body, await fixture.registerKey(body, walletCard.session)]);
    const responses = await Promise.all(
      challenges.map(([body, challenge]) =>
        fixture.sendSigned(body, challenge, walletCard.session),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409, 409, 409]);
    for (const response of responses)
      if (response.status === 409) expect(reasonOf(response)).toEqual(HAS_ACTIVE_KEY);
    const keys = await fixture.listKeys(`accountId=${walletCard.accountId}`);
    expect(keys.filter((key) => key.status === 'ACTIVE')).toHaveLength(1);
    expect(keys).toHaveLength(4);
  });

  it('are created once by concurrent identical requests', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    let challenge = await fixture.send(body);
    for (const [status, keyStatus] of [
      [202, 'PENDING'],
      [201, 'ACTIVE'],
    ] as const) {
      const headers = await signedHeaders(ok(challenge, 202), walletCard.session);
      const responses = await Promise.all([1, 2, 3].map(() => fixture.send(body, headers)));
      expect(responses.map((each) => each.status).sort()).toEqual([status, 401, 401]);
      expect(await statusesOf(walletCard)).toEqual([keyStatus]);
      challenge = responses.find((response) => response.status === status) as ApiResponse;
    }
  });

  it('number at most a hundred', async () => {
    const walletCard = await fixture.createWalletCard();
    const [firstBody, secondBody] = [fixture.keyBody(walletCard), fixture.keyBody(walletCard)];
    const [firstResponse, secondResponse] = [
      await fixture.send(firstBody),
      await fixture.send(secondBody),
    ];
    await app.operate(async (ctx) => {
      const { key } = (await findWallet(ctx, walletCard.accountId)) as Wallet;
      const [source] = await ctx.db.find(fundingSources, { card_id: walletCard.card.id });
      for (let index = 0; index < 99; index++) {
        const newKey = { id: ctx.id('DelegatedKey'), publicKey: '02', signer: 'x' };
        if (source) addKey(ctx, source, newKey, { nickname: 'x', key });
      }
    });
    // The hundredth key can be created and activated. A further key cannot.
    const hundredthResponse = await fixture.sendSigned(
      firstBody,
      firstResponse,
      walletCard.session,
    );
    const { id } = ok(
      await fixture.sendSigned(firstBody, hundredthResponse, walletCard.session),
      201,
    );
    expect(await statusesOf(walletCard)).toHaveLength(100);
    ok(await fixture.revoke(id), 204);
    const limitError = [409, 'CONFLICT', expect.stringContaining('has had 100 keys')];
    expect(
      reasonOf(await fixture.sendSigned(secondBody, secondResponse, walletCard.session)),
    ).toEqual(limitError);
    expect(reasonOf(await fixture.send(fixture.keyBody(walletCard)))).toEqual(limitError);
  });
});

describe('revokeDelegatedKey', () => {
  it('revokes an active key immediately, and another key can be created', async () => {
    const walletCard = await fixture.createWalletCard();
    const { id, cardId, accountId } = await fixture.createKey(walletCard);
    const readActiveKey = () => app.operate((ctx) => activeKeyOf(ctx, cardId, accountId));
    const viewer = await app.tokenWith(['VIEW', 'TRANSACT']);
    const path = `/auth/delegated-keys/${id}`;
    expect((await app.call('DELETE', path, undefined, { platform: viewer })).status).toBe(403);
    const response = await fixture.revoke(id);
    expect([response.status, response.body]).toEqual([204, '']);
    await expectAllRevoked(walletCard, 1);
    expect((await fixture.readKey(id)).status).toBe('REVOKED');
    expect(await readActiveKey()).toBeUndefined();
    const nextKey = await fixture.createKey(walletCard);
    expect((await readActiveKey())?.id).toBe(nextKey.id);
    expect(await statusesOf(walletCard)).toEqual(['REVOKED', 'ACTIVE']);
  });

  it('rejects a key that is not active', async () => {
    const { walletCard, activeKey } = await createActiveAndPendingKeys();
    const [firstKey] = await fixture.listKeys(`accountId=${walletCard.accountId}`);
    const inactiveKeyError = (status: string) => [
      ...[400, 'INVALID_INPUT', `The key is ${status}. Only an ACTIVE key can be revoked.`],
    ];
    expect(reasonOf(await fixture.revoke(firstKey.id))).toEqual(inactiveKeyError('PENDING'));
    ok(await fixture.revoke(activeKey.id), 204);
    expect(reasonOf(await fixture.revoke(activeKey.id))).toEqual(inactiveKeyError('REVOKED'));
    expect(await statusesOf(walletCard)).toEqual(['PENDING', 'REVOKED']);
  });
});

describe('a delegated key', () => {
  it('signs under its own ID only', async () => {
    const walletCard = await fixture.createWalletCard();
    const { id, publicKey } = await fixture.createKey(walletCard);
    const signer = (await rowOf(id))?.signer as string;
    const custody = app.connectorsOf('sandbox').custody;
    const stamp = parseStamp((await custody?.stampWith({ id, signer, payload: '{}' })) ?? '');
    expect(stamp?.publicKey).toBe(publicKey);
    expect(stamp && verifyStamp(stamp, '{}')).toBe(true);
    await expect(
      custody?.stampWith({ id: walletCard.card.id, signer, payload: '{}' }),
    ).rejects.toThrow();
  });

  it('remains revoked after its funding source is removed and added again', async () => {
    const { walletCard, body, pendingResponse } = await createActiveAndPendingKeys();
    const balance = await findInternalAccount(app, walletCard.customer.id, 'USDB');
    const setFundingSources = (...fundingSources: string[]) =>
      fixture.cards.patchCard(walletCard.card.id, { fundingSources });
    // A funding source that remains keeps its keys, at any position in the list.
    ok(await setFundingSources(balance.id, walletCard.accountId), 200);
    expect(await statusesOf(walletCard)).toEqual(['PENDING', 'ACTIVE']);
    ok(await setFundingSources(balance.id), 200);
    await expectAllRevoked(walletCard, 2);
    expect(reasonOf(await fixture.send(body))).toEqual(NOT_FUNDING_SOURCE);
    expect(reasonOf(await fixture.sendSigned(body, pendingResponse, walletCard.session))).toEqual(
      NOT_FUNDING_SOURCE,
    );
    ok(await setFundingSources(walletCard.accountId), 200);
    await expectAllRevoked(walletCard, 2);
    const reason = 'The key was revoked. Create a new key.';
    const lateResponse = await fixture.sendSigned(body, pendingResponse, walletCard.session);
    expect(reasonOf(lateResponse)).toEqual([409, 'CONFLICT', reason]);
    const nextKey = await fixture.createKey(walletCard);
    expect(await fixture.listKeys(`fundingSourceId=${nextKey.fundingSourceId}`)).toEqual([nextKey]);
  });

  it('is revoked when its card is closed', async () => {
    const { walletCard, body, pendingResponse } = await createActiveAndPendingKeys();
    ok(await fixture.cards.patchCard(walletCard.card.id, { state: 'CLOSED' }), 200);
    await expectAllRevoked(walletCard, 2);
    expect(reasonOf(await fixture.send(body))).toEqual(CARD_CLOSED);
    expect(reasonOf(await fixture.sendSigned(body, pendingResponse, walletCard.session))).toEqual(
      CARD_CLOSED,
    );
  });

  it('is not created for a card that is closed concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const walletCard = await fixture.createWalletCard();
      const [registrationBody, activationBody] = [
        fixture.keyBody(walletCard),
        fixture.keyBody(walletCard),
      ];
      const challenges = [
        [registrationBody, await fixture.send(registrationBody)],
        [activationBody, await fixture.registerKey(activationBody, walletCard.session)],
      ] as const;
      const headers = await Promise.all(
        challenges.map(([, reply]) => signedHeaders(ok(reply, 202), walletCard.session)),
      );
      const [closedResponse, ...responses] = await Promise.all([
        fixture.cards.patchCard(walletCard.card.id, { state: 'CLOSED' }),
        ...challenges.map(([body], index) => fixture.send(body, headers[index])),
      ]);
      ok(closedResponse as ApiResponse, 200);
      // A concurrent request finds the card closed, or its funding sources removed.
      for (const response of responses) expect([201, 202, 404, 409]).toContain(response.status);
      const rows = await app.runtime.db.find(delegatedKeys, { account_id: walletCard.accountId });
      await expectAllRevoked(walletCard, rows.length);
    }
  });

  it('is revoked when the customer is deleted', async () => {
    const { walletCard, body, pendingResponse } = await createActiveAndPendingKeys();
    const headers = await signedHeaders(ok(pendingResponse, 202), walletCard.session);
    ok(await app.call('DELETE', `/customers/${walletCard.customer.id}`), 200);
    await app.settle();
    await expectAllRevoked(walletCard, 2);
    expect((await fixture.send(body, headers)).status).toBe(401);
    expect((await fixture.send(body)).status).toBe(404);
  });
});

describe('export and erasure of a delegated key', () => {
  it('export the nickname without the signer, and remove the key', async () => {
    const [walletCard, otherCard] = [
      await fixture.createWalletCard(),
      await fixture.createWalletCard(),
    ];
    const { id } = await fixture.createKey(walletCard, { nickname: 'Quorbat' });
    const otherKey = await fixture.createKey(otherCard);
    const { all } = await exportOf(app, walletCard.customer.id);
    expect(all.delegated_keys).toMatchObject([{ id, nickname: 'Quorbat', status: 'ACTIVE' }]);
    expect(Object.keys(all.delegated_keys[0])).not.toContain('signer');
    // No job has run before the erasure.
    ok(await app.call('DELETE', `/customers/${walletCard.customer.id}`), 200);
    const { counts } = await erase(app.runtime, walletCard.customer.id, {
      actor: 'test',
      reason: null,
    });
    expect(counts).toMatchObject({ delegated_keys: 1 });
    expect(await rowOf(id)).toBeUndefined();
    expect(codeOf(await fixture.call('GET', `/auth/delegated-keys/${id}`))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(await statusesOf(walletCard)).toEqual([]);
    await app.settle();
    expect(await fixture.readKey(otherKey.id)).toEqual(otherKey);
  });

  it('hide the key during the erasure', async () => {
    const walletCard = await fixture.createWalletCard();
    const { id } = await fixture.createKey(walletCard);
    const sql = 'update customers set data_key = null, version = version + 1 where id = $1';
    await app.runtime.db.query(sql, [walletCard.customer.id]);
    expect(codeOf(await fixture.call('GET', `/auth/delegated-keys/${id}`))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(codeOf(await fixture.revoke(id))).toEqual([404, 'NOT_FOUND']);
    expect(await statusesOf(walletCard)).toEqual([]);
  });
});

/** Inserts a card of a platform without an issuer. */
async function insertCard(platform: TestPlatform, customerId: string, accountId: string) {
  return app.operate(async (ctx) => {
    const card = ctx.insert(cards, {
      id: ctx.id('Card'),
      platform_id: platform.id,
      customer_id: customerId,
      platform_card_id: ctx.id('Named'),
      state: 'ACTIVE',
      currency: 'USD',
      funding: [accountId],
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    addFundingSources(ctx, card, [accountId]);
    return card;
  }, platform);
}

describe('a delegated key in production', () => {
  it('is created with real signatures only', async () => {
    const platform = app.production;
    const productionFixture = delegatedFixture(app, { platform });
    const { customer, accountId } = await walletFixture(app, {
      platform,
    }).createWalletCustomer();
    const session = await insertSession(app, accountId);
    const card = await insertCard(platform, customer.id, accountId);
    const body = productionFixture.keyBody({ accountId, card });
    const firstResponse = await productionFixture.send(body);
    const literalStamp = app.connectorsOf('sandbox').walletScript?.stamp as string;
    const literalHeaders = {
      'service-wallet-signature': literalStamp,
      'request-id': firstResponse.body.requestId,
    };
    expect(codeOf(await productionFixture.send(body, literalHeaders))).toEqual([
      401,
      'WALLET_SIGNATURE_MALFORMED',
    ]);
    const otherWallet = await productionFixture.wallets.createWalletCustomer();
    const otherSession = await insertSession(app, otherWallet.accountId);
    const INVALID_SIGNATURE = [401, 'WALLET_SIGNATURE_INVALID'];
    expect(codeOf(await productionFixture.sendSigned(body, firstResponse, otherSession))).toEqual(
      INVALID_SIGNATURE,
    );
    const secondResponse = await productionFixture.sendSigned(body, firstResponse, session);
    expect(codeOf(await productionFixture.sendSigned(body, secondResponse, otherSession))).toEqual(
      INVALID_SIGNATURE,
    );
    const key = ok(await productionFixture.sendSigned(body, secondResponse, session), 201);
    const row = await rowOf(key.id);
    const { custody } = app.connectorsOf('production');
    const signedPayload = { id: key.id, signer: row?.signer as string, payload: 'x' };
    const stamp = parseStamp((await custody?.stampWith(signedPayload)) ?? '');
    expect(stamp?.publicKey).toBe(key.publicKey);
    ok(await productionFixture.revoke(key.id), 204);
    expect((await productionFixture.readKey(key.id)).status).toBe('REVOKED');
  });
});
