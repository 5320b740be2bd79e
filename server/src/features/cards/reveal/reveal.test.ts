// Access to a card number: permission to create a link, single use of a link, its page, and the
// record of each view.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type CardFixture,
  type Cardholder,
  cardFixture,
  newCardName,
} from '../../../../test/kit/cards/cards.ts';
import { luhnSum } from '../../../connectors/sandbox/cards/card-numbers.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { platforms } from '../../tenancy/platform/store.ts';
import { cardReveals, cards } from '../store.ts';

const MINUTE_MS = 60_000;
const SHOP = 'https://shop.example';

const app = testApp();
let fixture: CardFixture;
let holder: Cardholder;
beforeAll(async () => {
  fixture = cardFixture(app);
  holder = await fixture.createCardholder();
  await app.operate(async (ctx) => {
    const row = await ctx.read(platforms, app.platform.id);
    if (!row) throw new Error(`The platform ${app.platform.id} does not exist.`);
    const card_program = { maxLive: 1_000, maxLivePerHolder: 1_000, frameOrigins: [SHOP] };
    ctx.update(platforms, row, { card_program });
  });
});

const createCard = () => fixture.createCard(holder);
const reveal = (cardId: string, platform?: { clientId: string; clientSecret: string }) =>
  app.call('POST', `/cards/${cardId}/reveal`, undefined, platform && { platform });

/** The path of a new link to a card. */
async function createLinkPath(cardId: string): Promise<string> {
  const { panEmbedUrl } = ok(await reveal(cardId), 200);
  return new URL(panEmbedUrl).pathname;
}

const requestPage = (url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', headers = {}) =>
  app.server.inject({ method, url, headers });

const hashOf = (path: string) => sha256Hex(path.split('/').at(-1) as string);
const rowOf = async (path: string) => app.runtime.db.read(cardReveals, hashOf(path));

/** The card data that a page contains. Empty for any other page. */
function cardDataOf(body: string) {
  const fields = [...body.matchAll(/<dt>([^<]*)<\/dt>\n<dd><span class="code">([^<]*)<\/span>/g)];
  return Object.fromEntries(fields.map(([, label, value]) => [label, value]));
}

const ENDED_TITLE = 'This link no longer works';

describe('revealCard', () => {
  it('returns a link that shows number, expiry and code for five minutes', async () => {
    const { id, last4, expMonth, expYear } = await createCard();
    const requestedReveal = ok(await reveal(id), 200);
    expect(Object.keys(requestedReveal).sort()).toEqual(['expiresAt', 'panEmbedUrl']);
    expect(Date.parse(requestedReveal.expiresAt) - app.effects.now()).toBe(5 * MINUTE_MS);
    const { statusCode, body } = await requestPage(new URL(requestedReveal.panEmbedUrl).pathname);
    expect(statusCode).toBe(200);
    const { 'Card number': number, ...rest } = cardDataOf(body);
    expect(number).toMatch(/^\d{4}( \d{4}){3}$/);
    expect(number?.slice(-4)).toBe(last4);
    expect(luhnSum(number?.replaceAll(' ', '') ?? '1') % 10).toBe(0);
    const month = String(expMonth).padStart(2, '0');
    expect(rest).toEqual({
      'Valid until': `${month}/${String(expYear).slice(2)}`,
      'Security code': expect.stringMatching(/^\d{3}$/),
    });
  });

  it('returns a new link each time, even for one idempotency key, and each can be opened once', async () => {
    const { id } = await createCard();
    const headers = { 'idempotency-key': 'one-key' };
    const requestReveal = () => app.call('POST', `/cards/${id}/reveal`, undefined, { headers });
    const links = [ok(await requestReveal(), 200), ok(await requestReveal(), 200)].map(
      (each) => each.panEmbedUrl,
    );
    expect(links[0]).not.toBe(links[1]);
    const [firstPath, secondPath] = links.map((each) => new URL(each).pathname) as [string, string];
    const cardData = cardDataOf((await requestPage(secondPath)).body);
    expect(cardData).toEqual(cardDataOf((await requestPage(firstPath)).body));
    expect(cardData['Card number']).toBeDefined();
    for (const each of [firstPath, secondPath])
      expect((await requestPage(each)).body).toContain(ENDED_TITLE);
    const keys = await app.runtime.db.query(
      "select 1 from idempotency where id like '%one-key%' or id like '%reveal%'",
      [],
    );
    expect(keys).toEqual([]);
  });

  it('shows the same number of a card each time, and different numbers of different cards', async () => {
    const [firstCard, secondCard] = [await createCard(), await createCard()];
    const numbers = [];
    for (const { id } of [firstCard, firstCard, secondCard]) {
      numbers.push(cardDataOf((await requestPage(await createLinkPath(id))).body)['Card number']);
    }
    expect(numbers[0]).toBe(numbers[1]);
    expect(numbers[0]).not.toBe(numbers[2]);
  });

  it('requires a token with MANAGE, and an issuer', async () => {
    const { id } = await createCard();
    for (const permission of ['VIEW', 'TRANSACT'] as const) {
      const { status, body } = await reveal(id, await app.tokenWith([permission]));
      expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
    }
    expect((await reveal(id, app.production)).status).toBe(501);
    expect(await reveal(id, app.other)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    const managerToken = await app.tokenWith(['MANAGE']);
    ok(await reveal(id, managerToken), 200);
    const agentOptions = { platform: null, headers: { authorization: 'Bearer gat_x' } };
    const agentResponse = await app.call('POST', `/cards/${id}/reveal`, undefined, agentOptions);
    expect(agentResponse.status).toBe(401);
  });

  it('is rejected for a card that is not issued or is closed, and accepted for a frozen card', async () => {
    const processingCard = await fixture.createCard(holder, { platformCardId: newCardName('001') });
    expect(processingCard.state).toBe('PROCESSING');
    const rejectedCard = await fixture.createCard(holder, { platformCardId: newCardName('002') });
    expect(rejectedCard.state).toBe('CLOSED');
    const closedCard = await createCard();
    ok(await fixture.patchCard(closedCard.id, { state: 'CLOSED' }), 200);
    expect((await app.runtime.db.read(cards, closedCard.id))?.secret).toBeNull();
    for (const { id } of [processingCard, rejectedCard, closedCard]) {
      expect(await reveal(id)).toMatchObject({
        status: 404,
        body: {
          code: 'NOT_FOUND',
          reason: 'The card has no number to show. It must be ACTIVE or FROZEN.',
        },
      });
    }
    const frozenCard = await createCard();
    ok(await fixture.patchCard(frozenCard.id, { state: 'FROZEN' }), 200);
    expect(
      cardDataOf((await requestPage(await createLinkPath(frozenCard.id))).body),
    ).toHaveProperty('Card number');
  });
});

describe('the card details page', () => {
  it('is shown once if opened concurrently', async () => {
    const path = await createLinkPath((await createCard()).id);
    const responses = await Promise.all(Array.from({ length: 12 }, () => requestPage(path)));
    expect(responses.filter((each) => each.statusCode === 200)).toHaveLength(1);
    expect(responses.filter((each) => cardDataOf(each.body)['Card number'])).toHaveLength(1);
    expect(responses.filter((each) => each.statusCode === 404)).toHaveLength(11);
  });

  it('is not consumed by a request that shows no details', async () => {
    const path = await createLinkPath((await createCard()).id);
    const headResponse = await requestPage(path, 'HEAD');
    expect([headResponse.statusCode, headResponse.body]).toEqual([200, '']);
    expect((await requestPage(path, 'POST')).statusCode).toBe(404);
    for (const headers of [{ 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }]) {
      const prefetchResponse = await requestPage(path, 'GET', headers);
      expect([prefetchResponse.statusCode, cardDataOf(prefetchResponse.body)]).toEqual([503, {}]);
    }
    expect((await rowOf(path))?.opened_at).toBeNull();
    const { statusCode, headers } = await requestPage(path);
    expect(statusCode).toBe(200);
    for (const name of ['content-type', 'content-security-policy', 'cache-control']) {
      expect(headResponse.headers[name]).toBe(headers[name]);
    }
    expect((await requestPage(path, 'HEAD')).statusCode).toBe(404);
  });

  it('expires after five minutes or with its card, and is rejected if unknown', async () => {
    const { id } = await createCard();
    const [expiredPath, validPath] = [await createLinkPath(id), await createLinkPath(id)];
    app.effects.set(app.effects.now() + 5 * MINUTE_MS - 1);
    expect((await requestPage(validPath)).statusCode).toBe(200);
    app.effects.set(app.effects.now() + 1);
    const closedCardPath = await createLinkPath(id);
    ok(await fixture.patchCard(id, { state: 'CLOSED' }), 200);
    for (const path of [
      expiredPath,
      closedCardPath,
      '/card/unknown',
      '/card/%00',
      `/card/${'e'.repeat(200)}`,
    ]) {
      const { statusCode, body } = await requestPage(path);
      expect([path, statusCode]).toEqual([path, 404]);
      expect(body).toContain(ENDED_TITLE);
      expect((await requestPage(path, 'HEAD')).statusCode).toBe(404);
    }
    expect((await rowOf(expiredPath))?.opened_at).toBeNull();
  });

  it('is rejected after the holder was deleted, before a job has closed the card', async () => {
    const deletedHolder = await fixture.createCardholder();
    const { id } = await fixture.createCard(deletedHolder);
    const path = await createLinkPath(id);
    ok(await app.call('DELETE', `/customers/${deletedHolder.customer.id}`), 200);
    expect((await requestPage(path)).statusCode).toBe(404);
    expect((await rowOf(path))?.opened_at).toBeNull();
    expect((await reveal(id)).status).toBe(404);
  });

  it('can be framed by the configured origins, even after it was opened', async () => {
    const path = await createLinkPath((await createCard()).id);
    for (const status of [200, 404]) {
      const { statusCode, headers } = await requestPage(path);
      expect(statusCode).toBe(status);
      expect(headers['x-frame-options']).toBeUndefined();
      expect(headers['content-security-policy']).toContain(`frame-ancestors ${SHOP}`);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      const policy = headers['content-security-policy'] as string;
      expect(policy.includes('sandbox')).toBe(status === 200);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      });
    }
  });

  it('cannot be framed without an allowed origin, or with an unknown link', async () => {
    const unregulatedFixture = cardFixture(app, { platform: app.unregulated });
    const sql = 'update customers set status = $2, version = version + 1 where id = $1';
    const cardholder = await unregulatedFixture.createCardholder();
    await app.runtime.db.query(sql, [cardholder.customer.id, 'APPROVED']);
    const { id } = await unregulatedFixture.createCard(cardholder);
    const { panEmbedUrl } = ok(await reveal(id, app.unregulated), 200);
    for (const path of [new URL(panEmbedUrl).pathname, '/card/unknown']) {
      const { headers } = await requestPage(path);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-frame-options']).toBe('DENY');
    }
  });

  it('keeps the link valid if the issuer cannot show the card, and logs the ID of the card', async () => {
    const { id } = await createCard();
    const path = await createLinkPath(id);
    const row = await app.runtime.db.read(cards, id);
    const setCardSecret = (secret: string | null | undefined) =>
      app.runtime.db.query('update cards set secret = $2, version = version + 1 where id = $1', [
        id,
        secret,
      ]);
    await setCardSecret('s1.damaged');
    const { statusCode, body } = await requestPage(path);
    expect(statusCode).toBe(503);
    expect(body).toContain('the link remains valid');
    expect((await rowOf(path))?.opened_at).toBeNull();
    const lines = app.log.filter((line) => line.includes(`the issuer did not show ${id}`));
    expect(lines).toHaveLength(1);
    await setCardSecret(row?.secret);
    expect(cardDataOf((await requestPage(path)).body)).toHaveProperty('Card number');
    expect((await requestPage(path)).statusCode).toBe(404);
  });
});

describe('a reveal', () => {
  const readReveals = (cardId: string) => app.runtime.db.find(cardReveals, { card_id: cardId });

  it('is recorded permanently with the token and the time of the view', async () => {
    const { id } = await createCard();
    const token = await app.tokenWith(['MANAGE']);
    const requestedTime = app.effects.now();
    const path = new URL(ok(await reveal(id, token), 200).panEmbedUrl).pathname;
    app.effects.set(requestedTime + MINUTE_MS);
    await requestPage(path);
    app.effects.set(requestedTime + 2 * MINUTE_MS);
    await requestPage(path);
    const unusedPath = await createLinkPath(id);
    await app.advance(40 * 24 * 60 * MINUTE_MS);
    const cardReveal = await app.runtime.db.read(cardReveals, hashOf(path));
    const { body }: ApiResponse = await app.call('GET', '/tokens?limit=100');
    const { id: actor } = body.data.find(
      (each: { clientId: string }) => each.clientId === token.clientId,
    );
    expect(cardReveal).toMatchObject({
      card_id: id,
      platform_id: app.platform.id,
      customer_id: holder.customer.id,
      actor,
      created_at: requestedTime,
      opened_at: requestedTime + MINUTE_MS,
      expires_at: requestedTime + 5 * MINUTE_MS,
    });
    expect((await rowOf(unusedPath))?.opened_at).toBeNull();
    expect(await readReveals(id)).toHaveLength(2);
  });

  it('causes no event and no log line with number or link', async () => {
    const { id } = await createCard();
    const eventCountBefore = (await app.events()).length;
    const path = await createLinkPath(id);
    const { 'Card number': number = '' } = cardDataOf((await requestPage(path)).body);
    await requestPage(path);
    await app.settle();
    expect((await app.events()).length).toBe(eventCountBefore);
    const log = app.log.join('');
    for (const text of [number, number.replaceAll(' ', ''), path.split('/').at(-1) as string]) {
      expect(text.length).toBeGreaterThan(12);
      expect(log).not.toContain(text);
    }
  });
});
