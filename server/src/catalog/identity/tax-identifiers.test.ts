// Tax identifiers of each country: sources, formats, check digits, and the identifier that is
// required of a person.
import { describe, expect, it } from 'vitest';
import { COUNTRY_CODES, countryName } from './countries.ts';
import { TAX_IDENTIFIER_CHECKS } from './tax-identifier-checks.ts';
import {
  compactTaxIdentifier,
  hasTaxIdentifierFormat,
  hasValidCheckDigits,
  requiredTaxIdentifier,
  TAX_IDENTIFIERS,
  type TaxIdentifier,
  usesUsTaxIdentifiers,
} from './tax-identifiers.ts';

const rows = [...TAX_IDENTIFIERS];

const PAGE_HEADER = `# Tax identifiers

Tax identifiers of natural persons per country, for \`NON_US_TAX_ID\` with \`countryOfIssuance\`.
Residents and citizens of the United States and its territories have an SSN or ITIN instead. The
format applies to the number in upper case, without spaces and separators. A test generates this
page from \`catalog/identity/tax-identifiers.ts\`:
\`npm test -- server/src/catalog/identity/tax-identifiers.test.ts -u\`.
`;

function generatePage(): string {
  const sourceOf = ({ source }: TaxIdentifier) => `Source: ${source}.`;
  const section = (title: string, lines: string[]) => [`## ${title}`, '', ...lines, ''].join('\n');
  const issuedRows = rows.filter(([, { isIssued }]) => isIssued);
  const countryLine = ([code, row]: [string, TaxIdentifier], text = '') =>
    `- ${code}, ${countryName(code)}: ${text}${sourceOf(row)}`;
  return [
    PAGE_HEADER,
    section(
      'Countries with a format',
      issuedRows
        .filter(([, { example }]) => example)
        .map((row) => {
          const [, { name, example, pattern }] = row;
          return countryLine(row, `${name}, like \`${example}\`. Format: \`${pattern}\`. `);
        }),
    ),
    section(
      'Countries without a format: 3 to 30 letters and digits',
      issuedRows.filter(([, { example }]) => !example).map((row) => countryLine(row)),
    ),
    section(
      'Countries without tax identifiers: an identity document is sufficient',
      rows.filter(([, { isIssued }]) => !isIssued).map((row) => countryLine(row)),
    ),
  ].join('\n');
}

describe('tax identifiers', () => {
  it('have one row with a source for every country without US tax identifiers', () => {
    const codes = COUNTRY_CODES.filter((code) => !usesUsTaxIdentifiers(code));
    expect(rows.map(([code]) => code)).toEqual(codes);
    for (const [, { name, source }] of rows) expect([name, source]).not.toContain('');
  });

  it('are listed in the documentation', async () => {
    await expect(generatePage()).toMatchFileSnapshot('../../../../docs/tax-identifiers.md');
  });

  const examples = rows.flatMap(([code, { example }]) => (example ? [[code, example]] : []));

  it.each(examples)('accept the example of %s: %s', (code = '', example = '') => {
    expect(hasTaxIdentifierFormat(code, example)).toBe(true);
    expect(hasValidCheckDigits(code, example)).toBe(true);
    expect(hasTaxIdentifierFormat(code, compactTaxIdentifier(example).toLowerCase())).toBe(true);
  });

  it.each(rows.map(([code]) => code))(
    'reject asterisks, spaces and long strings for %s',
    (code) => {
      for (const text of ['', '  ', '***-**-6789', '1'.repeat(31), '<1234567>']) {
        expect([text, hasTaxIdentifierFormat(code, text)]).toEqual([text, false]);
      }
    },
  );

  it.each([
    ['DE', '06 095 742 719'],
    ['DE', 'DE123456789'],
    ['GB', 'Q123456C'],
    ['ES', 'A2345678'],
    ['IN', 'ABCCE1234F'],
    ['FR', '4023217600053'],
    ['CH', '755.1234.5678.97'],
    ['MX', 'VEC880326XXX'],
    ['IT', 'RSSMRA85F10A562S'],
  ])('reject the format of %s: %s', (code, text) => {
    expect(hasTaxIdentifierFormat(code, text)).toBe(false);
  });

  it.each(Object.keys(TAX_IDENTIFIER_CHECKS))('reject another check character of %s', (code) => {
    const compactExample = compactTaxIdentifier(TAX_IDENTIFIERS.get(code)?.example ?? '');
    const checkIndex = code === 'IE' ? compactExample.length - 2 : compactExample.length - 1;
    const otherTexts = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
      .map(
        (char) => compactExample.slice(0, checkIndex) + char + compactExample.slice(checkIndex + 1),
      )
      .filter((text) => text !== compactExample && hasTaxIdentifierFormat(code, text));
    expect(otherTexts.length).toBeGreaterThan(5);
    expect(otherTexts.filter((text) => hasValidCheckDigits(code, text))).toEqual([]);
  });

  it.each([
    ['BE', '17073003384'],
    ['EE', '37102250382'],
    ['ES', 'X1234567-L'],
    ['FI', '010594Y9032'],
    ['HK', 'AB987654(3)'],
    ['IE', '1234567T'],
    ['NZ', '136410132'],
    ['PL', '123-456-32-18'],
    ['SE', '19640823-3234'],
    ['CL', '11.111.111-1'],
    ['RE', '30 23 217 600 053'],
  ])('accept another format of %s: %s', (code, text) => {
    expect([hasTaxIdentifierFormat(code, text), hasValidCheckDigits(code, text)]).toEqual([
      true,
      true,
    ]);
  });

  it('accept any number without a format, and validate only numbers in the format', () => {
    expect(hasTaxIdentifierFormat('NG', 'NG-777-888')).toBe(true);
    expect(hasValidCheckDigits('NG', 'NG-777-888')).toBe(true);
    expect(hasValidCheckDigits('DE', 'no number')).toBe(true);
    expect(hasTaxIdentifierFormat('ZZ', '123-45-6789')).toBe(true);
  });
});

describe('requiredTaxIdentifier', () => {
  it.each([
    ['US', 'US', 'US'],
    ['US', 'DE', 'US'],
    ['DE', 'US', 'US'],
    ['DE', 'PR', 'US'],
    ['DE', 'DE', 'NATIONAL'],
    ['AE', 'DE', 'NATIONAL'],
    ['DE', 'AE', 'NONE'],
    ['US', 'AE', 'US'],
    [undefined, 'KY', 'NONE'],
    ['KY', undefined, 'NONE'],
    [undefined, undefined, 'NATIONAL'],
    [7, null, 'NATIONAL'],
    ['DE', 'ZZ', 'NATIONAL'],
  ])('of a citizen of %s resident in %s is %s', (nationality, residence, expectedIdentifier) => {
    expect(requiredTaxIdentifier({ nationality, residence })).toBe(expectedIdentifier);
  });

  it('returns NONE only for the listed countries', () => {
    const countriesWithoutNumbers = rows
      .filter(([, row]) => !row.isIssued)
      .map(([code]) => countryName(code));
    expect(countriesWithoutNumbers).toEqual([
      'United Arab Emirates',
      'Anguilla',
      'Bahrain',
      'Bermuda',
      'Bahamas',
      'Kuwait',
      'Cayman Islands',
      'Monaco',
      'Oman',
      'Qatar',
      'Turks and Caicos Islands',
      'British Virgin Islands',
      'Vanuatu',
    ]);
  });
});
