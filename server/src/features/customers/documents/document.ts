// Creates, replaces and deletes documents, for the API and the hosted page. The content of a file
// is encrypted with its own key. That key and the data of the document are encrypted with the data
// key of the customer.

import type { Static } from '@sinclair/typebox';
import type { DocumentCheck, DocumentFindings } from '../../../connectors/ports/documents.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { UploadedFile } from '../../../kernel/contract/upload.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { attachFile, deleteFile, type Files } from '../../../runtime/files/files.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { type OwnerRow, readOwner, requireOwner } from '../owners/index.ts';
import {
  type CustomerRow,
  dataKeyOf,
  isFinal,
  readCustomer,
  requireCustomer,
} from '../records/index.ts';
import type { getDocument } from './contract.ts';
import { documentErrors, trimmedText } from './rules.ts';
import { type DocumentRow, documents, duplicateDocument } from './store.ts';
import type { DocumentSide, DocumentType } from './types.ts';

/** Holder of a document: a customer or a beneficial owner. */
interface Holder {
  id: string;
  customer: CustomerRow;
  /** Null if the customer is the holder. */
  owner: OwnerRow | null;
}

/** Holder of the calling platform by identifier. Includes deleted customers. */
async function findHolder(ctx: Ctx, id: string): Promise<Holder | undefined> {
  const owner = isId(id, 'BeneficialOwner') ? await readOwner(ctx, id) : undefined;
  const customerId = owner?.customer_id ?? id;
  const customer = isId(customerId, 'Customer') ? await readCustomer(ctx, customerId) : undefined;
  if (customer?.platform_id !== ctx.caller.platformId) return undefined;
  return { id, customer, owner: owner ?? null };
}

/** Data key of a customer. Throws CUSTOMER_DELETED for a deleted or erased customer. */
function keyOf(customer: CustomerRow): DataKey {
  const key = dataKeyOf(customer);
  if (customer.deleted_at !== null || !key) {
    throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
  }
  return key;
}

/** Holder to which documents can be added. The commit requires that the holder is unchanged. */
async function holderOf(ctx: Ctx, id: string): Promise<Holder> {
  const holder = await findHolder(ctx, id);
  if (!holder) {
    throw new Fault('DOCUMENT_HOLDER_NOT_FOUND', 'The customer or beneficial owner was not found.');
  }
  keyOf(holder.customer);
  requireCustomer(ctx, holder.customer);
  if (holder.owner) requireOwner(ctx, holder.owner);
  return holder;
}

/** Whether the identity check of the customer or of the owner is final. */
const isDecided = ({ customer, owner }: Holder): boolean =>
  isFinal(customer) || (owner !== null && isFinal(owner));

export interface DocumentDeps {
  connectors(environment: Mode): Connectors;
  files: Pick<Files, 'read'>;
}

interface DocumentInput {
  file: UploadedFile;
  documentType: DocumentType;
  side?: DocumentSide | undefined;
  country: string;
  documentNumber?: string | undefined;
  issuingAuthority?: string | undefined;
}

/** Encrypted data of a document. */
interface DocumentPersonal {
  documentNumber: string | null;
  issuingAuthority: string | null;
  fileName: string;
}

export type DocumentView = Static<(typeof getDocument)['replies'][200]>;

const contextOf = (id: string, column: 'personal' | 'file_key') => `documents ${id} ${column}`;

export function documentPersonal(vault: Vault, key: DataKey, row: DocumentRow): DocumentPersonal {
  const text = vault.open(key, row.personal, contextOf(row.id, 'personal'));
  return JSON.parse(text.toString()) as DocumentPersonal;
}

/** Data key of a customer that has documents. An erasure deletes the documents with the key. */
function requireDataKey(customer: CustomerRow): DataKey {
  const key = dataKeyOf(customer);
  if (!key) throw new Error(`${customer.id} was erased, but one of its documents still exists`);
  return key;
}

/** ID and decrypted key of the file of a document. */
export const fileOf = (
  vault: Vault,
  customer: CustomerRow,
  row: DocumentRow,
): { id: string; key: Uint8Array } => ({
  id: row.file_id,
  key: vault.open(requireDataKey(customer), row.file_key, contextOf(row.id, 'file_key')),
});

/** API resource of a document. */
export function presentDocument(
  vault: Vault,
  customer: CustomerRow,
  row: DocumentRow,
): DocumentView {
  const personal = documentPersonal(vault, requireDataKey(customer), row);
  return {
    id: row.id,
    documentHolder: row.holder_id,
    documentType: row.type,
    ...(row.side === null ? {} : { side: row.side }),
    country: row.country,
    ...(personal.documentNumber === null ? {} : { documentNumber: personal.documentNumber }),
    ...(personal.issuingAuthority === null ? {} : { issuingAuthority: personal.issuingAuthority }),
    fileName: personal.fileName,
    ...timestamps(row),
  };
}

/** Validates a document: first by the rules, then by the document checker. */
async function assertAcceptable(ctx: Ctx, deps: DocumentDeps, input: DocumentInput): Promise<void> {
  const errors = documentErrors(input);
  if (errors.length) throw invalid(errors);
  const { file } = input;
  const check: DocumentCheck = {
    documentType: input.documentType,
    side: input.side ?? null,
    country: input.country,
    documentNumber: trimmedText(input.documentNumber),
    issuingAuthority: trimmedText(input.issuingAuthority),
    fileName: file.fileName,
    findings: file.findings as DocumentFindings,
    content: () => deps.files.read(file),
  };
  const verdict = await deps.connectors(ctx.caller.environment).documents?.check(check);
  if (verdict?.state === 'rejected') throw new Fault(verdict.code, verdict.reason);
}

/** Columns that an upload and a replacement set. */
function contentOf(ctx: Ctx, key: DataKey, id: string, input: DocumentInput) {
  const { file } = input;
  const personal: DocumentPersonal = {
    documentNumber: trimmedText(input.documentNumber),
    issuingAuthority: trimmedText(input.issuingAuthority),
    fileName: file.fileName,
  };
  const { format } = file.findings as DocumentFindings;
  if (format === null) throw new Error('A file of an unknown format was not rejected.');
  return {
    type: input.documentType,
    side: input.side ?? null,
    country: input.country,
    format,
    file_id: file.id,
    file_key: ctx.vault.seal(key, file.key, contextOf(id, 'file_key')),
    personal: ctx.vault.seal(key, JSON.stringify(personal), contextOf(id, 'personal')),
    updated_at: ctx.now,
  };
}

/** Document of the calling platform. Throws NOT_FOUND for any other identifier. */
export async function documentOf(ctx: Ctx, id: string): Promise<DocumentRow> {
  const row = isId(id, 'Document') ? await ctx.read(documents, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId)
    throw new Fault('NOT_FOUND', 'Document not found.');
  return row;
}

const DOCUMENT_IDS_SQL = 'select id from documents where holder_id = any($1::text[])';

/** Documents of several holders, oldest first. Uses two reads for any number of holders. */
export async function documentsOf(
  { db }: Pick<Ctx, 'db'>,
  holderIds: readonly string[],
): Promise<DocumentRow[]> {
  const ids = await db.query<{ id: string }>(DOCUMENT_IDS_SQL, [holderIds]);
  const rows = await Promise.all(ids.map(({ id }) => db.read(documents, id)));
  return rows
    .flatMap((row) => row ?? [])
    .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/**
 * Rejects a second document of the same type and side before its file is checked. The unique index
 * resolves races.
 */
async function assertNoDuplicate(
  ctx: Ctx,
  holderId: string,
  input: DocumentInput,
  replacedId?: string,
): Promise<void> {
  const existingDocuments = await ctx.db.find(documents, {
    holder_id: holderId,
    type: input.documentType,
    side: input.side ?? null,
  });
  if (existingDocuments.some((each) => each.id !== replacedId)) throw duplicateDocument();
}

/** Creates a document. Implements `uploadDocument`. */
export async function addDocument(
  ctx: Ctx,
  deps: DocumentDeps,
  input: DocumentInput & { documentHolder: string },
): Promise<{ row: DocumentRow; customer: CustomerRow }> {
  const { customer, id: holder_id } = await holderOf(ctx, input.documentHolder);
  await assertNoDuplicate(ctx, holder_id, input);
  await assertAcceptable(ctx, deps, input);
  await attachFile(ctx, input.file);
  const id = ctx.id('Document');
  const row = ctx.insert(documents, {
    id,
    platform_id: customer.platform_id,
    customer_id: customer.id,
    holder_id,
    ...contentOf(ctx, keyOf(customer), id, input),
    created_at: ctx.now,
  });
  return { row, customer };
}

/** Replaces the file and data of a document. Implements `replaceDocument`. */
export async function changeDocument(
  ctx: Ctx,
  deps: DocumentDeps,
  previousRow: DocumentRow,
  input: DocumentInput,
): Promise<{ row: DocumentRow; customer: CustomerRow }> {
  const holder = await holderOf(ctx, previousRow.holder_id);
  if (previousRow.submitted_at !== null && isDecided(holder)) {
    const reason =
      'The verification that used this document is complete. The document cannot be replaced.';
    throw new Fault('INVALID_INPUT', reason);
  }
  await assertNoDuplicate(ctx, previousRow.holder_id, input, previousRow.id);
  await assertAcceptable(ctx, deps, input);
  await attachFile(ctx, input.file);
  await deleteFile(ctx, previousRow.file_id);
  const content = contentOf(ctx, keyOf(holder.customer), previousRow.id, input);
  return { row: ctx.update(documents, previousRow, content), customer: holder.customer };
}

/** Deletes a document and its file. Implements `deleteDocument`. */
export async function removeDocument(ctx: Ctx, row: DocumentRow): Promise<void> {
  if (row.submitted_at !== null) {
    throw new Fault(
      'CONFLICT',
      'The document was part of a verification. Replace it instead of deleting it.',
    );
  }
  await deleteFile(ctx, row.file_id);
  ctx.remove(documents, row);
}

/**
 * Marks documents as submitted to an identity check. The commit fails if a document has changed
 * since it was read.
 */
export function markSubmitted(ctx: Ctx, rows: readonly DocumentRow[]): void {
  for (const row of rows) {
    if (row.submitted_at === null) ctx.update(documents, row, { submitted_at: ctx.now });
    else ctx.require(documents, row);
  }
}

/** Deletes all documents of a customer and its owners, with their files. */
export async function eraseDocuments(ctx: Ctx, customer: CustomerRow): Promise<void> {
  const rows = await ctx.db.find(documents, { customer_id: customer.id }, UNPAGED);
  for (const row of rows) {
    await deleteFile(ctx, row.file_id);
    ctx.remove(documents, row);
  }
}
