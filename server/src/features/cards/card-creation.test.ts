// Creation of cards: conditions for the cardholder and the funding sources, the maximum number of
// cards, and the outcome at the issuer.
import { describe, expect, it } from 'vitest';
import { findInternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import type { ApiResponse, TestPlatform } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardFixture, newCardName } from '../../../test/kit/cards/cards.ts';
import { walletFixture } from '../../../test/kit/wallets/embedded-wallets.ts';
import { transitionInternalAccount } from '../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../balances/internal-accounts/store.ts';
import { customerOf } from '../customers/records/index.ts';
import { transitionCheck } from '../customers/registration/views.ts';
import type { CardProgram } from '../tenancy/platform/index.ts';
import { platforms } from '../tenancy/platform/store.ts';

const app = testApp();
const fixture = cardFixture(app);

const businessInfo = {
  legalName: 'Difference Engines',
  country: 'US',
  taxId: '12-3456789',
  incorporatedOn: '1991-12-26',
};

const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const fieldsOf = ({ body }: ApiResponse) =>
  body.details.errors.map((each: { field: string }) => each.field);

/** Creates a platform with these card limits. */
async function createLimitedPlatform(program: Partial<CardProgram>): Promise<TestPlatform> {
  const platform = await app.newPlatform('Limited');
  await app.operate(async (ctx) => {
    const row = await ctx.read(platforms, platform.id);
    if (!row) throw new Error(`The platform ${platform.id} does not exist.`);
    const defaults = { maxLive: 100, maxLivePerHolder: 100, frameOrigins: [] };
    ctx.update(platforms, row, { card_program: { ...defaults, ...program } });
  }, platform);
  return platform;
}

describe('createCard', () => {
  it('returns a card in PROCESSING without an event', async () => {
    const holder = await fixture.createCardholder();
    const platformCardId = newCardName();
    const body = ok(
      await fixture.requestCard(holder, { platformCardId, maxSpendPerTransaction: 5 }),
      201,
    );
    expect(body).toEqual({
      id: expect.stringMatching(/^Card:[0-9a-f-]{36}$/),
      cardholderId: holder.customer.id,
      platformCardId,
      state: 'PROCESSING',
      stateReason: null,
      form: 'VIRTUAL',
      fundingSources: [holder.accountId],
      maxSpendPerTransaction: 5,
      currency: 'USD',
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    });
    expect(await fixture.eventsOf('CARD.', body.id)).toEqual([]);
    expect(await fixture.readCard(body.id)).toEqual(body);
  });

  it('returns a card that becomes ACTIVE once issued, with one event', async () => {
    const issuedCard = await fixture.createCard(await fixture.createCardholder());
    expect(issuedCard).toMatchObject({
      state: 'ACTIVE',
      stateReason: null,
      brand: expect.any(String),
    });
    expect(issuedCard.last4).toMatch(/^\d{4}$/);
    expect(issuedCard.expYear).toBeGreaterThan(2026);
    const emittedEvents = await fixture.eventsOf('CARD.', issuedCard.id);
    expect(emittedEvents.map(({ type, data }) => [type, data])).toEqual([
      ['CARD.STATE_CHANGE', issuedCard],
    ]);
  });

  it('generates platformCardId if it is absent', async () => {
    const { platformCardId } = ok(
      await fixture.requestCard(await fixture.createCardholder(), { platformCardId: undefined }),
      201,
    );
    expect(platformCardId).toMatch(/^card_[0-9a-f-]{36}$/);
  });

  it('reports all invalid fields together', async () => {
    const invalidResponse = await fixture.call('POST', '/cards', {
      cardholderId: 'Customer:unknown',
      form: 'PLASTIC',
      fundingSources: [],
      maxSpendPerTransaction: 0,
      threeDSecurePassword: 'correct horse battery',
    });
    expect(codeOf(invalidResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(invalidResponse).sort()).toEqual([
      'cardholderId',
      'form',
      'fundingSources',
      'maxSpendPerTransaction',
      'threeDSecurePassword',
    ]);
    expect(JSON.stringify(invalidResponse.body)).not.toContain('battery');
    expect(app.log.join('')).not.toContain('battery');
  });

  it('replays the reply for the same idempotency key', async () => {
    const holder = await fixture.createCardholder();
    const body = fixture.cardBody(holder);
    const keyHeaders = { 'idempotency-key': newCardName() };
    const firstCard = ok(await fixture.call('POST', '/cards', body, keyHeaders), 201);
    expect(ok(await fixture.call('POST', '/cards', body, keyHeaders), 201)).toEqual(firstCard);
    const conflictingResponse = await fixture.call(
      'POST',
      '/cards',
      { ...body, maxSpendPerTransaction: 1 },
      keyHeaders,
    );
    expect(conflictingResponse.status).toBe(409);
    const { data } = ok(
      await fixture.call('GET', `/cards?cardholderId=${holder.customer.id}`),
      200,
    );
    expect(data).toHaveLength(1);
  });
});

describe('the cardholder', () => {
  it('must exist and not be deleted', async () => {
    const holder = await fixture.createCardholder();
    const otherPlatformHolder = await cardFixture(app, { platform: app.other }).createCardholder();
    for (const id of [otherPlatformHolder.customer.id, 'Customer:unknown', '']) {
      const response = await fixture.requestCard({ ...holder, customer: { id } });
      expect([...codeOf(response), fieldsOf(response)]).toEqual([
        400,
        'INVALID_INPUT',
        ['cardholderId'],
      ]);
    }
    ok(await app.call('DELETE', `/customers/${holder.customer.id}`), 200);
    expect(codeOf(await fixture.requestCard(holder))).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it.each(['INDIVIDUAL', 'BUSINESS'])('must be approved: %s', async (customerType) => {
    const typeFields = customerType === 'BUSINESS' ? { customerType, businessInfo } : {};
    const unverifiedFixture = cardFixture(app, { platform: app.unregulated });
    const holder = await unverifiedFixture.createCardholder(typeFields);
    const expectedError = [400, 'CARDHOLDER_KYC_NOT_APPROVED'];
    expect(codeOf(await unverifiedFixture.requestCard(holder))).toEqual(expectedError);
    await app.operate(async (ctx) => {
      await transitionCheck(ctx, await customerOf(ctx, holder.customer.id), 'approve');
    }, app.unregulated);
    expect((await unverifiedFixture.createCard(holder)).state).toBe('ACTIVE');
  });
});

describe('the funding sources', () => {
  it('are USD accounts, or USDB in a balance or a wallet', async () => {
    const usdbHolder = await fixture.createCardholder({ currency: 'USDB' });
    expect(await fixture.createCard(usdbHolder)).toMatchObject({
      state: 'ACTIVE',
      currency: 'USD',
    });
    const wallet = await walletFixture(app).createWalletCustomer();
    expect((await fixture.createCard(wallet)).fundingSources).toEqual([wallet.accountId]);
    const balance = await findInternalAccount(app, wallet.customer.id, 'USDB');
    const fundingSources = [balance.id, wallet.accountId];
    expect((await fixture.createCard(wallet, { fundingSources })).fundingSources).toEqual(
      fundingSources,
    );
  });

  const INELIGIBLE_ERROR = [400, 'FUNDING_SOURCE_INELIGIBLE'];
  const sourceErrors = (response: ApiResponse) => {
    expect(codeOf(response)).toEqual(INELIGIBLE_ERROR);
    const errors = response.body.details.errors as { field: string; message: string }[];
    return errors.map(({ field, message }) => `${field} ${message}`);
  };

  it('belong to the cardholder and the platform', async () => {
    const [holder, otherHolder] = [
      await fixture.createCardholder(),
      await fixture.createCardholder(),
    ];
    const otherPlatformHolder = await cardFixture(app, { platform: app.other }).createCardholder();
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const fundingSources = [
      holder.accountId,
      otherHolder.accountId,
      otherPlatformHolder.accountId,
      'InternalAccount:nowhere',
      '',
      platformAccount.id,
    ];
    expect(sourceErrors(await fixture.requestCard(holder, { fundingSources }))).toEqual([
      'fundingSources.1 does not belong to the cardholder',
      'fundingSources.2 is not the ID of an internal account',
      'fundingSources.3 is not the ID of an internal account',
      'fundingSources.4 is not the ID of an internal account',
      'fundingSources.5 does not belong to the cardholder',
    ]);
  });

  it('have one currency that can fund cards', async () => {
    const holder = await fixture.createCardholder();
    const eur = await findInternalAccount(app, holder.customer.id, 'EUR');
    const usdb = await findInternalAccount(app, holder.customer.id, 'USDB');
    const fundingSources = [holder.accountId, eur.id, usdb.id];
    expect(sourceErrors(await fixture.requestCard(holder, { fundingSources }))).toEqual([
      'fundingSources.1 is in EUR, which cannot pay for cards',
      'fundingSources.2 has a different currency from the first funding source',
    ]);
  });

  it('are ACTIVE', async () => {
    const holder = await fixture.createCardholder();
    await app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, holder.accountId);
      if (row) transitionInternalAccount(ctx, row, 'freeze');
    });
    expect(sourceErrors(await fixture.requestCard(holder))).toEqual(['fundingSources.0 is FROZEN']);
  });

  it('are accepted by the issuer, which receives the platformCardId', async () => {
    const NOT_ACCEPTED_ERRORS = ['fundingSources.0 is not accepted by the issuer'];
    const holder = await fixture.createCardholder();
    expect(
      sourceErrors(await fixture.requestCard(holder, { platformCardId: newCardName('003') })),
    ).toEqual(NOT_ACCEPTED_ERRORS);
    const { id } = await fixture.createCard(holder, { platformCardId: newCardName('004') });
    const fundingSources = [(await findInternalAccount(app, holder.customer.id, 'USDB')).id];
    expect(sourceErrors(await fixture.patchCard(id, { fundingSources }))).toEqual(
      NOT_ACCEPTED_ERRORS,
    );
    expect((await fixture.readCard(id)).fundingSources).toEqual([holder.accountId]);
  });

  it('are unique, and at most ten', async () => {
    const holder = await fixture.createCardholder();
    const duplicateIds = [holder.accountId, holder.accountId];
    const elevenIds = Array.from({ length: 11 }, (_, index) => `InternalAccount:${index}`);
    for (const fundingSources of [duplicateIds, elevenIds]) {
      const response = await fixture.requestCard(holder, { fundingSources });
      expect([...codeOf(response), fieldsOf(response)]).toEqual([
        400,
        'INVALID_INPUT',
        ['fundingSources'],
      ]);
    }
  });
});

describe('the limit of cards', () => {
  it('is exact for a platform under concurrency and excludes closed cards', async () => {
    const platform = await createLimitedPlatform({ maxLive: 7 });
    const limitedFixture = cardFixture(app, { platform });
    const holders = await Promise.all(
      Array.from({ length: 5 }, () => limitedFixture.createCardholder()),
    );
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        limitedFixture.requestCard(holders[index % 5] as never),
      ),
    );
    const createdResponses = responses.filter(({ status }) => status === 201);
    expect(createdResponses).toHaveLength(7);
    const rejectedResponses = responses.filter(({ status }) => status !== 201);
    expect(rejectedResponses.map(codeOf)).toEqual(Array(23).fill([409, 'CARD_LIMIT_REACHED']));
    await app.settle();
    const [firstHolder] = holders;
    if (!firstHolder) throw new Error('No cardholder was created.');
    expect(codeOf(await limitedFixture.requestCard(firstHolder))).toEqual([
      409,
      'CARD_LIMIT_REACHED',
    ]);
    ok(await limitedFixture.patchCard(createdResponses[0]?.body.id, { state: 'CLOSED' }), 200);
    ok(await limitedFixture.requestCard(firstHolder), 201);
    expect(codeOf(await limitedFixture.requestCard(firstHolder))).toEqual([
      409,
      'CARD_LIMIT_REACHED',
    ]);
  });

  it('is counted for each cardholder and excludes rejected cards', async () => {
    const platform = await createLimitedPlatform({ maxLivePerHolder: 2 });
    const limitedFixture = cardFixture(app, { platform });
    const [firstHolder, secondHolder] = [
      await limitedFixture.createCardholder(),
      await limitedFixture.createCardholder(),
    ];
    const rejectedCard = await limitedFixture.createCard(firstHolder, {
      platformCardId: newCardName('002'),
    });
    expect(rejectedCard.state).toBe('CLOSED');
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => limitedFixture.requestCard(firstHolder)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(codeOf(await limitedFixture.requestCard(firstHolder))).toEqual([
      409,
      'CARD_LIMIT_REACHED',
    ]);
    ok(await limitedFixture.requestCard(secondHolder), 201);
  });

  it('applies immediately after a change by the operator, which closes no card', async () => {
    const platform = await createLimitedPlatform({ maxLive: 1 });
    const limitedFixture = cardFixture(app, { platform });
    const holder = await limitedFixture.createCardholder();
    const change = (maxLive: number) =>
      app.operate(async (ctx) => {
        const row = await ctx.read(platforms, platform.id);
        const card_program = { maxLive, maxLivePerHolder: 100, frameOrigins: [] };
        if (row) ctx.update(platforms, row, { card_program });
      }, platform);
    const firstCard = await limitedFixture.createCard(holder);
    expect((await limitedFixture.requestCard(holder)).status).toBe(409);
    await change(2);
    await limitedFixture.createCard(holder);
    await change(1);
    ok(await limitedFixture.patchCard(firstCard.id, { state: 'CLOSED' }), 200);
    expect((await limitedFixture.requestCard(holder)).status).toBe(409);
  });
});

describe('platformCardId', () => {
  it('is unique among open cards under concurrency', async () => {
    const holder = await fixture.createCardholder();
    const platformCardId = newCardName();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => fixture.requestCard(holder, { platformCardId })),
    );
    const createdResponses = responses.filter(({ status }) => status === 201);
    expect(createdResponses).toHaveLength(1);
    const rejectedResponses = responses.filter(({ status }) => status !== 201);
    expect(rejectedResponses.map(codeOf)).toEqual(Array(7).fill([409, 'CONFLICT']));
    await app.settle();
    ok(await fixture.patchCard(createdResponses[0]?.body.id, { state: 'CLOSED' }), 200);
    ok(await fixture.requestCard(holder, { platformCardId }), 201);
    const otherPlatformFixture = cardFixture(app, { platform: app.other });
    ok(
      await otherPlatformFixture.requestCard(await otherPlatformFixture.createCardholder(), {
        platformCardId,
      }),
      201,
    );
  });
});

describe('the issuer of the sandbox', () => {
  const readEmittedEvents = async (id: string) =>
    (await fixture.eventsOf('CARD.', id)).map(({ type, data }) => [
      type,
      data.state,
      data.stateReason,
    ]);

  it('does not respond for the suffix 001', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('001'),
    });
    await app.advance(3_600_000);
    expect((await fixture.readCard(id)).state).toBe('PROCESSING');
    expect(await readEmittedEvents(id)).toEqual([]);
  });

  it('rejects the card for the suffix 002 and releases its platformCardId', async () => {
    const platformCardId = newCardName('002');
    const holder = await fixture.createCardholder();
    const card = await fixture.createCard(holder, { platformCardId });
    expect(card).toMatchObject({ state: 'CLOSED', stateReason: 'ISSUER_REJECTED' });
    expect([card.last4, card.brand, card.issuerRef]).toEqual([undefined, undefined, undefined]);
    expect(card.fundingSources).toEqual([holder.accountId]);
    expect(await readEmittedEvents(card.id)).toEqual([
      ['CARD.STATE_CHANGE', 'CLOSED', 'ISSUER_REJECTED'],
    ]);
    expect((await fixture.createCard(holder, { platformCardId })).state).toBe('CLOSED');
  });

  it('issues the card after 30 seconds for the suffix 005', async () => {
    const { id, state } = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('005'),
    });
    expect(state).toBe('PROCESSING');
    await app.advance(29_000);
    expect((await fixture.readCard(id)).state).toBe('PROCESSING');
    await app.advance(2_000);
    expect((await fixture.readCard(id)).state).toBe('ACTIVE');
    expect(await readEmittedEvents(id)).toEqual([['CARD.STATE_CHANGE', 'ACTIVE', null]]);
  });
});

describe('an operation without an issuer', () => {
  it('returns 501', async () => {
    const platform = app.production;
    const { call, cardBody } = cardFixture(app, { platform });
    const body = cardBody({ customer: { id: 'Customer:x' }, accountId: 'InternalAccount:x' });
    for (const response of [
      await call('POST', '/cards', body),
      await call('GET', '/cards'),
      await call('GET', '/cards/Card:x'),
      await call('PATCH', '/cards/Card:x', { state: 'FROZEN' }),
    ]) {
      expect(codeOf(response)).toEqual([501, 'NOT_IMPLEMENTED']);
    }
  });
});
