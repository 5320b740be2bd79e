// An erasure checked against the whole database. The customer has a unique name, address and
// numbers. After the erasure, no column of any table contains one of these values.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { confirmCode, messagesTo, sendCode } from '../../../test/kit/customers/contacts.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { csvFile, importHarness } from '../../../test/kit/customers/imports.ts';
import { documentForm, pngFile } from '../../../test/kit/http/documents.ts';
import {
  emitBalances,
  findInternalAccounts,
} from '../../features/balances/internal-accounts/index.ts';
import { exportCustomerData, openCustomerData } from '../../features/customers/privacy/index.ts';
import { customers } from '../../features/customers/records/store.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { PERSONAL_DATA } from '../../personal-data.ts';
import { streamRows } from '../../runtime/db/stream.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { eventsFrom } from '../../runtime/operation/personal-data.ts';
import { writeNew } from '../cli/new-file.ts';
import type { System } from '../cli/verb.ts';

const PERSON = {
  region: 'DE',
  fullName: 'Zyxwina Quorbat',
  birthDate: '1931-02-27',
  email: 'zyxwina@quorbat.example',
  phoneNumber: '+4915177665544',
  platformCustomerId: 'quorbat-1',
  address: { line1: '77 Quorbat Mews', city: 'Qvillage', postalCode: 'Q-90210', country: 'DE' },
  idType: 'NON_US_TAX_ID',
  identifier: '65 929 970 489',
  countryOfIssuance: 'DE',
};
const PERSONAL_TEXTS = [
  'quorbat',
  'zyxwina',
  '1931-02-27',
  '4915177665544',
  '77 Quor',
  'Qvillage',
  'Q-90210',
  '65 929 970 489',
  '65929970489',
  'PASS-Z-4711',
  'Grace Hopper',
];

const app = testApp();

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

/** Columns that contain one of the texts in any row. */
async function tracesOf(texts: readonly string[]): Promise<string[]> {
  const columns = await app.runtime.db.query<{ name: string; column: string }>(
    `select c.table_name as name, c.column_name as column from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE'
        and data_type in ('text', 'json', 'jsonb', 'ARRAY')`,
    [],
  );
  const patterns = texts.map((each) => `%${each}%`);
  const matches: string[] = [];
  for (const { name, column } of columns) {
    const condition = `"${column}"::text ilike any($1::text[])`;
    const sql = `select 1 as found from "${name}" where ${condition} limit 1`;
    const rows = await app.runtime.db.query(sql, [patterns]);
    if (rows.length) matches.push(`${name}.${column}`);
  }
  return matches;
}

async function createPersonWithTraces() {
  const fixture = await importHarness(app);
  const umaAddress = `$zyxwina.quorbat@${fixture.domain}`;
  const body = { customerType: 'INDIVIDUAL', nationality: 'DE', ...PERSON, umaAddress };
  const person = ok(await app.call('POST', '/customers', body, withKey('key-1')), 201);
  // The request is rejected, because the UMA address is in use.
  await app.call('POST', '/customers', body, withKey('again'));
  for (const name of ['email', 'phone'] as const) {
    await sendCode(app, person.id, name);
    await app.settle();
    const code = (await messagesTo(app, person.id)).at(-1)?.text?.match(/\d{4,}/)?.[0];
    await confirmCode(app, person.id, name, code);
  }
  const redirectUri = 'https://app.example/done?name=quorbat';
  await app.call('POST', `/customers/${person.id}/kyc-link`, { redirectUri }, withKey('l'));
  const document = { documentHolder: person.id, documentType: 'PASSPORT', country: 'DE' };
  const details = { documentNumber: 'PASS-Z-4711', issuingAuthority: 'Quorbat Hall' };
  const form = documentForm({ ...document, ...details }, { bytes: pngFile(), name: 'quorbat.png' });
  ok(await app.call('POST', '/documents', form, withKey('d')), 201);
  await app.call('POST', '/verifications', { customerId: person.id }, withKey('v'));
  const account = await findInternalAccount(app, person.id, 'USD');
  await fundAccount(app, account.id, 50_00);
  const externalAccount = await createExternalAccount(app, person.id, 'USD');
  const quote = quoteBody(account.id, externalAccount.id, 50_00, {
    description: 'rent of Quorbat Mews',
  });
  const createdQuote = ok(await app.call('POST', '/quotes', quote, withKey('q')), 201);
  ok(await app.call('POST', `/quotes/${createdQuote.id}/execute`, undefined, withKey('x')), 200);
  await app.advance(60_000);
  return { fixture, person, umaAddress };
}

it('an erasure leaves no personal data in any column of any table', async () => {
  const { fixture, person, umaAddress } = await createPersonWithTraces();
  ok(
    await app.call(
      'POST',
      '/invitations',
      { inviterUma: umaAddress, firstName: 'Zyxwina' },
      withKey('i'),
    ),
    201,
  );
  const inviterUma = (await createCustomer(app)).umaAddress;
  const otherInvitation = ok(await app.call('POST', '/invitations', { inviterUma }), 201);
  const claimedReply = await app.call(
    'POST',
    `/invitations/${otherInvitation.code}/claim`,
    { inviteeUma: umaAddress },
    withKey('c'),
  );
  ok(claimedReply, 200);
  await app.call('GET', `/receiver/uma/${umaAddress}`, undefined, { platform: app.other });
  const job = await fixture.importFile(
    csvFile(
      fixture.personRow('quorbat-1', { umaAddress }),
      fixture.personRow('quorbat-1', { fullName: 'Zyxwina Quorbat', birthDate: 'Zyxwina' }),
      fixture.personRow('other-person'),
    ),
  );
  expect(job.errors.map((each: { correlationId: string }) => each.correlationId)).toEqual([
    'quorbat-1',
    'quorbat-1',
  ]);
  ok(await app.call('DELETE', `/customers/${person.id}`), 200);
  await app.settle();
  const stream: System['stream'] = (text, values) =>
    streamRows({ url: app.databaseUrl, statementTimeoutMs: 60_000 }, text, values);
  const deps = { stream, personalData: PERSONAL_DATA };
  const chunks: string[] = [];
  const opener = await openCustomerData(app.runtime, person.id);
  for await (const chunk of exportCustomerData(deps, opener)) chunks.push(chunk);
  const exportedData = JSON.parse(chunks.join(''));
  expect(exportedData.customers[0].personal.identifier).toBe(PERSON.identifier);
  const claimEvents = exportedData.events.filter(
    (each: { type: string }) => each.type === 'INVITATION.CLAIMED',
  );
  expect(claimEvents).toMatchObject([{ data: null }]); // The data is sealed for the inviting platform.
  const tracesBefore = await tracesOf(PERSONAL_TEXTS);
  expect(tracesBefore).toContain('import_errors.correlation_id');
  expect(tracesBefore).toContain('idempotency.reply');
  const { counts } = await erase(app.runtime, person.id, { actor: 'audit', reason: null });
  expect(counts).toMatchObject({ import_errors: 2, quotes: 1 });
  await app.settle();
  expect(await tracesOf(PERSONAL_TEXTS)).toEqual([]);
  const { errors } = await fixture.readImport(job.id);
  const correlationIds = errors.map((each: { correlationId: string }) => each.correlationId);
  expect(correlationIds).toEqual(['row_1', 'row_2']);
  const [importEvent] = await fixture.eventsOf(job.id);
  expect(importEvent?.data.errors[0].correlationId).toBe('erased');
  await expectBalancedBooks(app);
});

it('an interrupted export leaves no part of its file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'export-'));
  const file = path.join(folder, 'all.json');
  async function* brokenSource() {
    yield '{';
    throw new Error('no database');
  }
  await expect(writeNew(file, brokenSource())).rejects.toThrow('no database');
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

it('an erasure over several batches of events leaves other events unchanged', async () => {
  const { db } = app.runtime;
  const person = await createCustomer(app);
  const row = await db.read(customers, person.id);
  const firstEventIdPrefix = eventsFrom(row?.created_at as number);
  // More than one batch of events, before the first event of the customer.
  await db.query(
    `insert into events (id, platform_id, type, subject, data, created_at)
      select $1::text || '-' || lpad(n::text, 4, '0'), case n % 2 when 0 then $2 else $3 end, 'X', 'X', '{}',
        now() from generate_series(1, 4500) n`,
    [firstEventIdPrefix, app.platform.id, app.other.id],
  );
  ok(await app.call('DELETE', `/customers/${person.id}`), 200);
  await app.settle();
  const eventsSql = 'select data from events where subject = $1';
  const allEvents = await db.query(eventsSql, [person.id]);
  expect(allEvents.length).toBeGreaterThan(0);
  const { counts } = await erase(app.runtime, person.id, { actor: 'audit', reason: null });
  expect(counts.events).toBeGreaterThanOrEqual(allEvents.length);
  expect(new Set((await db.query(eventsSql, [person.id])).map((each) => each.data))).toEqual(
    new Set(['']),
  );
  const otherEvents = await db.query(`${eventsSql} and data = '{}'`, ['X']);
  expect(otherEvents).toHaveLength(4_500);
});

it('an erasure removes only the replies about resources of the customer', async () => {
  const readReplies = async () =>
    (
      await app.runtime.db.query<{ key: string }>(
        "select substring(id from '[^ ]+$') as key from idempotency order by 1",
        [],
      )
    ).map(({ key }) => key);
  const createPayment = async (name: string) => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    const body = quoteBody(account.id, payee.id, 1_000_00);
    const quote = ok(await app.call('POST', '/quotes', body, withKey(`${name}-quote`)), 201);
    const path = `/quotes/${quote.id}/execute`;
    ok(await app.call('POST', path, undefined, withKey(`${name}-execute`)), 200);
    await app.advance(7 * 60_000);
    return { person, account };
  };
  const { person, account } = await createPayment('erased');
  await createPayment('kept');
  const repliesBefore = await readReplies();
  const keys = ['erased-execute', 'erased-quote', 'kept-execute', 'kept-quote'];
  expect(repliesBefore).toEqual(expect.arrayContaining(keys));
  ok(await app.call('DELETE', `/customers/${person.id}`), 200);
  await app.settle();
  const { counts } = await erase(app.runtime, person.id, { actor: 'audit', reason: null });
  const repliesAfter = await readReplies();
  expect(repliesBefore.filter((key) => !repliesAfter.includes(key))).toEqual([
    'erased-execute',
    'erased-quote',
  ]);
  expect(counts.idempotency).toBeGreaterThanOrEqual(2);

  // A balance event of the account after the erasure does not refer to an erased event.
  const caller = systemCaller(app.platform.id, 'sandbox');
  await operate(app.runtime, caller, async (ctx) => {
    emitBalances(ctx, await findInternalAccounts(ctx.db, { id: account.id }));
  });
  const lastEvent = (await app.events()).findLast((each) => each.subject === account.id);
  expect(lastEvent?.data).toMatchObject({ id: account.id, type: 'INTERNAL_FIAT' });
});
