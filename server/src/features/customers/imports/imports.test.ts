// Imports from the upload to the event: progress, result, and the handling of valid and invalid rows.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  csvFile,
  HEAD,
  type ImportHarness,
  importHarness,
  progress,
} from '../../../../test/kit/customers/imports.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { personalOf } from '../records/index.ts';
import { customers } from '../records/store.ts';

const app = testApp();
let harness: ImportHarness;

beforeAll(async () => {
  harness = await importHarness(app);
});

describe('uploadCustomersCsv', () => {
  it('registers individuals and businesses like POST /customers', async () => {
    const person = harness.personRow('p-1', { email: 'ada@example.com', description: 'x' });
    const body = await harness.importFile(`\uFEFF${csvFile(person, harness.businessRow('f-1'))}`);
    expect(body).toEqual({
      id: body.id,
      status: 'COMPLETED',
      progress: progress(2, 2, 0),
      completedAt: expect.any(String),
    });
    const [individual] = await harness.findByPlatformId('p-1');
    expect(individual).toMatchObject({
      customerType: 'INDIVIDUAL',
      kycStatus: 'APPROVED',
      fullName: 'Ada Lovelace',
      email: 'ada@example.com',
      umaAddress: `$p-1@${harness.domain}`,
      address: { line1: '1 Main St', city: 'Austin', state: 'TX' },
    });
    expect((await harness.eventsOf(individual.id)).map((each) => each.type)).toEqual([
      'CUSTOMER.KYC_APPROVED',
    ]);
    expect(
      await harness.countRows('internal_accounts where customer_id = $1', [individual.id]),
    ).toBeGreaterThan(0);
    const [business] = await harness.findByPlatformId('f-1');
    expect(business).toMatchObject({
      customerType: 'BUSINESS',
      businessInfo: { legalName: 'Engines Ltd', country: 'US' },
    });
    expect(business.businessInfo).not.toHaveProperty('taxId');
    expect(business.businessInfo).not.toHaveProperty('incorporatedOn');
    const events = await harness.eventsOf(body.id);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'BULK_UPLOAD.COMPLETED', data: body },
    ]);
  });

  it('supports test suffixes and UMA addresses without $', async () => {
    const { status } = await harness.importFile(
      csvFile(
        harness.personRow('p-2', { umaAddress: `p-2@${harness.domain}`, fullName: 'Ada 001' }),
        harness.personRow('p-3', { umaAddress: `P-3@${harness.domain.toUpperCase()}` }),
      ),
    );
    expect(status).toBe('COMPLETED');
    const response = await app.call('POST', '/customers', {
      customerType: 'INDIVIDUAL',
      fullName: 'Ada 001',
    });
    const [scriptedCustomer] = await harness.findByPlatformId('p-2');
    expect(scriptedCustomer.kycStatus).toBe(response.body.kycStatus);
    expect(scriptedCustomer.umaAddress).toBe(`$p-2@${harness.domain}`);
    expect((await harness.findByPlatformId('p-3'))[0].umaAddress).toBe(`$p-3@${harness.domain}`);
  });

  const germanRow = {
    ...{
      addressLine1: 'Heidestr. 17',
      city: 'Köln',
      state: '',
      postalCode: '51147',
      country: 'DE',
    },
    ...{ email: 'erika@example.com', phoneNumber: '+4915123456789', nationality: 'DE' },
    ...{ idType: 'NON_US_TAX_ID', identifier: '65 929 970 489', countryOfIssuance: 'DE' },
  };

  it('registers residents of other countries with a national number', async () => {
    const dubaiAddress = { city: 'Dubai', state: '', country: 'AE', nationality: 'AE' };
    const body = await harness.importFile(
      csvFile(
        harness.personRow('g-1', germanRow),
        harness.personRow('g-2', dubaiAddress),
        harness.personRow('g-3'),
      ),
    );
    expect(body.progress).toEqual(progress(3, 3, 0));
    const [germanCustomer] = await harness.findByPlatformId('g-1');
    expect(germanCustomer).toMatchObject({
      ...{ idType: 'NON_US_TAX_ID', countryOfIssuance: 'DE', nationality: 'DE' },
      ...{ email: 'erika@example.com', phoneNumber: '+4915123456789' },
      address: { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' },
    });
    const row = await app.runtime.db.read(customers, germanCustomer.id);
    expect(row && personalOf(app.runtime.vault, row).identifier).toBe('65 929 970 489');
    expect((await harness.findByPlatformId('g-2'))[0]).not.toHaveProperty('idType');
  });

  it('reports the columns of an invalid number without its value', async () => {
    const rows = [
      harness.personRow('w-1', { ...germanRow, identifier: '123-45-0489' }),
      harness.personRow('w-2', { ...germanRow, countryOfIssuance: '' }),
      harness.personRow('w-3', { ...germanRow, idType: 'EIN' }),
      harness.personRow('w-4', { ...germanRow, countryOfIssuance: 'US' }),
      harness.personRow('w-5', { ...germanRow, identifier: '' }),
      harness.personRow('w-6', { state: '' }),
    ];
    const body = await harness.importFile(csvFile(...rows));
    const fields = body.errors.map((each: { details: { errors: { field: string }[] } }) =>
      each.details.errors.map(({ field }) => field),
    );
    expect(fields).toEqual([
      ['identifier'],
      ['countryOfIssuance'],
      ['idType'],
      ['countryOfIssuance'],
      ['identifier'],
      ['state'],
    ]);
    expect(JSON.stringify([body, app.log])).not.toMatch(/45-?0489|970 ?489/);
  });

  it('reports every invalid column without personal data', async () => {
    const rows = [
      harness.personRow('n-1', {
        fullName: 'Secret_Name',
        birthDate: '15.01.1990',
        country: 'Texas',
      }),
      harness.personRow('n-2', { customerType: 'ROBOT' }),
      harness.personRow('', { umaAddress: '', city: '' }),
      harness.personRow('n-4', { umaAddress: '$n-4@elsewhere.example' }),
      harness.businessRow('n-5', { businessTaxId: 'nothing American', country: 'US' }),
      harness.personRow('n-6', { birthDate: '2999-01-01', email: 'not an address' }),
      `${harness.personRow('n-7')},more`,
      'Secret_Name" here,x',
      harness.personRow('n-9'),
      harness.personRow('n-9', { umaAddress: `$n-9b@${harness.domain}` }),
      harness.personRow('n-11', { umaAddress: `$N-9@${harness.domain}` }),
      harness.personRow('n-12', { birthDate: '2999-01-01' }),
    ];
    const body = await harness.importFile(csvFile(...rows));
    expect(body.status).toBe('COMPLETED');
    expect(body.progress).toEqual(progress(12, 1, 11));
    const summary = body.errors.map(
      (error: {
        correlationId: string;
        code: string;
        details: { errors?: { field: string }[] };
      }) => [
        error.correlationId,
        error.code,
        (error.details.errors ?? []).map(({ field }) => field).sort(),
      ],
    );
    expect(summary).toEqual([
      ['n-1', 'INVALID_INPUT', ['birthDate', 'country', 'fullName']],
      ['n-2', 'INVALID_INPUT', ['customerType']],
      ['row_3', 'INVALID_INPUT', ['city', 'platformCustomerId', 'umaAddress']],
      ['n-4', 'INVALID_UMA_ADDRESS', ['umaAddress']],
      ['n-5', 'INVALID_INPUT', ['businessTaxId']],
      ['n-6', 'INVALID_INPUT', ['birthDate', 'email']],
      ['row_7', 'INVALID_INPUT', ['row']],
      ['row_8', 'INVALID_INPUT', ['row']],
      ['n-9', 'CONFLICT', []],
      ['n-11', 'UMA_ADDRESS_EXISTS', []],
      ['n-12', 'INVALID_INPUT', ['birthDate']],
    ]);
    for (const each of body.errors) expect(each.reason).toBe(each.message);
    expect(await harness.findByPlatformId('n-9')).toHaveLength(1);
    const storedJson = JSON.stringify(
      await app.runtime.db.query('select * from import_errors where import_id = $1', [body.id]),
    );
    for (const value of ['Secret', '15.01', 'Texas', 'elsewhere', 'nothing Am', 'not an']) {
      expect(storedJson).not.toContain(value);
      expect(JSON.stringify(body)).not.toContain(value);
    }
  });

  it('registers no customer of a file that is rejected completely', async () => {
    const customerCount = await harness.countRows('customers');
    const body = await harness.importFile(
      csvFile(harness.personRow('w-1')).replace('city', 'town'),
    );
    expect(body).toMatchObject({
      status: 'FAILED',
      progress: progress(1, 0, 0),
      errors: [
        {
          correlationId: 'file',
          code: 'INVALID_INPUT',
          message: expect.stringContaining('city'),
          details: { errors: [{ field: 'city', message: 'is a required column' }] },
        },
      ],
    });
    const events = await harness.eventsOf(body.id);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'BULK_UPLOAD.FAILED', data: body },
    ]);
    const oversizedFile = `${HEAD}\n${`${harness.personRow('w-2')}\n`.repeat(50_001)}`;
    const oversizedImport = await harness.importFile(oversizedFile);
    expect([oversizedImport.status, oversizedImport.progress]).toEqual([
      'FAILED',
      progress(50_001, 0, 0),
    ]);
    expect(await harness.countRows('customers')).toBe(customerCount);
    expect(await harness.countRows("files where state <> 'GONE'")).toBe(0);
  });

  it('fails if no row succeeds, as for a repeated upload', async () => {
    const content = csvFile(harness.personRow('again-1'), harness.businessRow('again-2'));
    expect((await harness.importFile(content)).status).toBe('COMPLETED');
    const customerCount = await harness.countRows('customers');
    const repeatedImport = await harness.importFile(content);
    expect(repeatedImport.status).toBe('FAILED');
    expect(repeatedImport.progress).toEqual(progress(2, 0, 2));
    const codes = repeatedImport.errors.map((error: { correlationId: string; code: string }) => [
      error.correlationId,
      error.code,
    ]);
    expect(codes).toEqual([
      ['again-1', 'CONFLICT'],
      ['again-2', 'CONFLICT'],
    ]);
    expect(await harness.countRows('customers')).toBe(customerCount);
    const secondImport = await harness.importFile(
      csvFile(harness.personRow('again-1'), harness.personRow('again-3')),
    );
    expect([secondImport.status, secondImport.progress]).toEqual(['COMPLETED', progress(2, 1, 1)]);
  });

  it('creates one import for a repeated idempotency key', async () => {
    const key = { 'idempotency-key': 'upload-1' };
    const firstResponse = await harness.upload(
      csvFile(harness.personRow('k-1')),
      app.platform,
      key,
    );
    const secondResponse = await harness.upload(
      csvFile(harness.personRow('k-1')),
      app.platform,
      key,
    );
    expect(secondResponse.body).toEqual(firstResponse.body);
    await app.settle();
    expect((await harness.readImport(firstResponse.body.jobId)).status).toBe('COMPLETED');
  });

  it('rejects a request without a file', async () => {
    const body = { file: 'text' };
    expect((await app.call('POST', '/customers/bulk/csv', body)).status).toBe(400);
  });

  it('deletes the file and its key after the import', async () => {
    const id = await harness.startImport(csvFile(harness.personRow('gone-1')));
    const [row] = await app.runtime.db.query('select * from imports where id = $1', [id]);
    expect(row?.file_id).toMatch(/^File:/);
    expect(await harness.countRows('files where id = $1', [row?.file_id])).toBe(1);
    await app.settle();
    expect(await harness.countRows('files where id = $1', [row?.file_id])).toBe(0);
    const [importAfter] = await app.runtime.db.query('select * from imports where id = $1', [id]);
    expect([importAfter?.file_id, importAfter?.file_key]).toEqual([null, null]);
  });
});

describe('getBulkCustomerImportJob', () => {
  it('returns 404 for an import of another platform', async () => {
    const id = await harness.startImport(csvFile(harness.personRow('mine-1')));
    const otherResponse = await app.call('GET', `/customers/bulk/jobs/${id}`, undefined, {
      platform: app.other,
    });
    const unknownResponse = await app.call(
      'GET',
      `/customers/bulk/jobs/BulkCustomerImportJob:${uuid7(app.effects)}`,
    );
    for (const each of [otherResponse, unknownResponse]) {
      expect([each.status, each.body.code]).toEqual([404, 'BULK_UPLOAD_JOB_NOT_FOUND']);
    }
    await app.settle();
    const { umaDomain } = ok(
      await app.call('GET', '/config', undefined, { platform: app.other }),
      200,
    );
    const content = csvFile(harness.personRow('mine-1', { umaAddress: `$x-1@${umaDomain}` }));
    expect((await harness.importFile(content, app.other)).status).toBe('COMPLETED');
    expect(await harness.findByPlatformId('mine-1', app.other)).toHaveLength(1);
  });

  it('shows the progress after each slice', async () => {
    const rows = Array.from({ length: 1_100 }, (_, index) =>
      index % 1_000 === 999
        ? harness.personRow(`s-${index}`, { country: '??' })
        : harness.personRow(`s-${index}`),
    );
    const id = await harness.startImport(csvFile(...rows));
    expect(await harness.readImport(id)).toMatchObject({
      status: 'PENDING',
      progress: progress(1_100, 0, 0),
    });
    await app.worker.runDue();
    const importInProgress = await harness.readImport(id);
    expect(importInProgress).toMatchObject({
      status: 'PROCESSING',
      progress: progress(1_100, 1_023, 1),
    });
    expect(importInProgress.errors).toHaveLength(1);
    expect(importInProgress).not.toHaveProperty('completedAt');
    await app.settle();
    expect(await harness.readImport(id)).toMatchObject({
      status: 'COMPLETED',
      progress: progress(1_100, 1_099, 1),
    });
  }, 60_000);

  it('limits errors to the first thousand in replies and events', async () => {
    const rows = Array.from({ length: 1_200 }, (_, index) =>
      harness.personRow(`e-${index}`, { country: '??' }),
    );
    const body = await harness.importFile(csvFile(...rows));
    expect(body.progress).toEqual(progress(1_200, 0, 1_200));
    expect(body.errors).toHaveLength(1_000);
    expect(body.errors[999].correlationId).toBe('e-999');
    expect((await harness.eventsOf(body.id))[0]?.data).toEqual(body);
    expect(await harness.countRows('import_errors where import_id = $1', [body.id])).toBe(1_200);
  });
});
