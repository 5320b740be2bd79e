// Test harness for imports: CSV files with valid and invalid rows, requests, and the resulting
// customers and events.
import { expect } from 'vitest';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp, TestPlatform } from '../app/harness.ts';

const COLUMNS = [
  ...['umaAddress', 'platformCustomerId', 'customerType', 'fullName', 'birthDate'],
  ...[
    'businessLegalName',
    'businessTaxId',
    'addressLine1',
    'city',
    'state',
    'postalCode',
    'country',
  ],
  ...['email', 'description', 'phoneNumber'],
  ...['nationality', 'idType', 'identifier', 'countryOfIssuance'],
];
export const HEAD = COLUMNS.join(',');

type Cells = Partial<Record<string, string>>;

/** CSV file with the header and these rows. */
export const csvFile = (...rows: string[]) => `${[HEAD, ...rows].join('\n')}\n`;

/** `progress` as in the API resource. */
export const progress = (total: number, successCount: number, failedCount: number) => ({
  total,
  processed: successCount + failedCount,
  successful: successCount,
  failed: failedCount,
});

export type ImportHarness = Awaited<ReturnType<typeof importHarness>>;

export async function importHarness(app: TestApp) {
  const domain: string = ok(await app.call('GET', '/config'), 200).umaDomain;

  /** Row of a valid individual, with changed cells. */
  function personRow(id: string, overrides: Cells = {}): string {
    const cells: Cells = {
      umaAddress: `$${id}@${domain}`,
      platformCustomerId: id,
      customerType: 'INDIVIDUAL',
      fullName: 'Ada Lovelace',
      birthDate: '1990-01-15',
      addressLine1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
      ...overrides,
    };
    return COLUMNS.map((name) => cells[name] ?? '').join(',');
  }

  const businessRow = (id: string, overrides: Cells = {}) =>
    personRow(id, {
      customerType: 'BUSINESS',
      fullName: '',
      birthDate: '',
      businessLegalName: 'Engines Ltd',
      ...overrides,
    });

  function upload(
    content: string | Buffer,
    platform: TestPlatform = app.platform,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const form = new FormData();
    form.set('file', new Blob([content], { type: 'text/csv' }), 'c.csv');
    return app.call('POST', '/customers/bulk/csv', form, { platform, headers });
  }

  async function startImport(content: string | Buffer, platform?: TestPlatform): Promise<string> {
    const { jobId, status } = ok(await upload(content, platform), 202);
    expect(status).toBe('PENDING');
    return jobId;
  }

  const readImport = async (id: string, platform: TestPlatform = app.platform) =>
    ok(await app.call('GET', `/customers/bulk/jobs/${id}`, undefined, { platform }), 200);

  /** Uploads a file and returns the finished import. */
  async function importFile(content: string | Buffer, platform?: TestPlatform) {
    const id = await startImport(content, platform);
    await app.settle();
    return readImport(id, platform);
  }

  const findByPlatformId = async (id: string, platform: TestPlatform = app.platform) =>
    ok(await app.call('GET', `/customers?platformCustomerId=${id}`, undefined, { platform }), 200)
      .data;

  const eventsOf = async (id: string) =>
    (await app.events()).filter((event) => event.subject === id);

  const countRows = async (sql: string, values: unknown[] = []) =>
    Number((await app.runtime.db.query(`select count(*) as n from ${sql}`, values))[0]?.n);

  return {
    domain,
    personRow,
    businessRow: businessRow,
    upload,
    startImport,
    readImport,
    importFile,
    findByPlatformId: findByPlatformId,
    eventsOf,
    countRows,
  };
}
