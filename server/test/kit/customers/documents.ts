// Test harness for documents: holders, files of all formats, requests, and the stored rows and
// files.
import {
  type DocumentRow,
  markSubmitted,
} from '../../../src/features/customers/documents/index.ts';
import { documents } from '../../../src/features/customers/documents/store.ts';
import { createCustomer, ok } from '../app/fixtures.ts';
import { type ApiResponse, startApp, type TestPlatform } from '../app/harness.ts';
import { type DocumentFile, documentForm, pngFile } from '../http/documents.ts';

type Fields = Record<string, string | undefined>;

export const passportFields = (documentHolder: string | undefined): Fields => ({
  documentHolder,
  documentType: 'PASSPORT',
  country: 'DE',
  documentNumber: 'C01X00T47',
  issuingAuthority: 'Stadt Köln',
});
export const billFields = (
  documentHolder: string | undefined,
  documentType = 'UTILITY_BILL',
): Fields => ({
  documentHolder,
  documentType,
  country: 'DE',
});
export const newPng = (name = 'scan.png'): DocumentFile => ({ bytes: pngFile(1, 1), name });

/** Fields with errors in a rejection, sorted. */
export const errorFields = (response: ApiResponse) =>
  (response.body.details?.errors ?? []).map((error: { field: string }) => error.field).sort();
export const statusAndCode = ({ status, body }: ApiResponse) => [status, body.code];

export type DocumentHarness = Awaited<ReturnType<typeof openDocumentHarness>>;

export async function openDocumentHarness() {
  const app = await startApp();

  function send(
    method: 'POST' | 'PUT',
    url: string,
    fields: Fields,
    file: DocumentFile | null,
    platform: TestPlatform = app.platform,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const presentFields = Object.entries(fields).filter(
      (entry): entry is [string, string] => !!entry[1],
    );
    const form = documentForm(Object.fromEntries(presentFields), file ?? undefined);
    return app.call(method, url, form, { platform, headers });
  }

  const upload = (
    fields: Fields,
    file: DocumentFile | null = newPng(),
    platform?: TestPlatform,
    headers = {},
  ) => send('POST', '/documents', fields, file, platform, headers);
  const replace = (
    id: string,
    fields: Fields,
    file: DocumentFile | null = newPng(),
    platform?: TestPlatform,
  ) => send('PUT', `/documents/${id}`, fields, file, platform);
  const uploadDocument = async (fields: Fields, file?: DocumentFile, platform?: TestPlatform) =>
    ok(await upload(fields, file, platform), 201);

  const createPerson = async (platform?: TestPlatform) =>
    (await createCustomer(app, platform ? { platform } : {})).id as string;
  const readRow = async (id: string) => (await app.runtime.db.read(documents, id)) as DocumentRow;

  /** State of every file of this installation. */
  const readFileStates = async () => {
    await app.settle();
    const rows = await app.runtime.db.query<{ id: string; state: string }>(
      'select id, state from files',
      [],
    );
    return new Map(rows.map(({ id, state }) => [id, state]));
  };

  /** A business with one beneficial owner. */
  async function createBusiness(platform: TestPlatform = app.platform) {
    const post = (url: string, body: object) => app.call('POST', url, body, { platform });
    const businessInfo = {
      ...{ legalName: 'Ada Ltd', country: 'US', taxId: '12-3456789', incorporatedOn: '2020-02-29' },
    };
    const company = ok(await post('/customers', { customerType: 'BUSINESS', businessInfo }), 201);
    const personalInfo = {
      ...{ firstName: 'Grace', lastName: 'Hopper', birthDate: '1970-12-09', nationality: 'US' },
      address: {
        line1: '1 Main St',
        city: 'Austin',
        state: 'TX',
        postalCode: '78701',
        country: 'US',
      },
      ...{ idType: 'SSN', identifier: '123-45-6789' },
    };
    const owner = ok(
      await post('/beneficial-owners', {
        ...{ customerId: company.id, roles: ['UBO'], ownershipPercentage: 100, personalInfo },
      }),
      201,
    );
    return { company: company.id as string, owner: owner.id as string };
  }

  const setStatus = (id: string, status: string) =>
    app.runtime.db.query('update customers set status = $2, version = version + 1 where id = $1', [
      id,
      status,
    ]);
  const markAsSubmitted = (id: string) =>
    app.operate(async (ctx) => markSubmitted(ctx, [await readRow(id)]));

  const { close } = app;
  const calls = {
    upload,
    replace,
    uploadDocument,
    createPerson,
    createBusiness,
    readRow,
    readFileStates,
  };
  return { app, close, ...calls, setStatus, markAsSubmitted };
}
