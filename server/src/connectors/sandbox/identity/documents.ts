// The scripted document check. A document whose file name ends with a code before the extension is
// rejected with that code, such as `passport-EXPIRED.png` with EXPIRED. Every other PDF, JPEG or
// PNG is accepted, even an image of one pixel.
import type { DocumentCheckPort, DocumentProblem } from '../../ports/documents.ts';

export const REASON_BY_SUFFIX: Readonly<Record<DocumentProblem, string>> = {
  LOW_QUALITY: 'The image is too blurred to be read. Upload a sharper image.',
  DATA_MISMATCH:
    'The document does not match the data of the customer or beneficial owner. Correct the data, ' +
    'or upload the matching document.',
  EXPIRED: 'The document has expired. Upload a valid document.',
  SUSPECTED_FRAUD: 'The document seems to have been altered. Upload the original document.',
  UNSUITABLE_DOCUMENT: 'The file is not a document of this type. Upload a document of the type.',
  INCOMPLETE: 'The document is incomplete. Upload all pages and sides.',
};

const CODES = Object.keys(REASON_BY_SUFFIX) as DocumentProblem[];

export const sandboxDocuments: DocumentCheckPort = {
  async check({ fileName }) {
    const stem = fileName.replace(/\.[^.]*$/, '');
    const code = CODES.find((each) => stem.endsWith(each));
    if (!code) return { state: 'accepted' };
    return { state: 'rejected', code, reason: REASON_BY_SUFFIX[code] };
  },
};
