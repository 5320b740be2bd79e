// A document of a customer, or of somebody who owns a business: what kind of paper it is, and where its
// file lies. Everything that a paper says is sealed, the file's own key among it.
import type { DocumentFormat } from '../../../connectors/ports/documents.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { DocumentSide, DocumentType } from './types.ts';

export const alreadyThere = (): Fault =>
  new Fault(
    'DOCUMENT_ALREADY_EXISTS',
    'The holder has a document of this type and side already. Replace that one.',
  );

export const documents = table(
  'documents',
  {
    id: col.text,
    platform_id: col.text,
    /** Whose data key seals it: the customer, or the business of the owner. */
    customer_id: col.text,
    /** The customer or the owner. */
    holder_id: col.text,
    type: col.word<DocumentType>().mut,
    side: col.word<DocumentSide>().null.mut,
    country: col.text.mut,
    /** As its first bytes say. */
    format: col.word<DocumentFormat>().mut,
    file_id: col.text.mut,
    /** The file's own key, sealed. */
    file_key: col.text.mut,
    /** `DocumentPersonal`, sealed. */
    personal: col.text.mut,
    /** When it first became part of an identity check; from then on it cannot be deleted. */
    submitted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { unique: { documents_same: alreadyThere } },
);

export type DocumentRow = RowOf<typeof documents>;
