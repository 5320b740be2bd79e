// Individuals with tax identifiers of other countries in a file, in the sandbox and in production.
// Each row has the result of the same customer over `POST /customers`.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  csvFile,
  type ImportHarness,
  importHarness,
} from '../../../../test/kit/customers/imports.ts';

const app = testApp();
let harness: ImportHarness;
beforeAll(async () => {
  harness = await importHarness(app);
});

const GERMAN_NUMBER = {
  idType: 'NON_US_TAX_ID',
  identifier: '65 929 970 489',
  countryOfIssuance: 'DE',
};
const SSN = { idType: 'SSN', identifier: '123-45-6789' };

/** Cells of an individual with an address in `country`. */
const PEOPLE: readonly Record<string, string>[] = [
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, identifier: '65929970489' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, identifier: '65 929 970 480' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, identifier: '0' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, countryOfIssuance: 'FR' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, countryOfIssuance: 'XX' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, countryOfIssuance: 'de' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, countryOfIssuance: 'US' },
  { country: 'DE', nationality: 'DE', ...GERMAN_NUMBER, countryOfIssuance: 'PR' },
  { country: 'DE', nationality: 'DE', idType: 'NON_US_TAX_ID' },
  { country: 'DE', nationality: 'DE', identifier: '65 929 970 489' },
  { country: 'DE', nationality: 'DE', countryOfIssuance: 'DE' },
  { country: 'DE', nationality: 'DE' },
  { country: 'de', nationality: 'DE' },
  { country: 'DE', nationality: 'US', ...GERMAN_NUMBER },
  { country: 'US', nationality: 'DE', ...GERMAN_NUMBER },
  { country: 'PR', nationality: 'US', ...GERMAN_NUMBER },
  { country: 'AE', nationality: 'AE' },
  {
    country: 'AE',
    nationality: 'AE',
    ...GERMAN_NUMBER,
    countryOfIssuance: 'AE',
    identifier: 'A-1',
  },
  {
    country: 'AE',
    nationality: 'AE',
    ...GERMAN_NUMBER,
    countryOfIssuance: 'AE',
    identifier: '***-1',
  },
  { country: 'AE', nationality: 'DE', ...GERMAN_NUMBER },
  { country: 'BM', nationality: 'BM', idType: 'NON_US_TAX_ID', countryOfIssuance: 'BM' },
  { country: 'DE', nationality: 'DE', ...SSN, countryOfIssuance: 'DE' },
  { country: 'DE', nationality: 'US', ...SSN, countryOfIssuance: 'US' },
];

/** Fields that some of the countries require for individuals. */
const CONTACTS = { email: 'ada@example.com', phoneNumber: '+15125550100' };

const CASES = [...PEOPLE, ...PEOPLE.map((cells) => ({ ...CONTACTS, ...cells }))];

interface Verdict {
  code: string;
  fields: string[];
}

const NO_ERRORS: Verdict = { code: 'NONE', fields: [] };

interface Errors {
  code: string;
  details: { errors?: { field: string }[] };
}

const verdictOf = ({ code, details }: Errors): Verdict => ({
  code,
  fields: (details.errors ?? []).map(({ field }) => field.replace(/^address\./, '')).sort(),
});

const STREET = { line1: '1 Main St', city: 'Austin', state: 'TX', postalCode: '78701' };

async function registerOverApi(
  cells: Record<string, string>,
  platform: TestPlatform,
): Promise<Verdict> {
  const { country, ...rest } = cells;
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace', birthDate: '1990-01-15' };
  const body = { ...person, address: { ...STREET, country }, ...rest };
  const { status, body: response } = await app.call('POST', '/customers', body, { platform });
  return status === 201 ? NO_ERRORS : verdictOf(response);
}

describe.each(['sandbox', 'production'] as const)(
  'a file with individuals of other countries in %s',
  (mode) => {
    it('is validated like POST /customers', async () => {
      const platform = mode === 'sandbox' ? app.platform : app.production;
      const { umaDomain } = ok(await app.call('GET', '/config', undefined, { platform }), 200);
      const idOf = (index: number) => `${mode}-${index}`;
      const rows = CASES.map((cells, index) =>
        harness.personRow(idOf(index), { umaAddress: `$${idOf(index)}@${umaDomain}`, ...cells }),
      );
      const { errors } = await harness.importFile(csvFile(...rows), platform);
      const failedRows = new Map<string, Errors>(
        errors.map((each: Errors & { correlationId: string }) => [each.correlationId, each]),
      );
      const apiVerdicts = await Promise.all(CASES.map((cells) => registerOverApi(cells, platform)));
      const importVerdicts = CASES.map((_, index) => {
        const error = failedRows.get(idOf(index));
        return error ? verdictOf(error) : NO_ERRORS;
      });
      expect(importVerdicts.map((each, index) => [CASES[index], each])).toEqual(
        apiVerdicts.map((each, index) => [CASES[index], each]),
      );
      expect(apiVerdicts.filter(({ code }) => code === 'NONE').length).toBeGreaterThan(5);
      expect(apiVerdicts.filter(({ code }) => code !== 'NONE').length).toBeGreaterThan(10);
      // The identifier of the third individual has a wrong check digit.
      expect(apiVerdicts[2]?.fields.includes('identifier')).toBe(mode === 'production');
    });
  },
);
