// Maps the columns of an import to the body of `POST /customers`, and validation errors back to
// columns. Unknown columns are ignored.
import { parse } from 'csv-parse/sync';
import type { FieldError } from '../../../kernel/fault.ts';

type Kind = 'INDIVIDUAL' | 'BUSINESS';

const KINDS: readonly Kind[] = ['INDIVIDUAL', 'BUSINESS'];

/** Required for every row. `customerType` selects further columns in `TYPE_COLUMNS`. */
const COMMON_COLUMNS: readonly string[] = ['umaAddress', 'platformCustomerId', 'customerType'];
const ADDRESS_COLUMNS: readonly string[] = [
  'addressLine1',
  'city',
  'state',
  'postalCode',
  'country',
];
const TYPE_COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  INDIVIDUAL: ['fullName', 'birthDate'],
  BUSINESS: ['businessLegalName'],
};

/** Path in the body by column, for both customer types. */
const SHARED_PATHS: Readonly<Record<string, string>> = {
  umaAddress: 'umaAddress',
  platformCustomerId: 'platformCustomerId',
  customerType: 'customerType',
  email: 'email',
  phoneNumber: 'phoneNumber',
  addressLine1: 'address.line1',
  addressLine2: 'address.line2',
  city: 'address.city',
  state: 'address.state',
  postalCode: 'address.postalCode',
  country: 'address.country',
};
/** Path in the body by column. Columns of the other customer type are ignored. */
const PATHS: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  INDIVIDUAL: {
    ...SHARED_PATHS,
    fullName: 'fullName',
    birthDate: 'birthDate',
    nationality: 'nationality',
    idType: 'idType',
    identifier: 'identifier',
    countryOfIssuance: 'countryOfIssuance',
  },
  BUSINESS: {
    ...SHARED_PATHS,
    businessLegalName: 'businessInfo.legalName',
    businessRegistrationNumber: 'businessInfo.registrationNumber',
    businessTaxId: 'businessInfo.taxId',
  },
};

/**
 * Fields that `POST /customers` requires for a business and a file may omit. The date of
 * incorporation has no column.
 */
const OPTIONAL_FIELDS_OF_FILES: readonly string[] = [
  'businessInfo.incorporatedOn',
  'businessInfo.taxId',
];

const CSV_OPTIONS = {
  delimiter: ',',
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
  trim: true,
};

/** Cells of each row, or undefined if any row is malformed. */
function parseCells(bytes: Uint8Array): string[][] | undefined {
  try {
    return parse(Buffer.from(bytes), CSV_OPTIONS) as string[][];
  } catch {
    return undefined;
  }
}

/** Cells of one row, or undefined if the row is malformed. */
export function cellsOf(row: Uint8Array): string[] | undefined {
  const rows = parseCells(row);
  return rows?.length === 1 ? rows[0] : undefined;
}

/** Cells of several rows. Rows are parsed together unless a row is malformed. */
export function cellsOfEach(rows: readonly Uint8Array[]): (string[] | undefined)[] {
  const parsedRows = parseCells(Buffer.concat(rows));
  return parsedRows?.length === rows.length ? parsedRows : rows.map(cellsOf);
}

/**
 * Required columns that the header lacks: columns of every row, and of at least one customer type.
 */
export function missingColumns(columns: readonly string[]): string[] {
  const missingNamesOf = (names: readonly string[]) =>
    names.filter((name) => !columns.includes(name));
  const missingNamesByType = KINDS.map((kind) => missingNamesOf(TYPE_COLUMNS[kind]));
  const hasCompleteType = missingNamesByType.some((names) => names.length === 0);
  // A header with a column of one type is intended for that type.
  const startedTypes = KINDS.filter((kind) =>
    TYPE_COLUMNS[kind].some((name) => columns.includes(name)),
  );
  const intendedTypes = startedTypes.length ? startedTypes : KINDS;
  return [
    ...missingNamesOf([...COMMON_COLUMNS, ...ADDRESS_COLUMNS]),
    ...(hasCompleteType ? [] : intendedTypes.flatMap((kind) => missingNamesOf(TYPE_COLUMNS[kind]))),
  ];
}

/** At most 100 names, because a header can have thousands of columns. */
export function repeatedColumns(columns: readonly string[]): string[] {
  const [names, duplicates] = [new Set<string>(), new Set<string>()];
  for (const name of columns) (name !== '' && names.has(name) ? duplicates : names).add(name);
  return [...duplicates].slice(0, 100);
}

type Body = Record<string, unknown>;

/** Row as a request body, with its errors. */
export interface Candidate {
  /**
   * The `platformCustomerId`, or `row_<n>` if it is absent or too long, or if the row is malformed.
   */
  correlationId: string;
  body: Body;
  errors: FieldError[];
  /** Body without invalid columns. Absent if the row is valid, malformed, or of an invalid type. */
  validPart?: Body;
}

function setPath(body: Body, path: string, value: string): void {
  const [outerName = '', innerName] = path.split('.');
  if (innerName === undefined) body[outerName] = value;
  else body[outerName] = { ...(body[outerName] as Body | undefined), [innerName]: value };
}

function bodyOf(cells: ReadonlyMap<string, string>, kind: Kind | undefined): Body {
  const body: Body = {};
  for (const [column, path] of Object.entries(kind ? PATHS[kind] : SHARED_PATHS)) {
    const value = cells.get(column);
    if (value) setPath(body, path, value);
  }
  const { umaAddress } = body;
  if (typeof umaAddress === 'string' && !umaAddress.startsWith('$'))
    body.umaAddress = `$${umaAddress}`;
  if (kind === 'BUSINESS') {
    const country = cells.get('country');
    body.businessInfo ??= {};
    if (country) setPath(body, 'businessInfo.country', country);
  }
  return body;
}

/** Maps errors of a body to the columns of the row, at most one per column. */
export function errorsByColumn(errors: readonly FieldError[], kind: unknown): FieldError[] {
  const paths = kind === 'BUSINESS' ? PATHS.BUSINESS : PATHS.INDIVIDUAL;
  const columns = new Map(Object.entries(paths).map(([column, path]) => [path, column]));
  columns.set('businessInfo.country', 'country');
  const byField = new Map<string, FieldError>();
  for (const error of errors) {
    const field = columns.get(error.field) ?? error.field;
    if (!byField.has(field)) byField.set(field, { ...error, field });
  }
  return [...byField.values()];
}

const MAX_ID_LENGTH = 255;

function missingValueErrors(
  cells: ReadonlyMap<string, string>,
  kind: Kind | undefined,
): FieldError[] {
  const requiredColumns = [
    ...COMMON_COLUMNS,
    ...ADDRESS_COLUMNS,
    ...(kind ? TYPE_COLUMNS[kind] : []),
  ];
  // Most countries have no states in addresses.
  const isAbroad = !['', 'US'].includes(cells.get('country') ?? '');
  const emptyColumns = requiredColumns.filter(
    (column) => !cells.get(column) && !(column === 'state' && isAbroad),
  );
  return emptyColumns.map((field) => ({ field, message: 'is required' }));
}

/** Maps a row to a request body and validates it as `POST /customers` does. */
export function candidateOf(
  columns: readonly string[],
  cells: readonly string[] | undefined,
  number: number,
  bodyErrors: (body: unknown) => FieldError[],
): Candidate {
  const malformedCandidate = (message: string): Candidate => ({
    correlationId: `row_${number}`,
    body: {},
    errors: [{ field: 'row', message }],
  });
  if (!cells) return malformedCandidate('is not well-formed CSV');
  if (cells.length !== columns.length) {
    const message = `has ${cells.length} cells. The header row has ${columns.length} cells`;
    return malformedCandidate(message);
  }
  const values = new Map(columns.map((name, index) => [name, cells[index] as string]));
  const kind = KINDS.find((each) => each === values.get('customerType'));
  const body = bodyOf(values, kind);
  const wrongFieldErrors = bodyErrors(body).filter(
    ({ field }) => !OPTIONAL_FIELDS_OF_FILES.includes(field) || isPresent(body, field),
  );
  const id = values.get('platformCustomerId') ?? '';
  const errors = errorsByColumn([...missingValueErrors(values, kind), ...wrongFieldErrors], kind);
  return {
    correlationId: id !== '' && id.length <= MAX_ID_LENGTH ? id : `row_${number}`,
    body,
    errors,
    ...(kind && errors.length ? { validPart: bodyOf(withoutColumns(values, errors), kind) } : {}),
  };
}

function withoutColumns(
  cells: ReadonlyMap<string, string>,
  errors: readonly FieldError[],
): ReadonlyMap<string, string> {
  const invalidColumns = new Set(errors.map(({ field }) => field));
  return new Map([...cells].filter(([column]) => !invalidColumns.has(column)));
}

function isPresent(body: Body, path: string): boolean {
  const [outerName = '', innerName = ''] = path.split('.');
  return (body[outerName] as Body | undefined)?.[innerName] !== undefined;
}
