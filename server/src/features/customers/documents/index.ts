// What other features may use of documents, and what the composition lists.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { documentOperations } from './operations.ts';
import { documentPersonalData } from './personal-data.ts';

export { filesOfCustomer, listDocumentsByHand, openDocument } from './by-hand.ts';
export { DocumentType, replaceDocument, uploadDocument } from './contract.ts';
export {
  addDocument,
  changeDocument,
  type DocumentParts,
  documentOf,
  documentsOf,
  markSubmitted,
  presentDocument,
  removeDocument,
} from './document.ts';
export type { DocumentRow } from './store.ts';
export { IDENTITY_TYPES, MAX_FILE_BYTES, TWO_SIDED_TYPES } from './types.ts';

/** What this feature adds to a server. */
export const documentFeature = {
  operations: documentOperations,
  personalData: documentPersonalData,
} satisfies Feature;
