// The scripted document check: every PDF, JPEG or PNG is accepted, even an image of one pixel. A
// document whose file name ends with a code before the extension is rejected with that code, such
// as `passport-EXPIRED.png` with EXPIRED.
import type { DocumentCheckPort, DocumentProblem } from '../../ports/documents.ts';

export const REASON_BY_SUFFIX: Readonly<Record<DocumentProblem, string>> = {
  LOW_QUALITY: 'The image is too blurred to be read.',
  DATA_MISMATCH: 'The document belongs to a person other than its holder.',
  EXPIRED: 'The document is no longer valid.',
  SUSPECTED_FRAUD: 'The document seems to have been altered.',
  UNSUITABLE_DOCUMENT: 'The file is not a document of this type.',
  INCOMPLETE: 'The document is incomplete.',
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
