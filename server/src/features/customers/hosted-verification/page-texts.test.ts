// Texts of the verification page: messages for empty fields.
import { describe, expect, it } from 'vitest';
import {
  activityFields,
  addressFields,
  businessFields,
  diligenceFields,
  emptyMessage,
  identifierFields,
  ownerFields,
  personFields,
} from './page/fields.ts';

const FIELDS = [
  ...personFields,
  ...addressFields(''),
  ...identifierFields,
  ...diligenceFields,
  ...businessFields,
  ...activityFields,
  ...ownerFields,
];

describe('the message about an empty field', () => {
  it.each(FIELDS.map((field) => [field.name, field] as const))(
    'is an instruction: %s',
    (_name, field) => {
      const message = emptyMessage(field);
      expect(message).toMatch(/^(Enter|Select) (the|your|a|at|how|what|where|whether)\b/);
      expect(message).not.toMatch(
        /\b(the|a|your) (what|where|which|how|the|a|your)\b|\?|[A-Z] [A-Z]/,
      );
      expect(message).not.toMatch(/ (nAICS|sSN)/);
    },
  );

  it('contains the noun or the label of the field', () => {
    const findField = (name: string) => FIELDS.find((field) => field.name === name);
    const messages = ['fullName', 'roles', 'businessInfo.naicsCode', 'businessInfo.entityType'].map(
      (name) => emptyMessage(findField(name) ?? { name, label: '', kind: 'text' }),
    );
    expect(messages).toEqual([
      'Enter your full name',
      'Select at least one role',
      'Enter the NAICS code',
      'Select the legal form',
    ]);
  });
});
