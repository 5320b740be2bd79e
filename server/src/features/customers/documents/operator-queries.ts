// Documents and their decrypted files, for review and export by operators. The API never returns a
// file.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals, UNPAGED } from '../../../runtime/db/database.ts';
import type { Files } from '../../../runtime/files/files.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type CustomerRow, customerById, dataKeyOf, readCustomer } from '../records/index.ts';
import { documentPersonal, fileOf, presentDocument } from './document.ts';
import { type DocumentRow, documents } from './store.ts';

interface Storage {
  runtime: Runtime;
  files: Pick<Files, 'read'>;
}

async function customerOfDocument({ db }: Runtime, row: DocumentRow): Promise<CustomerRow> {
  const customer = await readCustomer(db, row.customer_id);
  if (!customer) throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  return customer;
}

const reviewOf = ({ vault }: Runtime, customer: CustomerRow, row: DocumentRow) => ({
  ...presentDocument(vault, customer, row),
  customerId: row.customer_id,
  format: row.format,
  submittedAt: row.submitted_at === null ? null : iso(row.submitted_at),
});

/** Documents of a customer and its beneficial owners without personal data, newest first. */
async function summariesOfDocuments(
  { db }: Pick<Runtime, 'db'>,
  customerId: string,
  limit: number,
) {
  const filter = { customer_id: customerId };
  const options = { orderBy: 'created_at', descending: true, limit } as const;
  const rows = await db.find(documents, filter, options);
  return rows.map((row) => ({
    documentId: row.id,
    holderId: row.holder_id,
    documentType: row.type,
    submittedAt: row.submitted_at === null ? null : iso(row.submitted_at),
    createdAt: iso(row.created_at),
  }));
}

/** Documents of a customer and its beneficial owners, or of one holder, oldest first. */
export async function listDocumentsForReview(
  runtime: Runtime,
  selection: { customerId: string } | { holderId: string },
) {
  const filter =
    'customerId' in selection
      ? { customer_id: selection.customerId }
      : { holder_id: selection.holderId };
  const rows = await runtime.db.find(documents, filter, { orderBy: 'created_at', ...UNPAGED });
  return Promise.all(
    rows.map(async (row) => reviewOf(runtime, await customerOfDocument(runtime, row), row)),
  );
}

interface ReviewQuery {
  /** Only documents of this customer or beneficial owner. */
  holderId?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

/**
 * A page of the documents of a customer and its beneficial owners, oldest first. Throws
 * CUSTOMER_NOT_FOUND.
 */
async function pageOfDocumentsForReview(
  runtime: Runtime,
  id: string,
  { holderId, limit = 20, cursor }: ReviewQuery,
) {
  const customer = await customerById(runtime.db, id);
  const filters = equals({ customer_id: id, holder_id: holderId });
  const query = { filters, sort: 'asc', limit, cursor } as const;
  const { rows, ...rest } = await runtime.db.page(documents, query);
  const data = rows.map((row) => reviewOf(runtime, customer, row));
  return { platformId: customer.platform_id, customerId: id, data, ...rest };
}

/** Lists of the operator API. */
export const documentLists = {
  page: pageOfDocumentsForReview,
  summaries: summariesOfDocuments,
};

/**
 * The content of the file. Throws NOT_FOUND if the file is replaced or removed while it is read.
 */
async function* currentContent(
  { db }: Pick<Runtime, 'db'>,
  row: DocumentRow,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    const currentRow = await db.read(documents, row.id);
    if (currentRow?.file_id === row.file_id) throw error;
    throw new Fault('NOT_FOUND', 'The file was replaced or removed. Read the document again.');
  }
}

/** Document with its decrypted file as a stream. Throws NOT_FOUND. */
export async function openDocument({ runtime, files }: Storage, documentId: string) {
  const isDocumentId = isId(documentId, 'Document');
  const row = isDocumentId ? await runtime.db.read(documents, documentId) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Document not found.');
  const customer = await customerOfDocument(runtime, row);
  const { platform_id: platformId } = row;
  const content = currentContent(runtime, row, files.read(fileOf(runtime.vault, customer, row)));
  return { document: reviewOf(runtime, customer, row), platformId, content };
}

/** File name that is valid on every system: the document ID with the original extension. */
function nameOf(row: DocumentRow, fileName: string): string {
  const [, suffix = ''] = /(\.[A-Za-z0-9]{1,8})$/.exec(fileName) ?? [];
  return row.id.replaceAll(':', '-') + suffix;
}

/** Files of the documents of a customer with their names. None after erasure. */
export async function filesOfCustomer({ runtime, files }: Storage, customer: CustomerRow) {
  const { db, vault } = runtime;
  const key = dataKeyOf(customer);
  if (!key) return [];
  const rows = await db.find(documents, { customer_id: customer.id }, UNPAGED);
  return rows.map((row) => ({
    name: nameOf(row, documentPersonal(vault, key, row).fileName),
    open: () => files.read(fileOf(vault, customer, row)),
  }));
}
