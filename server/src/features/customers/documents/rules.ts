// What a document must come with, beside what the schema says, and what its file must be at the least. Pure:
// the API and the hosted page ask the same questions and get the same answers.
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

/** A text that says something, or nothing. */
export const wordOf = (given: unknown): string | null => {
  const word = typeof given === 'string' ? given.trim() : '';
  return word === '' ? null : word;
};

function fileErrors(findings: DocumentFindings | undefined): FieldError[] {
  if (!findings || findings.format) return [];
  const constraint = { enum: Object.values<string>(MEDIA_TYPES) };
  const message =
    findings.size === 0 ? 'is empty' : `is none of ${Object.keys(MEDIA_TYPES).join(', ')}`;
  return [{ field: 'file', constraint, message }];
}

/** Everything wrong with a document that the schema cannot say. */
export function documentErrors(body: unknown): FieldError[] {
  const given = (body ?? {}) as Record<string, unknown>;
  const { side, country, file } = given;
  const type = given.documentType as DocumentType;
  const findings = (file as { findings?: DocumentFindings } | undefined)?.findings;
  const errors = fileErrors(findings);
  if (typeof country === 'string' && !isCountry(country)) {
    errors.push({ field: 'country', message: 'is not a country, as ISO 3166-1 alpha-2 codes it' });
  }
  if (side !== undefined && DOCUMENT_TYPES.includes(type) && !TWO_SIDED_TYPES.includes(type)) {
    errors.push({ field: 'side', message: `is only for ${TWO_SIDED_TYPES.join(' and ')}` });
  }
  if (IDENTITY_TYPES.includes(type)) {
    for (const field of ['documentNumber', 'issuingAuthority']) {
      if (wordOf(given[field]) === null) {
        errors.push({ field, message: `is required for ${type}` });
      }
    }
  }
  return errors;
}
