// Search: by identifiers, references, personal data and suffixes, limited to the rights of the
// operator.
import { afterEach, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';
import { ownerHarness } from '../../../test/kit/customers/owners.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { Fault } from '../../kernel/fault.ts';
import { newId } from '../../kernel/id.ts';
import { hitsById } from './search-by-id.ts';
import type { Hit } from './search-hits.ts';

const app = testApp();
const client = operatorClient(app);
const owners = ownerHarness(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

async function search(query: string, options: { path?: string; secret?: string } = {}) {
  const { path = '/search', ...clientOptions } = options;
  const reply = ok(await client.call('POST', path, { body: { query }, ...clientOptions }), 200);
  return reply.data as Hit[];
}

const searchFor = async (query: string) =>
  (await search(query)).map(({ id, matchedBy }) => `${matchedBy} ${id}`);

describe('search by identifiers', () => {
  it('finds resources by ID, UUID and reference', async () => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    const body = quoteBody(account.id, payee.id, 10_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    const { data: events } = ok(
      await app.call('GET', `/events?resourceId=${quote.transactionId}`),
      200,
    );
    for (const [kind, id, customerId] of [
      ['CUSTOMER', person.id, person.id],
      ['PAYMENT', quote.transactionId, person.id],
      ['QUOTE', quote.id, person.id],
      ['INTERNAL_ACCOUNT', account.id, person.id],
      ['EXTERNAL_ACCOUNT', payee.id, person.id],
      ['EVENT', events[0].id, null],
      ['PLATFORM', app.platform.id, null],
    ]) {
      const hits = await search(` ${id} `);
      expect(hits).toMatchObject([{ kind, id, customerId, matchedBy: 'ID' }]);
      expect(hits[0]?.platformId).toBe(app.platform.id);
      expect(await search(id.slice(id.indexOf(':') + 1).toUpperCase())).toEqual(hits);
    }
    const { reconciliationInstructions } = ok(
      await app.call('GET', `/transactions/${quote.transactionId}`),
      200,
    );
    const { reference } = reconciliationInstructions;
    const expectedHits = [`REFERENCE ${quote.transactionId}`];
    expect(await searchFor(reference)).toEqual(expectedHits);
    expect(await searchFor(reference.toLowerCase())).toEqual(expectedHits);
    expect(await search('Customer:01890000-0000-7000-8000-000000000000')).toEqual([]);
  });

  it.each(['Card', 'Agent'])(
    'returns SERVICE_UNAVAILABLE for %s IDs while the database is unavailable',
    async (resource) => {
      const unavailableFault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');
      const { db, effects } = app.runtime;
      const read = () => Promise.reject(unavailableFault);
      const runtime = { ...app.runtime, db: { ...db, read } };
      await expect(hitsById(runtime, newId(effects, resource))).rejects.toBe(unavailableFault);
    },
  );

  it('finds a payment by the end-to-end ID that banks show', async () => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 10_00)),
      201,
    );
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    const { reconciliationInstructions } = ok(
      await app.call('GET', `/transactions/${quote.transactionId}`),
      200,
    );
    const { reference: endToEndId } = reconciliationInstructions;
    expect(endToEndId).toMatch(/^RH[0-9A-F]{32}$/);
    const match = [`REFERENCE ${quote.transactionId}`];
    // Banks print the ID in groups. The ID of a refund begins with RF.
    const groups = endToEndId.match(/.{1,4}/g) as string[];
    for (const text of [groups.join(' '), groups.join('-'), endToEndId.replace('RH', 'RF')]) {
      expect(await searchFor(text)).toEqual(match);
    }
    expect(await searchFor(endToEndId.slice(0, -1))).toEqual([]);
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    expect(await search(endToEndId, { secret })).toEqual([]);
  });

  it('finds customers of all platforms by platformCustomerId', async () => {
    const platformCustomerId = 'order-form 17/b';
    const ownCustomer = await createCustomer(app, {}, { platformCustomerId });
    const otherCustomer = await createCustomer(
      app,
      { platform: app.other },
      { platformCustomerId },
    );
    expect(new Set(await searchFor(platformCustomerId))).toEqual(
      new Set([ownCustomer, otherCustomer].map(({ id }) => `PLATFORM_CUSTOMER_ID ${id}`)),
    );
    const filteredHits = await search(platformCustomerId, {
      path: `/search?platformId=${app.other.id}`,
    });
    expect(filteredHits.map(({ id }) => id)).toEqual([otherCustomer.id]);
    expect(await searchFor('order-form 17')).toEqual([]);
  });

  it('finds external accounts by the full name of their beneficiary until the deletion', async () => {
    const { person } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    const { beneficiary } = payee.accountInfo;
    const hit = `BENEFICIARY_NAME ${payee.id}`;
    const name = ` ${beneficiary.fullName.toLowerCase().replace(' ', '  ')} `;
    expect(await searchFor(name)).toContain(hit);
    expect(await searchFor(beneficiary.fullName.slice(0, -1))).not.toContain(hit);
    await app.call('DELETE', `/customers/external-accounts/${payee.id}`);
    expect(await searchFor(beneficiary.fullName)).not.toContain(hit);
  });

  it('finds cards and accounts by their last characters', async () => {
    const cards = cardFixture(app);
    const card = await cards.createCard(await cards.createCardholder());
    const hits = await search(card.last4);
    expect(hits).toContainEqual(
      expect.objectContaining({ kind: 'CARD', id: card.id, matchedBy: 'CARD_NUMBER' }),
    );
    const { person } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'EUR');
    const { iban } = payee.accountInfo;
    const match = `ACCOUNT_NUMBER ${payee.id}`;
    expect(await searchFor(iban.slice(-4))).toContain(match);
    expect(await searchFor(iban)).toEqual([match]);
    expect(await searchFor(`DE00 ${iban.slice(-8)}`)).not.toContain(match);
  });
});

describe('search by personal data', () => {
  it('finds customers and owners regardless of case, accents and punctuation', async () => {
    const overrides = {
      ...{ fullName: 'Zoë Łukasiewicz-O’Neill', email: 'zoe@search.example' },
      ...{ phoneNumber: '+447700900777' },
    };
    const { id } = await createCustomer(app, {}, overrides);
    const { id: otherCustomerId } = await createCustomer(
      app,
      {},
      { fullName: 'Zoe Maria Oneill Lukasiewicz' },
    );
    const fullNameHit = `FULL_NAME ${id}`;
    expect(await searchFor(' zoe  LUKASIEWICZ ONEILL')).toEqual([
      fullNameHit,
      `WORDS_OF_NAME ${otherCustomerId}`,
    ]);
    expect(await searchFor('Łukasiewicz')).toEqual(
      [`WORDS_OF_NAME ${id}`, `WORDS_OF_NAME ${otherCustomerId}`].sort(),
    );
    expect(await searchFor('Lukasiew')).toEqual([]);
    expect(await searchFor('ZOE@search.example')).toEqual([`EMAIL ${id}`]);
    expect(await searchFor('+44 7700 900-777')).toEqual([`PHONE ${id}`]);
    const hits = await search('zoe@search.example');
    expect(JSON.stringify(hits)).not.toMatch(/zoë|lukas/i);

    const owner = await owners.create({}, { firstName: 'Ottoline', lastName: 'Vanterpool' });
    expect(await searchFor('vanterpool ottoline')).toEqual([`WORDS_OF_NAME ${owner.id}`]);
    expect(await searchFor('Ottoline Vanterpool')).toEqual([`FULL_NAME ${owner.id}`]);
  });

  it('reflects changes and erasures', async () => {
    const { id } = await createCustomer(app, {}, { fullName: 'Perpetua Wrigglesworth' });
    const change = { customerType: 'INDIVIDUAL', fullName: 'Perpetua Fotheringay' };
    ok(await app.call('PATCH', `/customers/${id}`, change), 200);
    expect(await search('Wrigglesworth')).toEqual([]);
    expect(await searchFor('Fotheringay')).toEqual([`WORDS_OF_NAME ${id}`]);
    ok(await app.call('DELETE', `/customers/${id}`), 200);
    const body = { confirm: 'ERASE', reason: 'Request' };
    ok(await client.call('POST', `/customers/${id}/erasure`, { body }), 200);
    expect(await search('Fotheringay')).toEqual([]);
    const [row] = await app.runtime.db.query<{ n: unknown }>(
      'select name_digests as n from customers where id = $1',
      [id],
    );
    expect(row?.n).toBeNull();
  });

  it('indexes rows that an earlier version stored', async () => {
    const { id } = await createCustomer(app, {}, { fullName: 'Hephzibah Quillfeather' });
    const { id: ownerId } = await owners.create(
      {},
      { firstName: 'Barnaby', lastName: 'Quillfeather' },
    );
    const { db } = app.runtime;
    await db.query('update customers set name_digests = null where $1', [true]);
    await db.query('update beneficial_owners set name_digests = null where $1', [true]);
    expect(await search('Quillfeather')).toEqual([]);
    await app.advance(120_000);
    expect((await searchFor('Quillfeather')).sort()).toEqual(
      [`WORDS_OF_NAME ${id}`, `WORDS_OF_NAME ${ownerId}`].sort(),
    );
    const unindexedSql =
      'select 1 from customers where name_digests is null and data_key is not null';
    expect(await db.query(unindexedSql, [])).toEqual([]);
  });
});

describe('search', () => {
  it('omits other platforms, and records each search without its text', async () => {
    const { id } = await createCustomer(app, {}, { fullName: 'Sophronia Blatherwick' });
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    expect(await search(id, { secret })).toEqual([]);
    expect(await search('Blatherwick', { secret })).toEqual([]);
    expect(await search('Blatherwick', { path: `/search?platformId=${app.other.id}` })).toEqual([]);
    expect(await search('Blatherwick')).toHaveLength(1);
    const records = await client.recordsOf('searchResources');
    expect(records.length).toBeGreaterThan(2);
    expect(JSON.stringify(records)).not.toContain('Blatherwick');
  });

  it('returns at most fifty hits', async () => {
    for (let n = 0; n < 51; n++)
      await createCustomer(app, {}, { fullName: `Crowd Member${n % 2}` });
    const body = { query: 'crowd' };
    const reply = ok(await client.call('POST', '/search', { body }), 200);
    expect([reply.data.length, reply.hasMore]).toEqual([50, true]);
  });
});
