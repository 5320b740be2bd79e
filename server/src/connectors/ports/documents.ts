// The port of a document check before a document is accepted. Its input is the platform's
// description of the document, findings about the file, and the file.

export const DOCUMENT_FORMATS = ['PDF', 'JPEG', 'PNG'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** Structural findings about a document's file. */
export interface DocumentFindings {
  /** Size in bytes. */
  size: number;
  /** Format by the first bytes, or null for an unknown format. */
  format: DocumentFormat | null;
  /** Whether the end of the file is present. */
  complete: boolean;
  /** Whether the structure is consistent with the format. */
  readable: boolean;
  /** Whether the file is encrypted. */
  locked: boolean;
  /** Width in pixels. Null for files other than images. */
  width: number | null;
  height: number | null;
}

/** A document before it is accepted. */
export interface DocumentCheck {
  documentType: string;
  side: 'FRONT' | 'BACK' | null;
  country: string;
  documentNumber: string | null;
  issuingAuthority: string | null;
  /** File name of the client. */
  fileName: string;
  findings: DocumentFindings;
  /** The file. Each call reads from its beginning. */
  content(): AsyncIterable<Uint8Array>;
}

/** Reasons against a document. */
export type DocumentProblem =
  | 'LOW_QUALITY'
  | 'DATA_MISMATCH'
  | 'EXPIRED'
  | 'SUSPECTED_FRAUD'
  | 'UNSUITABLE_DOCUMENT'
  | 'INCOMPLETE';

/** `reason` is a sentence for the platform, without content of the document. */
export type DocumentVerdict =
  | { state: 'accepted' }
  | { state: 'rejected'; code: DocumentProblem; reason: string };

export interface DocumentCheckPort {
  /** Called while the client waits. Repeated if the upload is retried. */
  check(document: DocumentCheck): Promise<DocumentVerdict>;
}
