// Findings of identity verifications: each type with its message and the documents that resolve it.
// The completeness check, connectors and operators share these types.

/** Subject of a finding: a field, missing data, a document, or the applicant. */
type FindingSubject = 'field' | 'missing-data' | 'document' | 'applicant';

interface Definition<Document extends string> {
  subject: FindingSubject;
  /** Message for the person who resolves the finding. Never contains entered data. */
  reason: string;
  /** Document types of which one resolves the finding. */
  acceptedDocuments?: readonly Document[];
}

const FINDINGS = {
  MISSING_FIELD: { subject: 'field', reason: 'This field is required.' },
  INVALID_FIELD: { subject: 'field', reason: 'This field has an invalid value.' },
  MISSING_LEGAL_PRESENCE_DOCUMENT: {
    subject: 'missing-data',
    reason: 'A document about the formation of the business is required.',
    acceptedDocuments: [
      'CERTIFICATE_OF_INCORPORATION',
      'ARTICLES_OF_INCORPORATION',
      'ARTICLES_OF_ASSOCIATION',
      'STATE_REGISTRY_EXCERPT',
    ],
  },
  MISSING_CONTROL_STRUCTURE_DOCUMENT: {
    subject: 'missing-data',
    reason: 'A document about the control structure of the business is required.',
    acceptedDocuments: [
      'DIRECTOR_REGISTRY',
      'TRUST_AGREEMENT',
      'STATE_COMPANY_REGISTRY',
      'PARTNERSHIP_CONTROL_AGREEMENT',
    ],
  },
  MISSING_OWNERSHIP_STRUCTURE_DOCUMENT: {
    subject: 'missing-data',
    reason: 'A document about the ownership of the business is required.',
    acceptedDocuments: ['SHAREHOLDER_REGISTER', 'TRUST_AGREEMENT', 'PARTNERSHIP_AGREEMENT'],
  },
  MISSING_PROOF_OF_ADDRESS_DOCUMENT: {
    subject: 'missing-data',
    reason: 'A proof of address is required.',
    acceptedDocuments: [
      'UTILITY_BILL',
      'RENT_OR_LEASE_AGREEMENT',
      'ELECTRICITY_BILL',
      'BANK_STATEMENT',
      'TAX_RETURN',
      'PROOF_OF_ADDRESS',
    ],
  },
  MISSING_IDENTITY_DOCUMENT: {
    subject: 'missing-data',
    reason: 'An identity document is required.',
    acceptedDocuments: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'],
  },
  MISSING_GOOD_STANDING_DOCUMENT: {
    subject: 'missing-data',
    reason: 'A certificate of good standing is required.',
    acceptedDocuments: ['GOOD_STANDING_CERTIFICATE'],
  },
  MISSING_BENEFICIAL_OWNER: { subject: 'missing-data', reason: 'A beneficial owner is required.' },
  MISSING_CONTROL_PERSON: {
    subject: 'missing-data',
    reason: 'A person with the role CONTROL_PERSON is required.',
  },
  INVALID_DOCUMENT: { subject: 'document', reason: 'The document is not valid.' },
  EXPIRED_DOCUMENT: { subject: 'document', reason: 'The document has expired.' },
  POOR_QUALITY_DOCUMENT: {
    subject: 'document',
    reason: 'The image quality of the document is too low.',
  },
  SUSPECTED_FRAUD_DOCUMENT: {
    subject: 'document',
    reason: 'The authenticity of the document could not be confirmed.',
  },
  WRONG_DOCUMENT_TYPE: {
    subject: 'document',
    reason: 'The document does not match its stated type.',
  },
  INCOMPLETE_DOCUMENT: { subject: 'document', reason: 'The document is incomplete.' },
  UNREADABLE_DOCUMENT: { subject: 'document', reason: 'The file cannot be read.' },
  DOCUMENT_VERIFICATION_FAILED: {
    subject: 'document',
    reason: 'The document could not be verified.',
  },
  APPLICANT_SANCTIONED: {
    subject: 'applicant',
    reason: 'The applicant matches a sanctions list entry.',
  },
  APPLICANT_FRAUD: { subject: 'applicant', reason: 'Fraud was suspected.' },
  APPLICANT_CRIMINAL_RECORD: {
    subject: 'applicant',
    reason: 'The applicant has a criminal record.',
  },
  APPLICANT_REJECTED: { subject: 'applicant', reason: 'The applicant was rejected.' },
} as const satisfies Record<string, Definition<string>>;

export type FindingType = keyof typeof FINDINGS;
type FindingWithDocuments = Extract<(typeof FINDINGS)[FindingType], { acceptedDocuments: unknown }>;
type FindingDefinition = Definition<FindingWithDocuments['acceptedDocuments'][number]>;

export const FINDING_TYPES = Object.keys(FINDINGS) as FindingType[];

export const isFindingType = (text: string): text is FindingType => Object.hasOwn(FINDINGS, text);

export const findingKind = (type: FindingType): FindingDefinition => FINDINGS[type];
