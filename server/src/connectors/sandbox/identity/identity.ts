// The scripted identity check, as data. The last three characters of a person's full name, a
// business's registration number or an owner's family name select the verdict. The verdict is
// immediate, and a case in review remains in review until an operator decides. Other findings are
// scripted by a document whose number is the name of the finding.
import { type FindingType, isFindingType } from '../../../catalog/identity/verification-errors.ts';
import type {
  IdentityCase,
  IdentityFinding,
  IdentityPort,
  IdentityVerdict,
  OwnerOutcome,
} from '../../ports/index.ts';

type Status = ReturnType<NonNullable<IdentityPort['atCreation']>>;
type ScriptedVerdict = 'approved' | 'rejected' | 'review' | 'unresolved';

/** Initial status of a person whose platform verifies its customers itself, by full name. */
export const STATUS_BY_SUFFIX: Readonly<Record<string, Status>> = {
  '001': 'PENDING',
  '002': 'REJECTED',
  '003': 'UNVERIFIED',
};

/** Verdict for a complete submission of a person, by full name. */
export const PERSON_SUFFIXES: Readonly<Record<string, ScriptedVerdict>> = {
  '001': 'review',
  '002': 'rejected',
  '003': 'unresolved',
};

/** Verdict for a business, by registration number. */
export const BUSINESS_SUFFIXES: Readonly<Record<string, ScriptedVerdict>> = {
  '001': 'review',
  '002': 'rejected',
  '003': 'review',
};

/** Result of an owner once the business is decided, by family name. */
export const OWNER_OUTCOMES: Readonly<Record<string, OwnerOutcome>> = {
  '001': 'PENDING',
  '002': 'REJECTED',
};

/** Document numbers that script a finding, and its subject. */
export const SCRIPTED_FINDINGS: Readonly<Partial<Record<FindingType, 'document' | 'holder'>>> = {
  INVALID_DOCUMENT: 'document',
  EXPIRED_DOCUMENT: 'document',
  POOR_QUALITY_DOCUMENT: 'document',
  SUSPECTED_FRAUD_DOCUMENT: 'document',
  WRONG_DOCUMENT_TYPE: 'document',
  INCOMPLETE_DOCUMENT: 'document',
  UNREADABLE_DOCUMENT: 'document',
  DOCUMENT_VERIFICATION_FAILED: 'document',
  MISSING_PROOF_OF_ADDRESS_DOCUMENT: 'holder',
  MISSING_GOOD_STANDING_DOCUMENT: 'holder',
  APPLICANT_SANCTIONED: 'holder',
  APPLICANT_FRAUD: 'holder',
  APPLICANT_CRIMINAL_RECORD: 'holder',
  APPLICANT_REJECTED: 'holder',
};

const suffixIn = (text: unknown): string => (typeof text === 'string' ? text.slice(-3) : '');

function suffixOf({ type, details }: IdentityCase): string {
  if (type === 'INDIVIDUAL') return suffixIn(details.fullName);
  return suffixIn(
    (details.businessInfo as Record<string, unknown> | undefined)?.registrationNumber,
  );
}

const ownersOf = ({ owners }: IdentityCase): Record<string, OwnerOutcome> =>
  Object.fromEntries(
    owners.map(({ id, personalInfo }) => [
      id,
      OWNER_OUTCOMES[suffixIn(personalInfo.lastName)] ?? 'APPROVED',
    ]),
  );

function scriptedFindings({ documents }: IdentityCase): IdentityFinding[] {
  return documents.flatMap(({ id, holder, documentNumber: type = '' }) => {
    if (!isFindingType(type) || !SCRIPTED_FINDINGS[type]) return [];
    return [{ type, resourceId: SCRIPTED_FINDINGS[type] === 'document' ? id : holder }];
  });
}

/** Finding for the suffix of unreadable documents. */
function illegibleDocuments({ documents }: IdentityCase): IdentityFinding[] {
  const identityTypes = ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'];
  const document =
    documents.find((each) => identityTypes.includes(each.documentType)) ?? documents[0];
  return [{ type: 'POOR_QUALITY_DOCUMENT', ...(document ? { resourceId: document.id } : {}) }];
}

function verdictBySuffix(identityCase: IdentityCase): IdentityVerdict {
  const verdicts = identityCase.type === 'INDIVIDUAL' ? PERSON_SUFFIXES : BUSINESS_SUFFIXES;
  const verdict = verdicts[suffixOf(identityCase)] ?? 'approved';
  if (verdict === 'review') return { state: 'review' };
  if (verdict === 'unresolved')
    return { state: 'unresolved', findings: illegibleDocuments(identityCase) };
  return { state: verdict, owners: ownersOf(identityCase) };
}

function decideCase(identityCase: IdentityCase): IdentityVerdict {
  const findings = scriptedFindings(identityCase);
  return findings.length ? { state: 'unresolved', findings } : verdictBySuffix(identityCase);
}

export const sandboxIdentity: IdentityPort = {
  atCreation({ type, fullName }) {
    if (type === 'BUSINESS') return 'UNVERIFIED';
    return STATUS_BY_SUFFIX[suffixIn(fullName)] ?? 'APPROVED';
  },
  withoutDocuments(identityCase) {
    if (identityCase.type === 'INDIVIDUAL') return undefined;
    const verdict = verdictBySuffix(identityCase);
    return verdict.state === 'review' ? undefined : verdict;
  },
  submit: async (identityCase) => decideCase(identityCase),
  check: async (identityCase) => decideCase(identityCase),
};
