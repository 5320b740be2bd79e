// Inspection and reading of CSV files. The result is independent of the chunk sizes, and reading can resume
// at any row.
import { describe, expect, it } from 'vitest';
import { candidateOf, cellsOfEach } from './columns.ts';
import { type FileFindings, inspectCsv, MAX_ROW_BYTES, MAX_ROWS, readRows } from './scan.ts';

const HEADER_ROW =
  'umaAddress,platformCustomerId,customerType,fullName,birthDate,' +
  'addressLine1,city,state,postalCode,country';
const ROW = '$a@d,c1,INDIVIDUAL,Ada,1990-01-15,1 Main St,Austin,TX,78701,US';

function inspect(content: string | Uint8Array, size = 7): FileFindings {
  const bytes = Buffer.from(content);
  const inspector = inspectCsv();
  for (let index = 0; index < bytes.length; index += size)
    inspector.write(bytes.subarray(index, index + size));
  return inspector.end() as FileFindings;
}

async function* splitIntoChunks(bytes: Buffer, size: number, progress?: { bytes: number }) {
  for (let index = 0; index < bytes.length; index += size) {
    const chunk = bytes.subarray(index, index + size);
    if (progress) progress.bytes += chunk.length;
    yield chunk;
  }
}

describe('inspectCsv', () => {
  it.each([
    ['LF line breaks', `${HEADER_ROW}\n${ROW}\n${ROW}\n`, 2],
    ['CRLF line breaks without a last line break', `${HEADER_ROW}\r\n${ROW}\r\n${ROW}`, 2],
    ['a byte order mark', `\uFEFF${HEADER_ROW}\n${ROW}\n`, 1],
    ['blank lines', `\n\r\n${HEADER_ROW}\n\n${ROW}\n \t\r\n${ROW}\n\n`, 2],
    [
      'quotes that contain line breaks',
      `${HEADER_ROW}\n${ROW.replace('Ada', '"A\n""d"",\r\na"')}\n`,
      1,
    ],
    ['an unmatched quote, which affects only its row', `${HEADER_ROW}\n${ROW}" x\n${ROW}\n`, 2],
    ['unknown columns', `${HEADER_ROW},shoe size\n${ROW},43\n`, 1],
    ['quoted columns with spaces', `"umaAddress", ${HEADER_ROW.slice(11)}\n${ROW}\n`, 1],
  ])('accepts %s', (_, content, rows) => {
    for (const size of [1, 3, 64, 100_000]) {
      const inspection = inspect(content, size);
      expect(inspection).toMatchObject({ rows, problem: null });
      expect(inspection.columns.slice(0, 2)).toEqual(['umaAddress', 'platformCustomerId']);
      const firstRow = Buffer.from(content).subarray(inspection.start).toString().trimStart();
      expect(firstRow.startsWith('$a@d')).toBe(true);
    }
  });

  const headerWithoutColumn = (column: string) =>
    HEADER_ROW.split(',')
      .filter((name) => name !== column)
      .join(',');

  it.each([
    ['an empty file', '', ['file'], /empty/],
    ['a file of blank lines', '\n\r\n \n', ['file'], /empty/],
    ['a file with only a header', `${HEADER_ROW}\n`, ['file'], /no rows/],
    [
      'a header without the column city',
      `${headerWithoutColumn('city')}\n${ROW}\n`,
      ['city'],
      /lacks required columns.*city/,
    ],
    [
      'a header without the column platformCustomerId',
      `${headerWithoutColumn('platformCustomerId')}\n${ROW}\n`,
      ['platformCustomerId'],
      /lacks/,
    ],
    [
      'a header without a column of individuals',
      `${headerWithoutColumn('birthDate')}\n${ROW}\n`,
      ['birthDate'],
      /lacks/,
    ],
    [
      'a header without the columns of individuals and businesses',
      `${HEADER_ROW.replace('fullName,birthDate,', '')}\n${ROW}\n`,
      ['fullName', 'birthDate', 'businessLegalName'],
      /lacks/,
    ],
    [
      'a file with semicolons as separators',
      `${HEADER_ROW.replaceAll(',', ';')}\n${ROW}\n`,
      'many',
      /lacks/,
    ],
    ['a repeated column', `${HEADER_ROW},city\n${ROW},x\n`, ['city'], /repeats/],
    ['a malformed header', `${HEADER_ROW},a"b\n${ROW}\n`, ['file'], /not well-formed/],
    [
      'an unclosed quote',
      `${HEADER_ROW}\n${ROW}\n"${ROW}\n${ROW}\n`,
      ['file'],
      /Row 2 has an unclosed/,
    ],
    [
      'a file in Latin-1',
      Buffer.from(`${HEADER_ROW}\n${ROW.replace('Ada', 'Zoë')}\n`, 'latin1'),
      ['file'],
      /UTF-8/,
    ],
    [
      'an incomplete character at the end',
      Buffer.from(`${HEADER_ROW}\n${ROW}ë`).subarray(0, -1),
      ['file'],
      /UTF-8/,
    ],
    [
      'a file in UTF-16',
      Buffer.from(`\uFEFF${HEADER_ROW}\n${ROW}\n`, 'utf16le'),
      ['file'],
      /UTF-8/,
    ],
    ['a zero byte', `${HEADER_ROW}\n${ROW.replace('Ada', 'A\0a')}\n`, ['file'], /UTF-8/],
    [
      'a long row',
      `${HEADER_ROW}\n${ROW}\n${'x'.repeat(MAX_ROW_BYTES + 1)}\n`,
      ['file'],
      /Row 2 is longer/,
    ],
    [
      'a long header',
      `${HEADER_ROW}${'x'.repeat(MAX_ROW_BYTES)}\n${ROW}\n`,
      ['file'],
      /header row is longer/,
    ],
    [
      'a file with too many rows',
      `${HEADER_ROW}\n${'x\n'.repeat(MAX_ROWS + 1)}`,
      ['file'],
      /50001 rows\. The maximum is 50000/,
    ],
  ])('rejects %s', (_, content, fields, message) => {
    for (const size of [5, 65_536]) {
      const { problem } = inspect(content, size);
      expect(problem?.message).toMatch(message as RegExp);
      const fieldNames = problem?.errors.map((each) => each.field);
      if (fields === 'many') expect(fieldNames).toContain('customerType');
      else expect(fieldNames).toEqual(fields);
    }
  });

  it('returns no columns of a rejected file', () => {
    expect(inspect('John Doe,1990-01-01\n').columns).toEqual([]);
  });
});

describe('readRows', () => {
  const rows = ['a,1\r\n', '"b\n,""",2\n', '\n', 'c,3\n', ' \t\r\n', 'ü,4'];
  const bytes = Buffer.from(rows.join(''));

  it('resumes at any row for any chunk size', async () => {
    for (const size of [1, 2, 5, 1_000]) {
      const readCells: (string[] | undefined)[] = [];
      let startOffset = 0;
      for (;;) {
        const limits = { rows: 2, bytes: 1_000 };
        const slice = await readRows(
          splitIntoChunks(bytes.subarray(startOffset), size),
          startOffset,
          limits,
        );
        if (slice.length === 0) break;
        expect(slice.length).toBeLessThanOrEqual(2);
        readCells.push(...cellsOfEach(slice.map((row) => row.bytes)));
        startOffset = slice.at(-1)?.end as number;
      }
      expect(readCells).toEqual([
        ['a', '1'],
        ['b\n,"', '2'],
        ['c', '3'],
        ['ü', '4'],
      ]);
      expect(startOffset).toBe(bytes.length);
    }
  });

  it('stops reading at its limits', async () => {
    const largeFile = Buffer.from('0123456789,0123456789\n'.repeat(1_000_000));
    const progress = { bytes: 0 };
    const limits = { rows: 1_024, bytes: 1_048_576 };
    const slice = await readRows(splitIntoChunks(largeFile, 65_536, progress), 0, limits);
    expect(slice).toHaveLength(1_024);
    expect(progress.bytes).toBe(65_536);
    const wideRows = Buffer.from(`${'x'.repeat(60_000)}\n`.repeat(300));
    expect(await readRows(splitIntoChunks(wideRows, 65_536), 0, limits)).toHaveLength(18);
  });
});

describe('candidateOf', () => {
  const columns = [
    ...HEADER_ROW.split(','),
    'businessLegalName',
    'businessTaxId',
    'email',
    'other',
  ];
  const cellsOf = (values: Record<string, string>) => columns.map((name) => values[name] ?? '');
  const addressCells = { addressLine1: 'a', city: 'b', state: 'c', postalCode: 'd', country: 'US' };
  const noErrors = () => [];

  it('maps rows of individuals and businesses to bodies', () => {
    const commonCells = { umaAddress: '$a@d', platformCustomerId: 'c1' };
    const address = { line1: 'a', city: 'b', state: 'c', postalCode: 'd', country: 'US' };
    const person = {
      ...commonCells,
      customerType: 'INDIVIDUAL',
      fullName: 'A',
      birthDate: '1990-01-15',
    };
    const business = { ...commonCells, customerType: 'BUSINESS' };
    const cells = {
      ...addressCells,
      ...person,
      email: 'a@b.c',
      other: 'x',
      businessLegalName: 'of a person',
    };
    expect(candidateOf(columns, cellsOf(cells), 1, noErrors)).toEqual({
      correlationId: 'c1',
      body: { ...person, address, email: 'a@b.c' },
      errors: [],
    });
    const businessCells = {
      ...addressCells,
      ...business,
      umaAddress: 'a@d',
      businessLegalName: 'F',
    };
    expect(candidateOf(columns, cellsOf(businessCells), 1, noErrors)).toEqual({
      correlationId: 'c1',
      body: { ...business, address, businessInfo: { legalName: 'F', country: 'US' } },
      errors: [],
    });
  });

  it('reports every invalid column once', () => {
    const findErrors = () => [
      { field: 'address.country', message: 'x' },
      { field: 'businessInfo.country', message: 'y' },
      { field: 'businessInfo.taxId', message: 'is required' },
      { field: 'businessInfo.incorporatedOn', message: 'is required' },
    ];
    const cells = cellsOf({ ...addressCells, customerType: 'BUSINESS', city: '' });
    const { correlationId, errors } = candidateOf(columns, cells, 7, findErrors);
    expect(correlationId).toBe('row_7');
    const fields = ['umaAddress', 'platformCustomerId', 'city', 'businessLegalName', 'country'];
    expect(errors.map((each) => each.field)).toEqual(fields);
  });

  it('validates a tax number that is present', () => {
    const findErrors = () => [{ field: 'businessInfo.taxId', message: 'x' }];
    const cells = cellsOf({ ...addressCells, customerType: 'BUSINESS', businessTaxId: 'no' });
    const { errors } = candidateOf(columns, cells, 1, findErrors);
    expect(errors.at(-1)).toEqual({ field: 'businessTaxId', message: 'x' });
  });

  it('reports only the row error if a row does not match the header', () => {
    for (const cells of [undefined, ['a', 'b'], [...columns, 'more']]) {
      const candidate = candidateOf(columns, cells, 3, noErrors);
      expect(candidate.correlationId).toBe('row_3');
      expect(candidate.errors.map((each) => each.field)).toEqual(['row']);
    }
  });
});
