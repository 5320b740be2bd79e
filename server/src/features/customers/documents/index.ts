// What other features may use of documents, and what the composition lists.
export { DocumentType, replaceDocument, uploadDocument } from './contract.ts';
export {
  addDocument,
  changeDocument,
  type DocumentParts,
  documentOf,
  documentPersonal,
  documentsOf,
  fileOf,
  markSubmitted,
  presentDocument,
  removeDocument,
} from './document.ts';
export { documentOperations } from './operations.ts';
export { documentPersonalData } from './personal-data.ts';
export { type DocumentRow, documents } from './store.ts';
export {
  DOCUMENT_TYPES,
  IDENTITY_TYPES,
  MAX_FILE_BYTES,
  TWO_SIDED_TYPES,
} from './types.ts';
