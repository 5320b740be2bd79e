// Creation of a delegated key in three requests, with the reply and the rejection reasons of each.
// Reads of delegated keys are also tested. Only sessions of the wallet activate a key. Revocation
// is in `delegated-key-revocation.test.ts`.
import { describe, expect, it } from 'vitest';
import { createCustomer, findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { delegatedFixture, type WalletCard } from '../../../../test/kit/cards/delegated-cards.ts';
import {
  generateKeys,
  NO_ACTIVE_SESSION,
  signedHeaders,
  stampWith,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { walletAuthorizations, walletRequests } from '../../wallets/store.ts';
import { delegatedKeys, fundingSources } from '../store.ts';

const app = testApp();
const fixture = delegatedFixture(app);

const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const reasonOf = ({ status, body }: ApiResponse) => [status, body.code, body.reason];
const rowOf = (id: string) => app.runtime.db.read(delegatedKeys, id);
const unknownIdOf = (resource: string) => `${resource}:${uuid7(app.effects)}`;
const CARD_NOT_FOUND = [404, 'NOT_FOUND', 'Card not found.'];
const ACCOUNT_NOT_FOUND = [404, 'ACCOUNT_NOT_FOUND', 'Account not found.'];

/** The funding source that links a card to its wallet. */
async function fundingSourceOf({ card, accountId }: Pick<WalletCard, 'card' | 'accountId'>) {
  const filter = { card_id: card.id, account_id: accountId, ended_at: null };
  const [row] = await app.runtime.db.find(fundingSources, filter);
  return row;
}

describe('createDelegatedKey', () => {
  it('creates a key in three requests, the last two signed by the wallet', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard, { nickname: '  Card for lunch ' });
    const firstResponse = await fixture.send(body);
    expect(Object.keys(ok(firstResponse, 202)).sort()).toEqual([
      ...['expiresAt', 'payloadToSign', 'requestId'],
    ]);
    const creation = JSON.parse(firstResponse.body.payloadToSign);
    expect(creation.type).toBe('ACTIVITY_TYPE_CREATE_USERS');
    const [user] = creation.parameters.users;
    expect(user).toMatchObject({
      userName: 'Card for lunch',
      apiKeys: [{ curveType: 'API_KEY_CURVE_P256' }],
    });
    expect(await fixture.listKeys(`accountId=${walletCard.accountId}`)).toEqual([]);

    const secondResponse = await fixture.sendSigned(body, firstResponse, walletCard.session);
    ok(secondResponse, 202);
    expect(secondResponse.body.requestId).not.toBe(firstResponse.body.requestId);
    const [pendingKey] = await fixture.listKeys(`accountId=${walletCard.accountId}`);
    const source = await fundingSourceOf(walletCard);
    expect(pendingKey).toMatchObject({
      cardId: walletCard.card.id,
      fundingSourceId: source?.id,
      accountId: walletCard.accountId,
      publicKey: user.apiKeys[0].publicKey,
      nickname: 'Card for lunch',
      status: 'PENDING',
    });
    expect(pendingKey.id).toMatch(/^DelegatedKey:/);
    expect(pendingKey.publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    const policies = JSON.parse(secondResponse.body.payloadToSign);
    expect(policies.type).toBe('ACTIVITY_TYPE_CREATE_POLICIES');
    const [policy] = policies.parameters.policies;
    expect(policy.effect).toBe('EFFECT_ALLOW');
    expect(policy.consensus).toContain(pendingKey.id);
    expect(policy.condition).toContain(walletCard.card.id);

    app.effects.set(app.effects.now() + 1000);
    const activeKey = ok(await fixture.sendSigned(body, secondResponse, walletCard.session), 201);
    const { updatedAt } = activeKey;
    expect(activeKey).toEqual({ ...pendingKey, status: 'ACTIVE', updatedAt });
    expect(Date.parse(updatedAt)).toBe(Date.parse(pendingKey.updatedAt) + 1000);
    expect(await fixture.readKey(activeKey.id)).toEqual(activeKey);
    expect(await fixture.listKeys(`fundingSourceId=${source?.id}`)).toEqual([activeKey]);
  });

  it('stores both signatures, and keeps nickname and private key sealed', async () => {
    const walletCard = await fixture.createWalletCard();
    const { id } = await fixture.createKey(walletCard, { nickname: 'Quorbat' });
    const filter = { account_id: walletCard.accountId, operation: 'createDelegatedKey' };
    const signedWalletAuthorizations = await app.runtime.db.find(walletAuthorizations, filter);
    const { publicKey } = walletCard.session;
    expect(signedWalletAuthorizations.map((row) => row.public_key)).toEqual([publicKey, publicKey]);
    const row = await rowOf(id);
    expect(row?.signer).toEqual(expect.any(String));
    expect(JSON.stringify({ ...row, version: 0 })).not.toContain('Quorbat');
    // Only this row stores the signer, so revoking the key removes the signer.
    const requests = await app.runtime.db.find(walletRequests, {
      account_id: walletCard.accountId,
      subject: 'createDelegatedKey',
    });
    expect(requests.map(({ status, bound }) => [status, bound])).toEqual([
      ['DONE', ''],
      ['DONE', ''],
    ]);
  });

  it('accepts a card that is not issued yet, and a frozen card', async () => {
    const holder = await fixture.createWalletHolder();
    const card = ok(
      await fixture.cards.requestCard(holder, { platformCardId: `slow-${uuid7(app.effects)}-001` }),
      201,
    );
    expect(card.state).toBe('PROCESSING');
    expect((await fixture.createKey({ ...holder, card })).status).toBe('ACTIVE');
    const walletCard = await fixture.createWalletCard();
    ok(await fixture.cards.patchCard(walletCard.card.id, { state: 'FROZEN' }), 200);
    expect((await fixture.createKey(walletCard)).status).toBe('ACTIVE');
  });

  it('reports all invalid fields together', async () => {
    const response = await fixture.send({ cardId: 1, nickname: ' ' });
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map(({ field }: { field: string }) => field);
    expect(fields.sort()).toEqual(['cardId', 'internalAccountId', 'nickname']);
    const unknownCard = { accountId: 'x', card: { id: 'x' } };
    for (const nickname of ['', '   ', 'x'.repeat(257)]) {
      const { body } = await fixture.send(fixture.keyBody(unknownCard, { nickname }));
      expect(body.details.errors.map(({ field }: { field: string }) => field)).toEqual([
        'nickname',
      ]);
    }
  });

  it('returns NOT_FOUND for an unknown card or wallet, or one of another platform', async () => {
    const walletCard = await fixture.createWalletCard();
    const otherPlatformFixture = delegatedFixture(app, { platform: app.other });
    const foreignCard = await otherPlatformFixture.createWalletCard();
    for (const id of ['x', unknownIdOf('Card'), foreignCard.card.id, walletCard.accountId]) {
      expect(reasonOf(await fixture.send(fixture.keyBody(walletCard, { cardId: id })))).toEqual(
        CARD_NOT_FOUND,
      );
    }
    for (const id of ['x', unknownIdOf('InternalAccount'), foreignCard.accountId]) {
      const response = await fixture.send(fixture.keyBody(walletCard, { internalAccountId: id }));
      expect(reasonOf(response)).toEqual(ACCOUNT_NOT_FOUND);
    }
    const body = { cardId: foreignCard.card.id, internalAccountId: foreignCard.accountId };
    expect(reasonOf(await fixture.send(fixture.keyBody(walletCard, body)))).toEqual(CARD_NOT_FOUND);
  });

  it('accepts only a wallet that is a funding source of the card', async () => {
    const walletCard = await fixture.createWalletCard();
    const plainAccount = await findInternalAccount(app, walletCard.customer.id, 'USD');
    const response = await fixture.send(
      fixture.keyBody(walletCard, { internalAccountId: plainAccount.id }),
    );
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors[0].field).toBe('internalAccountId');
    const otherHolder = await fixture.createWalletHolder();
    const unlinkedResponse = await fixture.send(
      fixture.keyBody(walletCard, { internalAccountId: otherHolder.accountId }),
    );
    const reason =
      'The wallet is not a funding source of the card. Add the wallet to the card first.';
    expect(reasonOf(unlinkedResponse)).toEqual([404, 'NOT_FOUND', reason]);
  });

  it('rejects a frozen wallet in each request', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const secondResponse = await fixture.registerKey(body, walletCard.session);
    const setStatus = (status: 'FROZEN' | 'ACTIVE') =>
      app.operate(async (ctx) => {
        const row = await ctx.read(internalAccounts, walletCard.accountId);
        if (row) ctx.update(internalAccounts, row, { status });
      });
    await setStatus('FROZEN');
    const reason = 'internalAccountId: must be ACTIVE, but the account is FROZEN';
    const frozenError = [400, 'INVALID_INPUT', reason];
    expect(reasonOf(await fixture.send(body))).toEqual(frozenError);
    const headers = await signedHeaders(secondResponse.body, walletCard.session);
    expect(reasonOf(await fixture.send(body, headers))).toEqual(frozenError);
    await setStatus('ACTIVE');
    ok(await fixture.send(body, headers), 201);
  });

  it('requires MANAGE', async () => {
    const walletCard = await fixture.createWalletCard();
    const callerToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    const response = await app.call('POST', '/auth/delegated-keys', fixture.keyBody(walletCard), {
      platform: callerToken,
    });
    expect(response.status).toBe(403);
  });
});

describe('signatures of createDelegatedKey', () => {
  it('must be from a session of this wallet in both requests', async () => {
    const [walletCard, otherCard] = [
      await fixture.createWalletCard(),
      await fixture.createWalletCard(),
    ];
    const body = fixture.keyBody(walletCard);
    const firstResponse = await fixture.send(body);
    for (const keys of [otherCard.session, generateKeys()]) {
      expect(reasonOf(await fixture.sendSigned(body, firstResponse, keys))).toEqual(
        NO_ACTIVE_SESSION,
      );
    }
    expect(await fixture.listKeys(`accountId=${walletCard.accountId}`)).toEqual([]);
    const secondResponse = await fixture.sendSigned(body, firstResponse, walletCard.session);
    for (const keys of [otherCard.session, generateKeys()]) {
      expect(reasonOf(await fixture.sendSigned(body, secondResponse, keys))).toEqual(
        NO_ACTIVE_SESSION,
      );
    }
    // A different session of the wallet can sign the second request.
    const secondSession = await fixture.wallets.openEmailSession(walletCard.accountId);
    expect(ok(await fixture.sendSigned(body, secondResponse, secondSession), 201).status).toBe(
      'ACTIVE',
    );
  });

  it('are valid once, for the payload of their request only', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const firstResponse = await fixture.send(body);
    const headers = await signedHeaders(ok(firstResponse, 202), walletCard.session);
    const secondResponse = await fixture.send(body, headers);
    ok(secondResponse, 202);
    const usedError = [
      401,
      'UNAUTHORIZED',
      'The Request-Id was already used. Send the first request again to repeat the operation.',
    ];
    expect(reasonOf(await fixture.send(body, headers))).toEqual(usedError);
    const stamp = 'service-wallet-signature';
    const mixedHeaders = {
      [stamp]: headers[stamp] as string,
      'request-id': secondResponse.body.requestId,
    };
    expect(codeOf(await fixture.send(body, mixedHeaders))).toEqual([401, 'UNAUTHORIZED']);
    expect(
      (await fixture.listKeys(`accountId=${walletCard.accountId}`)).map((key) => key.status),
    ).toEqual(['PENDING']);
    const lastSignedHeaders = await signedHeaders(secondResponse.body, walletCard.session);
    ok(await fixture.send(body, lastSignedHeaders), 201);
    expect(reasonOf(await fixture.send(body, lastSignedHeaders))).toEqual(usedError);
  });

  it('are bound to one body', async () => {
    const walletCard = await fixture.createWalletCard();
    const otherCard = await fixture.cards.createCard(walletCard);
    const body = fixture.keyBody(walletCard);
    const MISMATCH = [401, 'WALLET_SIGNATURE_BODY_MISMATCH'];
    const changes = [{ nickname: 'Another' }, { cardId: otherCard.id }];
    const firstResponse = await fixture.send(body);
    for (const change of changes) {
      const response = await fixture.sendSigned(
        { ...body, ...change },
        firstResponse,
        walletCard.session,
      );
      expect(codeOf(response)).toEqual(MISMATCH);
    }
    const secondResponse = await fixture.sendSigned(body, firstResponse, walletCard.session);
    for (const change of changes) {
      const response = await fixture.sendSigned(
        { ...body, ...change },
        secondResponse,
        walletCard.session,
      );
      expect(codeOf(response)).toEqual(MISMATCH);
    }
    const reorderedBody = Object.fromEntries(Object.entries(body).reverse());
    ok(await fixture.sendSigned(reorderedBody, secondResponse, walletCard.session), 201);
  });

  it('are rejected if late, malformed, or without one of the headers', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const challenges = [
      await fixture.send(body),
      await fixture.registerKey(body, walletCard.session),
    ];
    for (const challenge of challenges) {
      const headers = await signedHeaders(ok(challenge, 202), walletCard.session);
      const { 'request-id': requestId, 'service-wallet-signature': stamp } = headers as {
        'request-id': string;
        'service-wallet-signature': string;
      };
      const responses = [
        await fixture.send(body, { 'request-id': requestId }),
        await fixture.send(body, { 'service-wallet-signature': stamp }),
        await fixture.send(body, { ...headers, 'service-wallet-signature': 'x' }),
        await fixture.send(body, { ...headers, 'request-id': unknownIdOf('Request') }),
      ];
      expect(responses.map(codeOf)).toEqual([
        [401, 'WALLET_SIGNATURE_MISSING'],
        [401, 'REQUEST_ID_MISSING'],
        [401, 'WALLET_SIGNATURE_MALFORMED'],
        [401, 'UNAUTHORIZED'],
      ]);
    }
    app.effects.set(app.effects.now() + 5 * 60_000);
    const expiredError = [
      401,
      'UNAUTHORIZED',
      'The Request-Id has expired. Send the first request again.',
    ];
    for (const challenge of challenges) {
      expect(reasonOf(await fixture.sendSigned(body, challenge, walletCard.session))).toEqual(
        expiredError,
      );
    }
  });

  it('are rejected for a request of another platform', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const headers = await signedHeaders(ok(await fixture.send(body), 202), walletCard.session);
    const foreignResponse = await delegatedFixture(app, { platform: app.other }).send(
      body,
      headers,
    );
    expect(reasonOf(foreignResponse)).toEqual([
      401,
      'UNAUTHORIZED',
      'The Request-Id is unknown. Use the requestId of the first reply.',
    ]);
  });

  it('can be the literal stamp of the sandbox while a session is open', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const literalStamp = app.connectorsOf('sandbox').walletScript?.stamp as string;
    const answerChallenge = async (reply: ApiResponse) =>
      fixture.send(body, {
        'service-wallet-signature': literalStamp,
        'request-id': ok(reply, 202).requestId,
      });
    expect(
      ok(await answerChallenge(await answerChallenge(await fixture.send(body))), 201).status,
    ).toBe('ACTIVE');
  });

  it('are not accepted by other operations', async () => {
    const walletCard = await fixture.createWalletCard();
    const body = fixture.keyBody(walletCard);
    const headers = await signedHeaders(ok(await fixture.send(body), 202), walletCard.session);
    const change = { privateEnabled: true };
    const otherOperation = await fixture.call(
      ...(['PATCH', `/internal-accounts/${walletCard.accountId}`, change, headers] as const),
    );
    const reason = 'The Request-Id belongs to another request.';
    expect(reasonOf(otherOperation)).toEqual([401, 'UNAUTHORIZED', reason]);
    const stamp = await stampWith(walletCard.session.privateKey, 'anything');
    const otherPayloadResponse = await fixture.send(body, {
      ...headers,
      'service-wallet-signature': stamp,
    });
    expect(codeOf(otherPayloadResponse)).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('listDelegatedKeys', () => {
  it('requires a wallet or a funding source, and accepts both', async () => {
    const response = await fixture.call('GET', '/auth/delegated-keys');
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(['accountId', 'fundingSourceId']);
    const walletCard = await fixture.createWalletCard();
    const card = await fixture.cards.createCard(walletCard);
    const keys = [
      await fixture.createKey(walletCard),
      await fixture.createKey({ ...walletCard, card }),
    ];
    const [firstKey, secondKey] = keys;
    expect(await fixture.listKeys(`accountId=${walletCard.accountId}`)).toEqual(keys);
    expect(await fixture.listKeys(`fundingSourceId=${secondKey.fundingSourceId}`)).toEqual([
      secondKey,
    ]);
    const query = `accountId=${walletCard.accountId}&fundingSourceId=${firstKey.fundingSourceId}`;
    expect(await fixture.listKeys(query)).toEqual([firstKey]);
    const otherHolder = await fixture.createWalletHolder();
    const { fundingSourceId } = firstKey;
    const queryWithoutMatch = `accountId=${otherHolder.accountId}&fundingSourceId=${fundingSourceId}`;
    expect(await fixture.listKeys(queryWithoutMatch)).toEqual([]);
  });
});

describe('getDelegatedKeyById', () => {
  it('returns NOT_FOUND for an unknown ID and to another platform', async () => {
    const walletCard = await fixture.createWalletCard();
    const { id, fundingSourceId } = await fixture.createKey(walletCard);
    const person = await createCustomer(app);
    const plainAccount = await findInternalAccount(app, person.id, 'USD');
    for (const accountId of ['x', unknownIdOf('InternalAccount'), plainAccount.id]) {
      expect(await fixture.listKeys(`accountId=${accountId}`)).toEqual([]);
    }
    const otherPlatformFixture = delegatedFixture(app, { platform: app.other });
    expect(await otherPlatformFixture.listKeys(`accountId=${walletCard.accountId}`)).toEqual([]);
    expect(await otherPlatformFixture.listKeys(`fundingSourceId=${fundingSourceId}`)).toEqual([]);
    const path = `/auth/delegated-keys/${id}`;
    expect(codeOf(await otherPlatformFixture.call('GET', path))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await otherPlatformFixture.revoke(id))).toEqual([404, 'NOT_FOUND']);
    for (const unknownId of ['x', unknownIdOf('DelegatedKey'), walletCard.card.id]) {
      expect(codeOf(await fixture.call('GET', `/auth/delegated-keys/${unknownId}`))).toEqual([
        404,
        'NOT_FOUND',
      ]);
      expect(codeOf(await fixture.revoke(unknownId))).toEqual([404, 'NOT_FOUND']);
    }
    expect((await fixture.readKey(id)).status).toBe('ACTIVE');
  });
});
