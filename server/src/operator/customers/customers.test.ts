// Rights of data subjects: search, export and erasure. Every table that names a customer is covered
// by the export and the erasure.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { documentForm, pngFile } from '../../../test/kit/http/documents.ts';
import { documents } from '../../features/customers/documents/store.ts';
import { PERSONAL_DATA } from '../../personal-data.ts';
import { streamRows } from '../../runtime/db/stream.ts';
import { files } from '../../runtime/files/files.ts';
import { createVault } from '../../runtime/security/vault.ts';
import { type Flags, parse } from '../cli/flags.ts';
import type { System } from '../cli/verb.ts';
import { ledgerVerbs } from '../money/ledger.ts';
import { customerVerbs } from './customers.ts';

const PERSONAL_TABLES = Object.assign({}, ...PERSONAL_DATA.map(({ tables }) => tables)) as Record<
  string,
  { erasure: unknown }
>;

const PERSON = {
  fullName: 'Quintessa Vandermolen',
  birthDate: '1971-03-04',
  email: 'quintessa@vandermolen.example',
  phoneNumber: '+4915123456789',
  idType: 'SSN',
  identifier: '512-34-7788',
};
const PERSONAL_TEXTS = [
  'uintessa',
  'andermolen',
  '4915123456789',
  '512-34-7788',
  'Hopper',
  'inner with',
  '203.0.113.77',
];

const BUSINESS_INFO = { country: 'US', incorporatedOn: '2015-05-05' };

const CONSENT = {
  acceptedAt: '2026-01-04T09:00:00Z',
  ipAddress: '203.0.113.77',
  termsVersion: 'V1',
  acceptanceMethod: 'CHECKBOX',
};

const OWNER = {
  firstName: 'Balthazar',
  lastName: 'Oduya',
  birthDate: '1980-01-01',
  nationality: 'NG',
  email: 'b.oduya@business.example',
  address: { line1: '1 Broad St', postalCode: '100221', country: 'NG' },
  idType: 'NON_US_TAX_ID',
  identifier: 'NG-777-888',
  countryOfIssuance: 'NG',
};

const app = testApp();
const folder = mkdtempSync(path.join(tmpdir(), 'customers-test-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** Replaces the vault of the server. */
let otherVault: Pick<System['runtime'], 'vault'> | undefined;

async function run(verb: string, ...argv: string[]) {
  const definition = [...customerVerbs, ...ledgerVerbs].find((each) => each.verb === verb);
  if (!definition) throw new Error(`no verb ${verb}`);
  const { args } = parse(definition.flags as Flags, definition.positional, argv);
  const stream: System['stream'] = (text, values) =>
    streamRows({ url: app.databaseUrl, statementTimeoutMs: 60_000 }, text, values);
  const runtime = { ...app.runtime, ...otherVault };
  const system = { runtime, files: app.files, stream } as unknown as System;
  return definition.run(system, args);
}

async function textOf(verb: string, ...argv: string[]): Promise<string> {
  const { chunks } = await run(verb, ...argv);
  let text = '';
  for await (const chunk of chunks ?? []) text += chunk;
  return text;
}

const exportOf = async (id: string) => JSON.parse(await textOf('export', id));

/** A person with an external account, a completed payment to it, and a document. */
async function createCustomerWithData(overrides: object = {}) {
  const person = await createCustomer(app, {}, { ...PERSON, ...overrides });
  const account = await findInternalAccount(app, person.id, 'USD');
  ok(
    await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: 50_00 }),
    200,
  );
  const externalAccount = await createExternalAccount(app, person.id, 'USD');
  const body = quoteBody(account.id, externalAccount.id, 50_00, {
    description: 'Dinner with Grace',
  });
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
  await app.advance(60_000);
  const document = {
    documentHolder: person.id,
    documentType: 'PASSPORT',
    country: 'DE',
    documentNumber: 'C01X00T47',
    issuingAuthority: 'Cologne',
  };
  const form = documentForm(document, { bytes: pngFile(), name: 'Vandermolen.png' });
  ok(await app.call('POST', '/documents', form), 201);
  return { person, account, externalAccount, quote };
}

async function createBusinessWithData() {
  const body = {
    customerType: 'BUSINESS',
    platformCustomerId: 'business-with-owners',
    businessInfo: { ...BUSINESS_INFO, legalName: 'Oduya Trading', taxId: '47-1234567' },
  };
  const company = ok(
    await app.call('POST', '/customers', body, { platform: app.unregulated }),
    201,
  );
  const ownerRequest = { customerId: company.id, roles: ['UBO'], ownershipPercentage: 60 };
  const owner = ok(
    await app.call(
      'POST',
      '/beneficial-owners',
      { ...ownerRequest, personalInfo: OWNER },
      { platform: app.unregulated },
    ),
    201,
  );
  return { company, owner };
}

const deleteCustomer = async (id: string, platform = app.platform) =>
  ok(await app.call('DELETE', `/customers/${id}`, undefined, { platform }), 200);

describe('customers find', () => {
  it('finds any spelling of e-mail, telephone and identity number, and returns IDs', async () => {
    const searchedPerson = {
      ...PERSON,
      email: 'Find.Me@Example.com',
      phoneNumber: '+447700900123',
    };
    const { id } = await createCustomer(app, {}, { ...searchedPerson, identifier: '512-34-7799' });
    for (const search of [
      ['--email', ' find.me@EXAMPLE.com'],
      ['--phone', '+44 7700 900-123'],
      ['--identifier', '512347799'],
    ]) {
      const { json, text } = await run('find', ...search);
      expect(json).toEqual([
        {
          customerId: id,
          platformId: app.platform.id,
          type: 'INDIVIDUAL',
          status: 'APPROVED',
          isDeleted: false,
          ownerId: null,
        },
      ]);
      expect(text).toContain(id);
      expect(text).not.toContain('Quintessa');
    }
    const otherPlatformFlags = ['--platform', app.other.id];
    expect((await run('find', '--identifier', '512 34 7799', ...otherPlatformFlags)).json).toEqual(
      [],
    );
    expect((await run('find', '--email', 'unknown@example.com')).json).toEqual([]);
    expect((await run('find', '--phone', 'none')).json).toEqual([]);
    otherVault = { vault: createVault(app.runtime.effects, () => Buffer.alloc(32, 8)) };
    await expect(run('find', '--email', 'a@example.com')).rejects.toThrow('another master key');
    otherVault = undefined;
    await expect(run('find')).rejects.toThrow(
      'Exactly one of --email, --phone, --identifier and --name',
    );
    await expect(run('find', '--email', 'a@b', '--phone', '1')).rejects.toThrow('Exactly one');
  });

  it('finds by changed data, and finds beneficial owners', async () => {
    const personWithoutWallet = { ...PERSON, email: 'before@example.com', currencies: ['USD'] };
    const { id } = await createCustomer(app, {}, personWithoutWallet);
    const change = { customerType: 'INDIVIDUAL', email: 'after@example.com' };
    ok(await app.call('PATCH', `/customers/${id}`, change), 200);
    expect((await run('find', '--email', 'before@example.com')).json).toEqual([]);
    const result = await run('find', '--email', 'after@example.com');
    expect(result.json).toMatchObject([{ customerId: id }]);
    const { company, owner } = await createBusinessWithData();
    const businesses = [{ customerId: company.id, ownerId: owner.id, type: 'BUSINESS' }];
    expect((await run('find', '--identifier', 'ng777888')).json).toMatchObject(businesses);
    const taxIdResult = await run('find', '--identifier', '471234567');
    expect(taxIdResult.json).toMatchObject([{ customerId: company.id, ownerId: null }]);
    const ownerChange = { personalInfo: { email: 'moved@business.example' } };
    const path = `/beneficial-owners/${owner.id}`;
    ok(await app.call('PATCH', path, ownerChange, { platform: app.unregulated }), 200);
    expect((await run('find', '--email', OWNER.email)).json).toEqual([]);
    expect((await run('find', '--email', 'moved@business.example')).json).toMatchObject(businesses);
  });
});

describe('customers export', () => {
  it('exports all data about one customer, decrypted, and no data of another', async () => {
    const { person, quote } = await createCustomerWithData();
    const { person: otherPerson } = await createFundedCustomer(app, 1);
    const text = await textOf('export', person.id);
    const exportedData = JSON.parse(text);
    expect(Object.keys(exportedData)).toEqual([...Object.keys(PERSONAL_TABLES), 'events']);
    expect(exportedData.customers[0]).toMatchObject({
      id: person.id,
      email: PERSON.email,
      personal: { details: { fullName: PERSON.fullName }, identifier: PERSON.identifier },
    });
    expect(exportedData.documents[0].personal.fileName).toBe('Vandermolen.png');
    expect(exportedData.transactions.at(-1)).toMatchObject({
      status: 'COMPLETED',
      quote_id: quote.id,
    });
    expect(exportedData.quotes).toMatchObject([{ id: quote.id, description: 'Dinner with Grace' }]);
    expect(exportedData.external_accounts[0].info.beneficiary.fullName).toBe('Grace Hopper');
    expect(exportedData.internal_accounts.length).toBeGreaterThan(1);
    const types = exportedData.events.map((each: { type: string }) => each.type);
    expect(types).toContain('CUSTOMER.KYC_APPROVED');
    expect(types).toContain('OUTGOING_PAYMENT.COMPLETED');
    expect(types).toContain('INTERNAL_ACCOUNT.BALANCE_UPDATED');
    expect(exportedData.events[0].data).toMatchObject({ fullName: PERSON.fullName });
    expect(text).not.toContain(otherPerson.id);
    for (const hiddenText of ['data_key', 'digest', 'secret_hash'])
      expect(text).not.toContain(hiddenText);
    await expect(run('export', 'Customer:unknown')).rejects.toThrow('Customer not found.');
  });

  it('writes a new file that only its owner can read, and documents into a folder', async () => {
    const { person } = await createCustomerWithData({ platformCustomerId: 'with-files' });
    const file = path.join(folder, 'all.json');
    const documents = path.join(folder, 'documents');
    const { json } = await run('export', person.id, '--to', file, '--files', documents);
    expect(json).toEqual({ customerId: person.id, to: file, files: 1 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(await exportOf(person.id));
    const [name] = readdirSync(documents);
    expect(name).toMatch(/^Document-.*\.png$/);
    expect(readFileSync(path.join(documents, name as string))).toEqual(pngFile());
    await expect(run('export', person.id, '--to', file)).rejects.toThrow('EEXIST');
    await expect(run('export', person.id, '--files', documents)).rejects.toThrow('--to');
  });
});

/** Columns that contain one of the texts in a row with one of the IDs, as table.column. */
async function tracesOf(texts: readonly string[], ids: readonly string[]): Promise<string[]> {
  const { db } = app.runtime;
  const columns = (await db.query(
    `select c.table_name as name, c.column_name as column from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE'
        and data_type in ('text', 'json') and table_name <> 'idempotency'`,
    [],
  )) as unknown as { name: string; column: string }[];
  const matches: string[] = [];
  for (const { name, column } of columns) {
    const rowText = `row_to_json(t)::text like any($2::text[])`;
    const condition = `"${column}"::text like any($1::text[])`;
    const sql = `select 1 from "${name}" t where ${condition} and ${rowText} limit 1`;
    const likePattern = (each: string) => `%${each}%`;
    const rows = await db.query(sql, [texts.map(likePattern), ids.map(likePattern)]);
    if (rows.length) matches.push(`${name}.${column}`);
  }
  return matches;
}

describe('customers erase', () => {
  it('rejects a customer that is not deleted, and a call without --yes', async () => {
    const { id } = await createCustomer(app, {}, PERSON);
    await expect(run('erase', id)).rejects.toThrow('--yes');
    await expect(run('erase', id, '--yes')).rejects.toThrow('not deleted');
    await expect(run('erase', 'Customer:unknown', '--yes')).rejects.toThrow('Customer not found.');
    expect(ok(await app.call('GET', `/customers/${id}`), 200).fullName).toBe(PERSON.fullName);
  });

  it('leaves no personal data and a balanced ledger', async () => {
    const domain = (await createCustomer(app)).umaAddress.split('@')[1];
    const { person, account, externalAccount, quote } = await createCustomerWithData({
      platformCustomerId: 'Vandermolen-1',
      umaAddress: `$quintessa.v@${domain}`,
      endUserTermsConsent: CONSENT,
    });
    const ids = [person.id, account.id, externalAccount.id, quote.id, quote.transactionId];
    const [document] = await app.runtime.db.find(documents, { customer_id: person.id });
    await deleteCustomer(person.id);
    expect((await tracesOf(PERSONAL_TEXTS, ids)).length).toBeGreaterThan(5);
    const { json } = await run(
      'erase',
      person.id,
      '--yes',
      '--by',
      'Dana',
      '--reason',
      'Request of the customer',
    );
    expect(json).toMatchObject({
      customerId: person.id,
      actor: 'Dana',
      counts: { external_accounts: 1, transactions: 2 },
      finishedAt: new Date(app.effects.now()).toISOString(),
    });
    await app.settle();
    expect(await tracesOf(PERSONAL_TEXTS, ids)).toEqual([]);
    await expectBalancedBooks(app);
    expect((await run('verify')).hasFailed).toBeFalsy();
    expect(await app.runtime.db.read(files, document?.file_id as string)).toBeUndefined();
  });

  it('leaves valid resources, and returns the same result when repeated', async () => {
    const { person, quote } = await createCustomerWithData({ platformCustomerId: 'Vandermolen-2' });
    await deleteCustomer(person.id);
    const firstResult = await run('erase', person.id, '--yes');
    await app.advance(60_000);
    expect(await run('erase', person.id, '--yes', '--by', 'Another')).toEqual(firstResult);
    const uuid = person.id.slice('Customer:'.length);
    const fetchedCustomer = ok(await app.call('GET', `/customers/${person.id}`), 200);
    expect(fetchedCustomer).toMatchObject({
      isDeleted: true,
      platformCustomerId: `erased-${uuid}`,
    });
    for (const field of ['fullName', 'email', 'phoneNumber', 'birthDate', 'address']) {
      expect(fetchedCustomer).not.toHaveProperty(field);
    }
    const list = await app.call('GET', '/customers?isIncludingDeleted=true&limit=100');
    expect(JSON.stringify(ok(list, 200))).toContain(person.id);
    const payment = ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
    expect(payment).toMatchObject({
      status: 'COMPLETED',
      customerId: person.id,
      platformCustomerId: `erased-${uuid}`,
      sentAmount: { amount: 50_00 },
    });
    expect(payment).not.toHaveProperty('description');
    const storedQuote = ok(await app.call('GET', `/quotes/${quote.id}`), 200);
    expect(storedQuote).toMatchObject({ status: 'COMPLETED', totalSendingAmount: 50_00 });
    const { customers, documents, events, transactions } = await exportOf(person.id);
    expect(customers[0].personal).toEqual({ details: {}, identifier: null });
    expect(documents).toEqual([]);
    expect(transactions).toHaveLength(2);
    const visibleEvents = events.filter((each: { data: unknown }) => each.data !== null);
    expect(new Set(visibleEvents.map((each: { type: string }) => each.type))).toEqual(
      new Set(['INTERNAL_ACCOUNT.BALANCE_UPDATED']),
    );
    for (const value of [PERSON.email, 'x']) {
      const matches = (await run('find', '--email', value)).json as { customerId: string }[];
      expect(matches.map((each) => each.customerId)).not.toContain(person.id);
    }
  });

  it('erases a business together with its beneficial owners', async () => {
    const body = {
      customerType: 'BUSINESS',
      platformCustomerId: 'business-to-erase',
      businessInfo: { ...BUSINESS_INFO, legalName: 'Gone Trading', taxId: '47-7654321' },
    };
    const platform = app.unregulated;
    const company = ok(await app.call('POST', '/customers', body, { platform }), 201);
    const ownerRequest = { customerId: company.id, roles: ['UBO'], ownershipPercentage: 60 };
    const requestWithInfo = { ...ownerRequest, personalInfo: OWNER };
    const owner = ok(
      await app.call('POST', '/beneficial-owners', requestWithInfo, { platform }),
      201,
    );
    await deleteCustomer(company.id, platform);
    await run('erase', company.id, '--yes');
    expect(await tracesOf(['Oduya', 'Balthazar', 'Gone Trading'], [company.id, owner.id])).toEqual(
      [],
    );
    const fetchedCustomer = ok(
      await app.call('GET', `/customers/${company.id}`, undefined, { platform }),
      200,
    );
    expect(fetchedCustomer.beneficialOwners).toMatchObject([{ personalInfo: { firstName: '' } }]);
    ok(await app.call('GET', `/beneficial-owners/${owner.id}`, undefined, { platform }), 200);
  });

  it('resumes an interrupted erasure', async () => {
    const { person } = await createCustomerWithData({ platformCustomerId: 'Vandermolen-3' });
    await deleteCustomer(person.id);
    await run('erase', person.id, '--yes');
    await app.runtime.db.query(
      'update erasures set finished_at = null, counts = $2 where id = $1',
      [person.id, '{}'],
    );
    await app.runtime.db.query("update events set data = '{}' where sealed_for = $1", [person.id]);
    const list = (await run('erasures')).json as object[];
    expect(list).toContainEqual(
      expect.objectContaining({ customerId: person.id, finishedAt: null }),
    );
    const { json } = await run('erase', person.id, '--yes');
    expect(json).toMatchObject({ counts: { transactions: 2 } });
    expect((json as { counts: { events: number } }).counts.events).toBeGreaterThan(1);
    const erasuresAfter = (await run('erasures', app.platform.id)).json as { customerId: string }[];
    expect(erasuresAfter.map((each) => each.customerId)).toContain(person.id);
    expect((await run('erasures', app.other.id)).json).toEqual([]);
  });
});

describe('personal data', () => {
  it('is defined for every table that names a customer', async () => {
    const tablesOfCustomers = (await app.runtime.db.query(
      `select distinct table_name as name from information_schema.columns
        where table_schema = 'public' and column_name in
          ('customer_id', 'receiver_customer_id', 'inviter_customer_id', 'sealed_for')`,
      [],
    )) as unknown as { name: string }[];
    const coveredTables = [...Object.keys(PERSONAL_TABLES), 'events'];
    expect(
      tablesOfCustomers.map(({ name }) => name).filter((name) => !coveredTables.includes(name)),
    ).toEqual([]);
  });

  it('is erased in each table that defines an erasure', async () => {
    const { id } = await createCustomer(app, {}, { ...PERSON, email: 'all@tables.example' });
    await deleteCustomer(id);
    const { json } = await run('erase', id, '--yes');
    const countNames = Object.keys((json as { counts: object }).counts);
    const erasedTables = Object.entries(PERSONAL_TABLES).filter(
      ([, { erasure }]) => typeof erasure === 'string',
    );
    const tablesWithTraces = ['codes', 'events', 'idempotency', 'import_errors'];
    expect(countNames.sort()).toEqual(
      [...erasedTables.map(([name]) => name), ...tablesWithTraces].sort(),
    );
  });
});
