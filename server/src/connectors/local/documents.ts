// The built-in check of documents: what can be told from a file alone, without anybody's help. It refuses
// what no reviewer could use, so that a platform hears of it while its customer is still there. What a
// document says, and whether it is genuine, is for a provider that takes this one's place, or for a person.
import type { DocumentCheckPort, DocumentFindings, DocumentVerdict } from '../ports/documents.ts';

/** The shorter side of a picture in which print can still be read. */
const MIN_SIDE_PIXELS = 300;

const refused = (
  code: 'LOW_QUALITY' | 'UNSUITABLE_DOCUMENT' | 'INCOMPLETE',
  reason: string,
): DocumentVerdict => ({ state: 'refused', code, reason });

/** What a file's structure alone says about it. */
export function checkFile({
  readable,
  complete,
  locked,
  width,
  height,
}: DocumentFindings): DocumentVerdict {
  // Its format is one we take, so it is the file that is at fault and not its type.
  if (!readable) return refused('UNSUITABLE_DOCUMENT', 'The file cannot be read.');
  if (!complete) return refused('INCOMPLETE', 'The file breaks off: a part of it is missing.');
  if (locked) {
    return refused(
      'UNSUITABLE_DOCUMENT',
      'The file is encrypted. Send one that opens for anybody.',
    );
  }
  if (width !== null && height !== null && Math.min(width, height) < MIN_SIDE_PIXELS) {
    const reason = `The image has ${width} × ${height} pixels; each side needs ${MIN_SIDE_PIXELS}.`;
    return refused('LOW_QUALITY', reason);
  }
  return { state: 'accepted' };
}

export const localDocuments: DocumentCheckPort = {
  check: async ({ findings }) => checkFile(findings),
};
