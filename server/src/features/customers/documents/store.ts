// Table of documents of customers and beneficial owners: type, and location of the file. The
// document number, the issuing authority, the file name and the key of the file are encrypted.
import type { DocumentFormat } from '../../../connectors/ports/documents.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { DocumentSide, DocumentType } from './types.ts';

export const duplicateDocument = (): Fault =>
  new Fault(
    'DOCUMENT_ALREADY_EXISTS',
    'The holder already has a document of this type and side. Replace that document instead.',
  );

export const documents = table(
  'documents',
  {
    id: col.text,
    platform_id: col.text,
    /** Customer whose data key encrypts the document. For an owner, the business. */
    customer_id: col.text,
    /** Identifier of the customer or owner. */
    holder_id: col.text,
    type: col.enum<DocumentType>().mut,
    side: col.enum<DocumentSide>().null.mut,
    country: col.text.mut,
    /** Format, determined by the first bytes of the file. */
    format: col.enum<DocumentFormat>().mut,
    file_id: col.text.mut,
    /** Key of the file, encrypted. */
    file_key: col.text.mut,
    /** `DocumentPersonal`, encrypted. */
    personal: col.text.mut,
    /**
     * Time of the first submission to an identity check. A submitted document cannot be deleted.
     */
    submitted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { unique: { documents_same: duplicateDocument } },
);

export type DocumentRow = RowOf<typeof documents>;
