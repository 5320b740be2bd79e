// The texts of the verification page: what it states about a field that was left empty, and its terms.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  activityFields,
  addressFields,
  diligenceFields,
  emptyMessage,
  firmFields,
  numberFields,
  ownerFields,
  personFields,
} from './page/fields.ts';

const FIELDS = [
  ...personFields,
  ...addressFields(''),
  ...numberFields,
  ...diligenceFields,
  ...firmFields,
  ...activityFields,
  ...ownerFields,
];

describe('the message about an empty field', () => {
  it.each(FIELDS.map((field) => [field.name, field] as const))(
    'is a sentence that states what to do: %s',
    (_name, field) => {
      const message = emptyMessage(field);
      expect(message).toMatch(/^(Enter|Select) (the|your|a|at|how|what|where|whether)\b/);
      expect(message).not.toMatch(
        /\b(the|a|your) (what|where|which|how|the|a|your)\b|\?|[A-Z] [A-Z]/,
      );
      expect(message).not.toMatch(/ (nAICS|sSN)/);
    },
  );

  it('has standard terms', () => {
    const of = (name: string) => FIELDS.find((field) => field.name === name);
    const messages = ['fullName', 'roles', 'businessInfo.naicsCode', 'businessInfo.entityType'].map(
      (name) => emptyMessage(of(name) ?? { name, label: '', kind: 'text' }),
    );
    expect(messages).toEqual([
      'Enter your full name',
      'Select at least one role',
      'Enter the NAICS code',
      'Select the legal form',
    ]);
  });
});

describe('the sources of the page', () => {
  it('use no colloquial terms', () => {
    const folder = path.join(import.meta.dirname, 'page');
    const banned =
      /\b(tell|told|nobody|somebody|whoever|mend|heed|parked|lapse|stranger|look at this again)\b/i;
    const lines = readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split('\n'));
    expect(lines.filter((line) => banned.test(line))).toEqual([]);
  });
});
