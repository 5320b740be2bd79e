// What is done to documents, by the API and by the hosted page alike: adding, replacing, removing, and what
// the identity check needs to know. The content of a file is sealed under a key of its own; that key and
// everything that a document says are sealed under the data key of the customer it belongs to.

import type { Static } from '@sinclair/typebox';
import type { DocumentCheck, DocumentFindings } from '../../../connectors/ports/documents.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { UploadedFile } from '../../../kernel/contract/upload.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import { dropFile, type Files, keepFile } from '../../../runtime/files/files.ts';
import { type Ctx, stamps } from '../../../runtime/operation/context.ts';
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
import { documentErrors, wordOf } from './rules.ts';
import { alreadyThere, type DocumentRow, documents } from './store.ts';
import type { DocumentSide, DocumentType } from './types.ts';

// Whom a document is about: a customer, or somebody who owns a part of a business. Either way it belongs to
// a customer, whose data key seals it and whose end is its end.

interface Holder {
  id: string;
  customer: CustomerRow;
  /** Null where the customer itself holds the document. */
  owner: OwnerRow | null;
}

/** The holder of this id, if the calling platform has one; deleted customers included. */
async function findHolder(ctx: Ctx, id: string): Promise<Holder | undefined> {
  const owner = isId(id, 'BeneficialOwner') ? await readOwner(ctx, id) : undefined;
  const customerId = owner?.customer_id ?? id;
  const customer = isId(customerId, 'Customer') ? await readCustomer(ctx, customerId) : undefined;
  if (customer?.platform_id !== ctx.caller.platformId) return undefined;
  return { id, customer, owner: owner ?? null };
}

/** Throws CUSTOMER_DELETED where nothing can be sealed for this customer any more. */
function keyOf(customer: CustomerRow): DataKey {
  const key = dataKeyOf(customer);
  if (customer.deleted_at !== null || !key) {
    throw new Fault('CUSTOMER_DELETED', 'This customer was deleted.');
  }
  return key;
}

/** A holder that documents can be added for. What it is stays so until the commit, or the commit fails. */
async function holderOf(ctx: Ctx, id: string): Promise<Holder> {
  const holder = await findHolder(ctx, id);
  if (!holder) {
    throw new Fault('DOCUMENT_HOLDER_NOT_FOUND', 'No such customer or beneficial owner.');
  }
  keyOf(holder.customer);
  requireCustomer(ctx, holder.customer);
  if (holder.owner) requireOwner(ctx, holder.owner);
  return holder;
}

/** Whether the check that the holder's documents are for has ended. */
const isDecided = ({ customer, owner }: Holder): boolean =>
  isFinal(customer) || (owner !== null && isFinal(owner));

/** What documents are handled with. */
export interface DocumentParts {
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

/** What a document says. */
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

/** The data key that opens what there is of this customer; of one that was erased, nothing is left. */
function openingKey(customer: CustomerRow): DataKey {
  const key = dataKeyOf(customer);
  if (!key) throw new Error(`${customer.id} was erased, and a document of it was not`);
  return key;
}

/** Where the file of a document lies, and the key that opens it. */
export const fileOf = (
  vault: Vault,
  customer: CustomerRow,
  row: DocumentRow,
): { id: string; key: Uint8Array } => ({
  id: row.file_id,
  key: vault.open(openingKey(customer), row.file_key, contextOf(row.id, 'file_key')),
});

/** The resource. */
export function presentDocument(
  vault: Vault,
  customer: CustomerRow,
  row: DocumentRow,
): DocumentView {
  const said = documentPersonal(vault, openingKey(customer), row);
  return {
    id: row.id,
    documentHolder: row.holder_id,
    documentType: row.type,
    ...(row.side === null ? {} : { side: row.side }),
    country: row.country,
    ...(said.documentNumber === null ? {} : { documentNumber: said.documentNumber }),
    ...(said.issuingAuthority === null ? {} : { issuingAuthority: said.issuingAuthority }),
    fileName: said.fileName,
    ...stamps(row),
  };
}

/** Throws what is wrong with a document; first what anybody can see, then what its checker finds. */
async function refuseUnfit(ctx: Ctx, parts: DocumentParts, input: DocumentInput): Promise<void> {
  const errors = documentErrors(input);
  if (errors.length) throw invalid(errors);
  const { file } = input;
  const check: DocumentCheck = {
    documentType: input.documentType,
    side: input.side ?? null,
    country: input.country,
    documentNumber: wordOf(input.documentNumber),
    issuingAuthority: wordOf(input.issuingAuthority),
    fileName: file.fileName,
    findings: file.findings as DocumentFindings,
    content: () => parts.files.read(file),
  };
  const verdict = await parts.connectors(ctx.caller.environment).documents?.check(check);
  if (verdict?.state === 'refused') throw new Fault(verdict.code, verdict.reason);
}

/** The columns that come with a file. */
function contentOf(ctx: Ctx, key: DataKey, id: string, input: DocumentInput) {
  const { file } = input;
  const said: DocumentPersonal = {
    documentNumber: wordOf(input.documentNumber),
    issuingAuthority: wordOf(input.issuingAuthority),
    fileName: file.fileName,
  };
  const { format } = file.findings as DocumentFindings;
  if (format === null) throw new Error('a file that is no document was not refused');
  return {
    type: input.documentType,
    side: input.side ?? null,
    country: input.country,
    format,
    file_id: file.id,
    file_key: ctx.vault.seal(key, file.key, contextOf(id, 'file_key')),
    personal: ctx.vault.seal(key, JSON.stringify(said), contextOf(id, 'personal')),
    updated_at: ctx.now,
  };
}

/** A document of the calling platform; NOT_FOUND for every other id. */
export async function documentOf(ctx: Ctx, id: string): Promise<DocumentRow> {
  const row = isId(id, 'Document') ? await ctx.read(documents, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw new Fault('NOT_FOUND', 'No such document.');
  return row;
}

const HELD = 'select id from documents where holder_id = any($1::text[])';

/** All documents of some holders, oldest first. A business may have a hundred owners: two reads do. */
export async function documentsOf(
  { db }: Pick<Ctx, 'db'>,
  holderIds: readonly string[],
): Promise<DocumentRow[]> {
  const found = await db.query<{ id: string }>(HELD, [holderIds]);
  const rows = await Promise.all(found.map(({ id }) => db.read(documents, id)));
  return rows
    .flatMap((row) => row ?? [])
    .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/** Refuses a second document of a kind before its file is looked at. The unique index settles races. */
async function refuseSecond(
  ctx: Ctx,
  holderId: string,
  input: DocumentInput,
  self?: string,
): Promise<void> {
  const same = await ctx.db.find(documents, {
    holder_id: holderId,
    type: input.documentType,
    side: input.side ?? null,
  });
  if (same.some((each) => each.id !== self)) throw alreadyThere();
}

/** Adds a document for a holder: everything that `uploadDocument` does. */
export async function addDocument(
  ctx: Ctx,
  parts: DocumentParts,
  input: DocumentInput & { documentHolder: string },
): Promise<{ row: DocumentRow; customer: CustomerRow }> {
  const { customer, id: holder_id } = await holderOf(ctx, input.documentHolder);
  await refuseSecond(ctx, holder_id, input);
  await refuseUnfit(ctx, parts, input);
  await keepFile(ctx, input.file);
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

/** Puts another file in the place of a document's: everything that `replaceDocument` does. */
export async function changeDocument(
  ctx: Ctx,
  parts: DocumentParts,
  was: DocumentRow,
  input: DocumentInput,
): Promise<{ row: DocumentRow; customer: CustomerRow }> {
  const holder = await holderOf(ctx, was.holder_id);
  if (was.submitted_at !== null && isDecided(holder)) {
    const reason = 'The check that this document was a part of has ended: it stays as it is.';
    throw new Fault('INVALID_INPUT', reason);
  }
  await refuseSecond(ctx, was.holder_id, input, was.id);
  await refuseUnfit(ctx, parts, input);
  await keepFile(ctx, input.file);
  await dropFile(ctx, was.file_id);
  const content = contentOf(ctx, keyOf(holder.customer), was.id, input);
  return { row: ctx.update(documents, was, content), customer: holder.customer };
}

/** Removes a document and its file: everything that `deleteDocument` does. */
export async function removeDocument(ctx: Ctx, row: DocumentRow): Promise<void> {
  if (row.submitted_at !== null) {
    throw new Fault(
      'CONFLICT',
      'The document was part of an identity check: it cannot be deleted.',
    );
  }
  await dropFile(ctx, row.file_id);
  ctx.remove(documents, row);
}

/** The documents are now part of an identity check, as they were read; the commit fails if one moved on. */
export function markSubmitted(ctx: Ctx, rows: readonly DocumentRow[]): void {
  for (const row of rows) {
    if (row.submitted_at === null) ctx.update(documents, row, { submitted_at: ctx.now });
    else ctx.require(documents, row);
  }
}

/** Forgets every document of a customer, those of its owners included, with their files. */
export async function eraseDocuments(ctx: Ctx, customer: CustomerRow): Promise<void> {
  const rows = await ctx.db.find(documents, { customer_id: customer.id }, ALL_OF_ONE);
  for (const row of rows) {
    await dropFile(ctx, row.file_id);
    ctx.remove(documents, row);
  }
}
