import { describe, expect, it } from 'vitest';
import { COUNTRY_CODES, countryName } from './countries.ts';
import { TAX_IDENTIFIER_CHECKS } from './tax-identifier-checks.ts';
import {
  compactTaxIdentifier,
  hasUsNumbers,
  holdsCheckDigits,
  isTaxIdentifier,
  neededIdentifier,
  TAX_IDENTIFIERS,
  type TaxIdentifier,
} from './tax-identifiers.ts';

const rows = [...TAX_IDENTIFIERS];

const HEAD = `# Tax identifiers

The number by which each country identifies natural persons for tax, given as \`NON_US_TAX_ID\`
with \`countryOfIssuance\`. Residents and citizens of the United States and its territories give
an SSN or ITIN instead. The format is that of the number without blanks and separators, in
capitals. A test makes this page from \`catalog/identity/tax-identifiers.ts\`:
\`npm test -- server/src/catalog/identity/tax-identifiers.test.ts -u\`.
`;

function page(): string {
  const sourceOf = ({ source }: TaxIdentifier) => `Source: ${source}.`;
  const section = (title: string, lines: string[]) => [`## ${title}`, '', ...lines, ''].join('\n');
  const issued = rows.filter(([, { isIssued }]) => isIssued);
  const countryLine = ([code, row]: [string, TaxIdentifier], text = '') =>
    `- ${code}, ${countryName(code)}: ${text}${sourceOf(row)}`;
  return [
    HEAD,
    section(
      'A number in a format',
      issued
        .filter(([, { example }]) => example)
        .map((row) => {
          const [, { name, example, pattern }] = row;
          return countryLine(row, `${name}, like \`${example}\`. Format: \`${pattern}\`. `);
        }),
    ),
    section(
      'A number of 3 to 30 letters and digits',
      issued.filter(([, { example }]) => !example).map((row) => countryLine(row)),
    ),
    section(
      'No number: an identity document is enough',
      rows.filter(([, { isIssued }]) => !isIssued).map((row) => countryLine(row)),
    ),
  ].join('\n');
}

describe('the table of tax identifiers', () => {
  it('has one row with a source for every country without US numbers', () => {
    const codes = COUNTRY_CODES.filter((code) => !hasUsNumbers(code));
    expect(rows.map(([code]) => code)).toEqual(codes);
    for (const [, { name, source }] of rows) expect([name, source]).not.toContain('');
  });

  it('is printed in the documentation', async () => {
    await expect(page()).toMatchFileSnapshot('../../../../docs/tax-identifiers.md');
  });

  const exemplified = rows.flatMap(([code, { example }]) => (example ? [[code, example]] : []));

  it.each(exemplified)('accepts the example of %s: %s', (code = '', example = '') => {
    expect(isTaxIdentifier(code, example)).toBe(true);
    expect(holdsCheckDigits(code, example)).toBe(true);
    expect(isTaxIdentifier(code, compactTaxIdentifier(example).toLowerCase())).toBe(true);
  });

  it.each(rows.map(([code]) => code))(
    'rejects asterisks, spaces and too many characters for %s',
    (code) => {
      for (const text of ['', '  ', '***-**-6789', '1'.repeat(31), '<1234567>']) {
        expect([text, isTaxIdentifier(code, text)]).toEqual([text, false]);
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
  ])('rejects the shape of %s: %s', (code, text) => {
    expect(isTaxIdentifier(code, text)).toBe(false);
  });

  it.each(Object.keys(TAX_IDENTIFIER_CHECKS))('rejects another last character for %s', (code) => {
    const compact = compactTaxIdentifier(TAX_IDENTIFIERS.get(code)?.example ?? '');
    const at = code === 'IE' ? compact.length - 2 : compact.length - 1;
    const others = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
      .map((char) => compact.slice(0, at) + char + compact.slice(at + 1))
      .filter((text) => text !== compact && isTaxIdentifier(code, text));
    expect(others.length).toBeGreaterThan(5);
    expect(others.filter((text) => holdsCheckDigits(code, text))).toEqual([]);
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
  ])('accepts the other form of %s: %s', (code, text) => {
    expect([isTaxIdentifier(code, text), holdsCheckDigits(code, text)]).toEqual([true, true]);
  });

  it('accepts any number without a known format or check digits', () => {
    expect(isTaxIdentifier('NG', 'NG-777-888')).toBe(true);
    expect(holdsCheckDigits('NG', 'NG-777-888')).toBe(true);
    expect(holdsCheckDigits('DE', 'no number')).toBe(true);
    expect(isTaxIdentifier('ZZ', '123-45-6789')).toBe(true);
  });
});

describe('neededIdentifier', () => {
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
  ])('of a citizen of %s who lives in %s is %s', (nationality, residence, needed) => {
    expect(neededIdentifier({ nationality, residence })).toBe(needed);
  });

  it('is not needed in a few countries, all of which exist', () => {
    const none = rows.filter(([, row]) => !row.isIssued).map(([code]) => countryName(code));
    expect(none).toEqual([
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
