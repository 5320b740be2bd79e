// Imports from the upload to the event: what a platform sees of one while it runs and afterwards, and what
// becomes of good rows and of bad ones.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  file,
  HEAD,
  type ImportDesk,
  importDesk,
  progress,
} from '../../../../test/kit/customers/imports.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { personalOf } from '../records/index.ts';
import { customers } from '../records/store.ts';

const app = testApp();
let desk: ImportDesk;

beforeAll(async () => {
  desk = await importDesk(app);
});

describe('uploadCustomersCsv', () => {
  it('registers persons and firms as POST /customers does, events and accounts included', async () => {
    const body = await desk.imported(
      `\uFEFF${file(desk.person('p-1', { email: 'ada@example.com', description: 'x' }), desk.firm('f-1'))}`,
    );
    expect(body).toEqual({
      id: body.id,
      status: 'COMPLETED',
      progress: progress(2, 2, 0),
      completedAt: expect.any(String),
    });
    const [ada] = await desk.byPlatformId('p-1');
    expect(ada).toMatchObject({
      customerType: 'INDIVIDUAL',
      kycStatus: 'APPROVED',
      fullName: 'Ada Lovelace',
      email: 'ada@example.com',
      umaAddress: `$p-1@${desk.domain}`,
      address: { line1: '1 Main St', city: 'Austin', state: 'TX' },
    });
    expect((await desk.told(ada.id)).map((each) => each.type)).toEqual(['CUSTOMER.KYC_APPROVED']);
    expect(await desk.count('internal_accounts where customer_id = $1', [ada.id])).toBeGreaterThan(
      0,
    );
    const [engines] = await desk.byPlatformId('f-1');
    expect(engines).toMatchObject({
      customerType: 'BUSINESS',
      businessInfo: { legalName: 'Engines Ltd', country: 'US' },
    });
    expect(engines.businessInfo).not.toHaveProperty('taxId');
    expect(engines.businessInfo).not.toHaveProperty('incorporatedOn');
    const events = await desk.told(body.id);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'BULK_UPLOAD.COMPLETED', data: body },
    ]);
  });

  it('takes what the suffix of a name scripts, and addresses without their $', async () => {
    const { status } = await desk.imported(
      file(
        desk.person('p-2', { umaAddress: `p-2@${desk.domain}`, fullName: 'Ada 001' }),
        desk.person('p-3', { umaAddress: `P-3@${desk.domain.toUpperCase()}` }),
      ),
    );
    expect(status).toBe('COMPLETED');
    const alone = await app.call('POST', '/customers', {
      customerType: 'INDIVIDUAL',
      fullName: 'Ada 001',
    });
    const [scripted] = await desk.byPlatformId('p-2');
    expect(scripted.kycStatus).toBe(alone.body.kycStatus);
    expect(scripted.umaAddress).toBe(`$p-2@${desk.domain}`);
    expect((await desk.byPlatformId('p-3'))[0].umaAddress).toBe(`$p-3@${desk.domain}`);
  });

  const german = {
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

  it('registers residents of other countries with the number of their country', async () => {
    const dubai = { city: 'Dubai', state: '', country: 'AE', nationality: 'AE' };
    const body = await desk.imported(
      file(desk.person('g-1', german), desk.person('g-2', dubai), desk.person('g-3')),
    );
    expect(body.progress).toEqual(progress(3, 3, 0));
    const [erika] = await desk.byPlatformId('g-1');
    expect(erika).toMatchObject({
      ...{ idType: 'NON_US_TAX_ID', countryOfIssuance: 'DE', nationality: 'DE' },
      ...{ email: 'erika@example.com', phoneNumber: '+4915123456789' },
      address: { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' },
    });
    const row = await app.runtime.db.read(customers, erika.id);
    expect(row && personalOf(app.runtime.vault, row).identifier).toBe('65 929 970 489');
    expect((await desk.byPlatformId('g-2'))[0]).not.toHaveProperty('idType');
  });

  it('names the columns of a number that cannot be right, without the number', async () => {
    const rows = [
      desk.person('w-1', { ...german, identifier: '123-45-0489' }),
      desk.person('w-2', { ...german, countryOfIssuance: '' }),
      desk.person('w-3', { ...german, idType: 'EIN' }),
      desk.person('w-4', { ...german, countryOfIssuance: 'US' }),
      desk.person('w-5', { ...german, identifier: '' }),
      desk.person('w-6', { state: '' }),
    ];
    const body = await desk.imported(file(...rows));
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
    expect(JSON.stringify([body, app.log])).not.toContain('0489');
  });

  it('lists every bad column of every bad row, keeps the good ones, and nothing personal', async () => {
    const rows = [
      desk.person('n-1', { fullName: 'Secret_Name', birthDate: '15.01.1990', country: 'Texas' }),
      desk.person('n-2', { customerType: 'ROBOT' }),
      desk.person('', { umaAddress: '', city: '' }),
      desk.person('n-4', { umaAddress: '$n-4@elsewhere.example' }),
      desk.firm('n-5', { businessTaxId: 'nothing American', country: 'US' }),
      desk.person('n-6', { birthDate: '2999-01-01', email: 'not an address' }),
      `${desk.person('n-7')},more`,
      'Secret_Name" here,x',
      desk.person('n-9'),
      desk.person('n-9', { umaAddress: `$n-9b@${desk.domain}` }),
      desk.person('n-11', { umaAddress: `$N-9@${desk.domain}` }),
      desk.person('n-12', { birthDate: '2999-01-01' }),
    ];
    const body = await desk.imported(file(...rows));
    expect(body.status).toBe('COMPLETED');
    expect(body.progress).toEqual(progress(12, 1, 11));
    const summary = body.errors.map(
      (each: {
        correlationId: string;
        code: string;
        details: { errors?: { field: string }[] };
      }) => [
        each.correlationId,
        each.code,
        (each.details.errors ?? []).map(({ field }) => field).sort(),
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
    expect(await desk.byPlatformId('n-9')).toHaveLength(1);
    const kept = JSON.stringify(
      await app.runtime.db.query('select * from import_errors where import_id = $1', [body.id]),
    );
    for (const value of ['Secret', '15.01', 'Texas', 'elsewhere', 'nothing Am', 'not an']) {
      expect(kept).not.toContain(value);
      expect(JSON.stringify(body)).not.toContain(value);
    }
  });

  it('fails without registering anybody where the file as such is wrong', async () => {
    const before = await desk.count('customers');
    const body = await desk.imported(file(desk.person('w-1')).replace('city', 'town'));
    expect(body).toMatchObject({
      status: 'FAILED',
      progress: progress(1, 0, 0),
      errors: [
        {
          correlationId: 'file',
          code: 'INVALID_INPUT',
          message: expect.stringContaining('city'),
          details: { errors: [{ field: 'city', message: 'this column is required' }] },
        },
      ],
    });
    const events = await desk.told(body.id);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'BULK_UPLOAD.FAILED', data: body },
    ]);
    const many = `${HEAD}\n${`${desk.person('w-2')}\n`.repeat(50_001)}`;
    const tooMany = await desk.imported(many);
    expect([tooMany.status, tooMany.progress]).toEqual(['FAILED', progress(50_001, 0, 0)]);
    expect(await desk.count('customers')).toBe(before);
    expect(await desk.count("files where state <> 'GONE'")).toBe(0);
  });

  it('fails when no row succeeds, and a file sent again conflicts and changes nothing', async () => {
    const content = file(desk.person('again-1'), desk.firm('again-2'));
    expect((await desk.imported(content)).status).toBe('COMPLETED');
    const before = await desk.count('customers');
    const again = await desk.imported(content);
    expect(again.status).toBe('FAILED');
    expect(again.progress).toEqual(progress(2, 0, 2));
    const codes = again.errors.map((each: { correlationId: string; code: string }) => [
      each.correlationId,
      each.code,
    ]);
    expect(codes).toEqual([
      ['again-1', 'CONFLICT'],
      ['again-2', 'CONFLICT'],
    ]);
    expect(await desk.count('customers')).toBe(before);
    const more = await desk.imported(file(desk.person('again-1'), desk.person('again-3')));
    expect([more.status, more.progress]).toEqual(['COMPLETED', progress(2, 1, 1)]);
  });

  it('takes one upload under one key once', async () => {
    const key = { 'idempotency-key': 'upload-1' };
    const first = await desk.upload(file(desk.person('k-1')), app.platform, key);
    const second = await desk.upload(file(desk.person('k-1')), app.platform, key);
    expect(second.body).toEqual(first.body);
    await app.settle();
    expect((await desk.shown(first.body.jobId)).status).toBe('COMPLETED');
  });

  it('refuses a request without a file', async () => {
    const body = { file: 'text' };
    expect((await app.call('POST', '/customers/bulk/csv', body)).status).toBe(400);
  });

  it('lets go of the file and its key when the import has ended', async () => {
    const id = await desk.started(file(desk.person('gone-1')));
    const [row] = await app.runtime.db.query('select * from imports where id = $1', [id]);
    expect(row?.file_id).toMatch(/^File:/);
    expect(await desk.count('files where id = $1', [row?.file_id])).toBe(1);
    await app.settle();
    expect(await desk.count('files where id = $1', [row?.file_id])).toBe(0);
    const [after] = await app.runtime.db.query('select * from imports where id = $1', [id]);
    expect([after?.file_id, after?.file_key]).toEqual([null, null]);
  });
});

describe('getBulkCustomerImportJob', () => {
  it("does not know another platform's import, whose rows meet nobody else's", async () => {
    const id = await desk.started(file(desk.person('mine-1')));
    const theirs = await app.call('GET', `/customers/bulk/jobs/${id}`, undefined, {
      as: app.other,
    });
    const random = await app.call(
      'GET',
      `/customers/bulk/jobs/BulkCustomerImportJob:${uuid7(app.world)}`,
    );
    for (const each of [theirs, random]) {
      expect([each.status, each.body.code]).toEqual([404, 'BULK_UPLOAD_JOB_NOT_FOUND']);
    }
    await app.settle();
    const { umaDomain } = ok(await app.call('GET', '/config', undefined, { as: app.other }), 200);
    const content = file(desk.person('mine-1', { umaAddress: `$x-1@${umaDomain}` }));
    expect((await desk.imported(content, app.other)).status).toBe('COMPLETED');
    expect(await desk.byPlatformId('mine-1', app.other)).toHaveLength(1);
  });

  it('shows how far an import has come, slice by slice', async () => {
    const rows = Array.from({ length: 1_100 }, (_, at) =>
      at % 1_000 === 999 ? desk.person(`s-${at}`, { country: '??' }) : desk.person(`s-${at}`),
    );
    const id = await desk.started(file(...rows));
    expect(await desk.shown(id)).toMatchObject({
      status: 'PENDING',
      progress: progress(1_100, 0, 0),
    });
    await app.worker.runDue();
    const half = await desk.shown(id);
    expect(half).toMatchObject({ status: 'PROCESSING', progress: progress(1_100, 1_023, 1) });
    expect(half.errors).toHaveLength(1);
    expect(half).not.toHaveProperty('completedAt');
    await app.settle();
    expect(await desk.shown(id)).toMatchObject({
      status: 'COMPLETED',
      progress: progress(1_100, 1_099, 1),
    });
  }, 60_000);

  it('shows the first thousand errors, here and in the event', async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) =>
      desk.person(`e-${at}`, { country: '??' }),
    );
    const body = await desk.imported(file(...rows));
    expect(body.progress).toEqual(progress(1_200, 0, 1_200));
    expect(body.errors).toHaveLength(1_000);
    expect(body.errors[999].correlationId).toBe('e-999');
    expect((await desk.told(body.id))[0]?.data).toEqual(body);
    expect(await desk.count('import_errors where import_id = $1', [body.id])).toBe(1_200);
  });
});
