// Public interface of documents.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { documentOperations } from './operations.ts';
import { documentPersonalData } from './personal-data.ts';

export { DocumentType, replaceDocument, uploadDocument } from './contract.ts';
export {
  addDocument,
  changeDocument,
  type DocumentDeps,
  documentOf,
  documentsOf,
  markSubmitted,
  presentDocument,
  removeDocument,
} from './document.ts';
export {
  documentLists,
  filesOfCustomer,
  listDocumentsForReview,
  openDocument,
} from './operator-queries.ts';
export type { DocumentRow } from './store.ts';
export { IDENTITY_TYPES, MAX_FILE_BYTES, TWO_SIDED_TYPES } from './types.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const documentFeature = {
  operations: documentOperations,
  personalData: documentPersonalData,
} satisfies Feature;
