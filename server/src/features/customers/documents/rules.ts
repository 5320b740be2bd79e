// Rules for documents and their files that a schema cannot express. Pure functions that the API and
// the hosted page share.
import { isCountry } from '../../../catalog/identity/countries.ts';
import type { DocumentFindings } from '../../../connectors/ports/documents.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import {
  DOCUMENT_TYPES,
  type DocumentType,
  IDENTITY_TYPES,
  MEDIA_TYPES,
  TWO_SIDED_TYPES,
} from './types.ts';

/** Trimmed text, or null if it is empty. */
export const trimmedText = (value: unknown): string | null => {
  const trimmedValue = typeof value === 'string' ? value.trim() : '';
  return trimmedValue === '' ? null : trimmedValue;
};

function fileErrors(findings: DocumentFindings | undefined): FieldError[] {
  if (!findings || findings.format) return [];
  const constraint = { enum: Object.values<string>(MEDIA_TYPES) };
  const message =
    findings.size === 0 ? 'is empty' : `must be one of ${Object.keys(MEDIA_TYPES).join(', ')}`;
  return [{ field: 'file', constraint, message }];
}

/** Errors of a document that the schema cannot express. */
export function documentErrors(body: unknown): FieldError[] {
  const input = (body ?? {}) as Record<string, unknown>;
  const { side, country, file } = input;
  const type = input.documentType as DocumentType;
  const findings = (file as { findings?: DocumentFindings } | undefined)?.findings;
  const errors = fileErrors(findings);
  if (typeof country === 'string' && !isCountry(country)) {
    errors.push({ field: 'country', message: 'must be an ISO 3166-1 alpha-2 country code' });
  }
  if (side !== undefined && DOCUMENT_TYPES.includes(type) && !TWO_SIDED_TYPES.includes(type)) {
    errors.push({ field: 'side', message: `is only for ${TWO_SIDED_TYPES.join(' and ')}` });
  }
  if (IDENTITY_TYPES.includes(type)) {
    for (const field of ['documentNumber', 'issuingAuthority']) {
      if (trimmedText(input[field]) === null) {
        errors.push({ field, message: `is required for ${type}` });
      }
    }
  }
  return errors;
}
