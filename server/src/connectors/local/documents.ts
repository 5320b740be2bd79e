// The built-in document check, based on the file alone. It rejects a file that a reviewer could not
// use while the customer can still upload another. Content and authenticity are checked by a
// provider that replaces this check, or by a reviewer.
import type { DocumentCheckPort, DocumentFindings, DocumentVerdict } from '../ports/documents.ts';

/** Minimum of the shorter side of an image with legible print. */
const MIN_SIDE_PIXELS = 300;

const rejection = (
  code: 'LOW_QUALITY' | 'UNSUITABLE_DOCUMENT' | 'INCOMPLETE',
  reason: string,
): DocumentVerdict => ({ state: 'rejected', code, reason });

/** Verdict by the structure of the file. */
export function checkFile({
  readable,
  complete,
  locked,
  width,
  height,
}: DocumentFindings): DocumentVerdict {
  // The format is supported, so the error is about the file.
  if (!readable)
    return rejection(
      'UNSUITABLE_DOCUMENT',
      'The file cannot be read. Upload another copy of the document.',
    );
  if (!complete)
    return rejection('INCOMPLETE', 'The end of the file is missing. Upload the complete file.');
  if (locked) {
    return rejection(
      'UNSUITABLE_DOCUMENT',
      'The file is encrypted. Send a file without a password.',
    );
  }
  if (width !== null && height !== null && Math.min(width, height) < MIN_SIDE_PIXELS) {
    const size = `${width} × ${height} pixels`;
    const reason = `The image has ${size}. Each side needs at least ${MIN_SIDE_PIXELS} pixels.`;
    return rejection('LOW_QUALITY', reason);
  }
  return { state: 'accepted' };
}

export const localDocuments: DocumentCheckPort = {
  check: async ({ findings }) => checkFile(findings),
};
