// Scenario of a card funded by a wallet: delegated key, payment, reveal of the number, and secrets
// in unexpected places. The three digits of a security code occur in longer texts by chance, so
// only isolated groups of three digits are searched.
import { expect } from 'vitest';
import { ok } from '../app/fixtures.ts';
import {
  type DelegatedFixture,
  delegatedFixture,
  type WalletCard,
} from '../cards/delegated-cards.ts';
import { databaseText, type Exchange, type SearchedText } from './search.ts';
import { randomPassword, type StrongAuthenticationHarness } from './second-factors.ts';

interface CardHarness
  extends Pick<StrongAuthenticationHarness, 'app' | 'platform' | 'secrets' | 'recordStoredData'> {
  searchedTexts: SearchedText[];
}

export const [NUMBERS, SIGNERS] = ['cards.secret', 'delegated_keys.signer'] as const;

/** Records the encrypted data of the card and its key, and the key itself. */
async function noteSealedValues(
  { app, secrets }: CardHarness,
  { card }: WalletCard,
  keyId: string,
) {
  const { db, vault } = app.runtime;
  const [sealedRow] = await db.query<{ number: string; signer: string }>(
    `select c.secret as number, k.signer from cards c join delegated_keys k on k.card_id = c.id
      where c.id = $1 and k.id = $2`,
    [card.id, keyId],
  );
  if (!sealedRow) throw new Error(`the card ${card.id} has no key ${keyId}`);
  secrets.note(`the encrypted value of ${NUMBERS}`, sealedRow.number, NUMBERS);
  secrets.note(`the encrypted value of ${SIGNERS}`, sealedRow.signer, SIGNERS);
  const scalar = vault.openOwn(sealedRow.signer, `sandbox signer of ${keyId}`);
  secrets.note('a private key of a card', scalar.toString('hex'));
}

/** Opens the page of a link. The page is recorded for the search unless it shows the card. */
async function openPage(
  { app, searchedTexts }: CardHarness,
  url: string,
  method: 'GET' | 'HEAD' | 'POST',
) {
  const { statusCode, headers, body } = await app.server.inject({ method, url });
  if (statusCode !== 200) {
    searchedTexts.push({
      name: 'a page without a card',
      text: `${JSON.stringify(headers)} ${body}`,
    });
  }
  return { statusCode, body };
}

/**
 * Creates two links to the card and opens one. Returns the number and the secrets of both links.
 */
async function readCard(harness: CardHarness, fixture: DelegatedFixture, cardId: string) {
  const { app, secrets } = harness;
  const links: string[] = [];
  for (const _ of [1, 2]) {
    const { panEmbedUrl } = ok(await fixture.call('POST', `/cards/${cardId}/reveal`), 200);
    const { pathname } = new URL(panEmbedUrl);
    secrets.note('the link to a card', pathname.split('/').at(-1) as string);
    links.push(pathname);
  }
  const [usedLink, unusedLink] = links as [string, string];
  expect((await openPage(harness, usedLink, 'HEAD')).statusCode).toBe(200);
  const { statusCode, body } = await openPage(harness, usedLink, 'GET');
  expect(statusCode).toBe(200);
  const groupedNumber =
    /<span class="code">(\d{4} \d{4} \d{4} \d{4})<\/span>/.exec(body)?.[1] ?? '';
  const number = secrets.note('the number of a card', groupedNumber.replaceAll(' ', ''));
  secrets.note('the number of a card', groupedNumber);
  secrets.note('the number of a card', number.slice(-12));
  for (const path of [usedLink, `${unusedLink}/x`, `/card/${number}`]) {
    expect((await openPage(harness, path, 'GET')).statusCode).toBe(404);
  }
  expect((await openPage(harness, unusedLink, 'POST')).statusCode).toBe(404);
  await harness.recordStoredData();
  app.effects.set(app.effects.now() + 6 * 60_000);
  expect((await openPage(harness, unusedLink, 'GET')).statusCode).toBe(404);
  return [number, groupedNumber, ...links.map((link) => link.split('/').at(-1) as string)];
}

/** Makes a payment that the key signs, and records the stamp of the payment. */
async function pay(
  { app, secrets }: CardHarness,
  fixture: DelegatedFixture,
  cardId: string,
): Promise<void> {
  const merchant = { descriptor: 'Corner shop' };
  const body = { amount: 12_34, currency: { code: 'USD' }, merchant };
  const path = `/sandbox/cards/${cardId}/simulate/authorization`;
  ok(await fixture.call('POST', path, body), 202);
  await app.settle();
  const signedRows = await app.runtime.db.query<{ stamp: string }>(
    "select stamp from wallet_authorizations where operation = 'cardPull'",
    [],
  );
  expect(signedRows).toHaveLength(1);
  for (const { stamp } of signedRows) secrets.note('a stamp', stamp, 'wallet_authorizations.stamp');
}

/** Sends the secret in unexpected places. Rejections must not repeat it. */
async function sendInUnexpectedPlaces(
  fixture: DelegatedFixture,
  walletCard: WalletCard,
  secret: string,
): Promise<void> {
  const encodedSecret = encodeURIComponent(secret);
  const invalidBody = fixture.cards.cardBody({ customer: { id: secret }, accountId: secret });
  const validBody = fixture.cards.cardBody({
    customer: { id: secret },
    accountId: walletCard.accountId,
  });
  const simulatePath = `/sandbox/cards/${walletCard.card.id}/simulate`;
  for (const [method, path, body] of [
    ['GET', `/cards/${encodedSecret}`],
    ['GET', `/cards?state=${encodedSecret}&cursor=${encodedSecret}`],
    ['POST', `/cards/${encodedSecret}/reveal`],
    ['POST', `/cards/${walletCard.card.id}/reveal/${encodedSecret}`],
    ['PATCH', `/cards/${walletCard.card.id}`, { state: secret }],
    ['PATCH', `/cards/${walletCard.card.id}`, { fundingSources: [secret] }],
    ['POST', '/cards', invalidBody],
    ['POST', '/cards', { ...validBody, threeDSecurePassword: secret }],
    ['POST', '/cards', { ...validBody, form: secret }],
    ['POST', `${simulatePath}/clearing`, { cardTransactionId: secret, amount: 1 }],
    ['POST', `${simulatePath}/${encodedSecret}`, {}],
    ['POST', '/auth/delegated-keys', fixture.keyBody({ ...walletCard, card: { id: secret } })],
    ['DELETE', `/auth/delegated-keys/${encodedSecret}`],
  ] as const) {
    const { status } = await fixture.call(method, path, body);
    expect([path, status >= 400 && status < 500]).toEqual([path, true]);
  }
}

export async function runCardScenario(harness: CardHarness): Promise<void> {
  const fixture = delegatedFixture(harness.app, { platform: harness.platform });
  const walletCard = await fixture.createWalletCard({ funds: 100_000_000 });
  const { id: keyId } = await fixture.createKey(walletCard);
  await noteSealedValues(harness, walletCard, keyId);
  await pay(harness, fixture, walletCard.card.id);
  const details = await readCard(harness, fixture, walletCard.card.id);
  const password = harness.secrets.note('a password of a card', randomPassword());
  for (const secret of [...details, password])
    await sendInUnexpectedPlaces(fixture, walletCard, secret);
}

/** All strings, numbers, booleans and nulls in a JSON value. */
const leavesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const CARD_TABLES = /^(cards|card_\w+|delegated_keys)\./;

/** Names of stored data, events and replies about cards that contain a number of exactly this length. */
export async function digitsAt(
  { app }: Pick<CardHarness, 'app'>,
  exchanges: readonly Exchange[],
  count: number,
): Promise<string[]> {
  const storedText = await databaseText((sql) => app.runtime.db.query(sql, []));
  const events = (await app.events()).filter((event) => event.type.startsWith('CARD'));
  const searchedTexts = [
    ...storedText
      .filter(({ name }) => CARD_TABLES.test(name))
      .map(({ name, text }) => ({ name, value: text.split('\n').map(jsonOf) })),
    ...events.map(({ type, data }) => ({ name: `the event ${type}`, value: data })),
    ...exchanges
      .filter(
        ({ name, response }) => response.status < 400 && /\/(cards|delegated-keys)/.test(name),
      )
      .map(({ name, response }) => ({ name: `the reply to ${name}`, value: response.body })),
  ];
  const hasDigitCount = (leaf: unknown) => new RegExp(`^\\d{${count}}$`).test(String(leaf));
  const leaks = searchedTexts.filter(({ value }) => leavesOf(value).some(hasDigitCount));
  return [...new Set(leaks.map(({ name }) => name))].sort();
}
