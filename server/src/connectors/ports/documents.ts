// The port of a document check before a document is accepted, and its input: the platform's
// description of the document, findings about the file, and the file.

export type DocumentFormat = 'PDF' | 'JPEG' | 'PNG';

/** What can be seen of a document's file without understanding it. */
export interface DocumentFindings {
  /** Bytes. */
  size: number;
  /** By its first bytes; null when it is none of these. */
  format: DocumentFormat | null;
  /** It reaches its own end. */
  complete: boolean;
  /** Nothing in it contradicts its format. */
  readable: boolean;
  /** It is encrypted. */
  locked: boolean;
  /** In pixels, of images. */
  width: number | null;
  height: number | null;
}

/** A document that a platform hands in, before it is taken. */
export interface DocumentCheck {
  documentType: string;
  side: 'FRONT' | 'BACK' | null;
  country: string;
  documentNumber: string | null;
  issuingAuthority: string | null;
  /** As the client named it. */
  fileName: string;
  findings: DocumentFindings;
  /** The file itself, each time from its beginning. */
  content(): AsyncIterable<Uint8Array>;
}

/** What may be wrong with a document. */
export type DocumentProblem =
  | 'LOW_QUALITY'
  | 'DATA_MISMATCH'
  | 'EXPIRED'
  | 'SUSPECTED_FRAUD'
  | 'UNSUITABLE_DOCUMENT'
  | 'INCOMPLETE';

/** `reason` is a sentence for the platform; it says nothing of what the document says. */
export type DocumentVerdict =
  | { state: 'accepted' }
  | { state: 'refused'; code: DocumentProblem; reason: string };

export interface DocumentCheckPort {
  /** Asked while the client waits, and again where the same upload has to be decided once more. */
  check(document: DocumentCheck): Promise<DocumentVerdict>;
}
