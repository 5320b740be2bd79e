// The columns of an import and what they are in a request: a row becomes the very body that POST /customers
// takes, and what is wrong with that body is told by column, as the reader of the file knows it. Columns
// that are not listed here are read over.
import { parse } from 'csv-parse/sync';
import type { FieldError } from '../../../kernel/fault.ts';

type Kind = 'INDIVIDUAL' | 'BUSINESS';

const KINDS: readonly Kind[] = ['INDIVIDUAL', 'BUSINESS'];

/** Of every row. `customerType` says which of the two lists below must be filled, too. */
const COMMON: readonly string[] = ['umaAddress', 'platformCustomerId', 'customerType'];
const PLACE: readonly string[] = ['addressLine1', 'city', 'state', 'postalCode', 'country'];
const OWN: Readonly<Record<Kind, readonly string[]>> = {
  INDIVIDUAL: ['fullName', 'birthDate'],
  BUSINESS: ['businessLegalName'],
};

/** Column → where it stands in the body; the columns of the other kind are not looked at. */
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

/** What POST /customers demands of a business and a file has no column for, or need not fill. */
const RELAXED: readonly string[] = ['businessInfo.incorporatedOn', 'businessInfo.taxId'];

const CSV = {
  delimiter: ',',
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
  trim: true,
};

/** The cells of each row, or undefined where one of them is not well-formed. */
function parsed(bytes: Uint8Array): string[][] | undefined {
  try {
    return parse(Buffer.from(bytes), CSV) as string[][];
  } catch {
    return undefined;
  }
}

/** The cells of one row; undefined where it is not well-formed. */
export function cellsOf(row: Uint8Array): string[] | undefined {
  const rows = parsed(row);
  return rows?.length === 1 ? rows[0] : undefined;
}

/** The cells of many rows, parsed together where nothing is wrong with any. */
export function cellsOfEach(rows: readonly Uint8Array[]): (string[] | undefined)[] {
  const together = parsed(Buffer.concat(rows));
  return together?.length === rows.length ? together : rows.map(cellsOf);
}

/** Columns that a head must have and lacks: those of every row, and those of one kind at least. */
export function missingColumns(columns: readonly string[]): string[] {
  const lacking = (names: readonly string[]) => names.filter((name) => !columns.includes(name));
  const own = KINDS.map((kind) => lacking(OWN[kind]));
  const isOneWhole = own.some((names) => names.length === 0);
  // A head that has something of one kind is meant for that kind.
  const begun = KINDS.filter((kind) => OWN[kind].some((name) => columns.includes(name)));
  const meant = begun.length ? begun : KINDS;
  return [
    ...lacking([...COMMON, ...PLACE]),
    ...(isOneWhole ? [] : meant.flatMap((kind) => lacking(OWN[kind]))),
  ];
}

/** The first of them: a head may have thousands. */
export function repeatedColumns(columns: readonly string[]): string[] {
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const name of columns) (name !== '' && seen.has(name) ? twice : seen).add(name);
  return [...twice].slice(0, 100);
}

type Body = Record<string, unknown>;

/** One row as a request, and everything wrong with it. */
export interface Candidate {
  /** The platform's own id where it can be one, else the number of the row. */
  correlationId: string;
  body: Body;
  errors: FieldError[];
  /** The body without the columns that are wrong; absent where nothing is wrong or nothing can be read. */
  sound?: Body;
}

function put(body: Body, path: string, value: string): void {
  const [first = '', second] = path.split('.');
  if (second === undefined) body[first] = value;
  else body[first] = { ...(body[first] as Body | undefined), [second]: value };
}

function bodyOf(cells: ReadonlyMap<string, string>, kind: Kind | undefined): Body {
  const body: Body = {};
  for (const [column, path] of Object.entries(kind ? PATHS[kind] : SHARED_PATHS)) {
    const value = cells.get(column);
    if (value) put(body, path, value);
  }
  const { umaAddress } = body;
  if (typeof umaAddress === 'string' && !umaAddress.startsWith('$'))
    body.umaAddress = `$${umaAddress}`;
  if (kind === 'BUSINESS') {
    const country = cells.get('country');
    body.businessInfo ??= {};
    if (country) put(body, 'businessInfo.country', country);
  }
  return body;
}

/** What is wrong with a body, told by the columns that it came from; one complaint for each. */
export function byColumn(errors: readonly FieldError[], kind: unknown): FieldError[] {
  const paths = kind === 'BUSINESS' ? PATHS.BUSINESS : PATHS.INDIVIDUAL;
  const columns = new Map(Object.entries(paths).map(([column, path]) => [path, column]));
  columns.set('businessInfo.country', 'country');
  const told = new Map<string, FieldError>();
  for (const error of errors) {
    const field = columns.get(error.field) ?? error.field;
    if (!told.has(field)) told.set(field, { ...error, field });
  }
  return [...told.values()];
}

const MOST_ID_LENGTH = 255;

function unfilled(cells: ReadonlyMap<string, string>, kind: Kind | undefined): FieldError[] {
  const needed = [...COMMON, ...PLACE, ...(kind ? OWN[kind] : [])];
  // Addresses of most countries have no state.
  const isAbroad = !['', 'US'].includes(cells.get('country') ?? '');
  const empty = needed.filter((column) => !cells.get(column) && !(column === 'state' && isAbroad));
  return empty.map((field) => ({ field, message: 'is required' }));
}

/** What a row says, and what is wrong with it by what POST /customers says of its body. */
export function candidateOf(
  columns: readonly string[],
  cells: readonly string[] | undefined,
  number: number,
  bodyErrors: (body: unknown) => FieldError[],
): Candidate {
  const malformed = (message: string): Candidate => ({
    correlationId: `row_${number}`,
    body: {},
    errors: [{ field: 'row', message }],
  });
  if (!cells) return malformed('is not well-formed CSV');
  if (cells.length !== columns.length) {
    return malformed(`has ${cells.length} cells where the first row has ${columns.length}`);
  }
  const named = new Map(columns.map((name, at) => [name, cells[at] as string]));
  const kind = KINDS.find((each) => each === named.get('customerType'));
  const body = bodyOf(named, kind);
  const wrong = bodyErrors(body).filter(
    ({ field }) => !RELAXED.includes(field) || isGiven(body, field),
  );
  const id = named.get('platformCustomerId') ?? '';
  const errors = byColumn([...unfilled(named, kind), ...wrong], kind);
  return {
    correlationId: id !== '' && id.length <= MOST_ID_LENGTH ? id : `row_${number}`,
    body,
    errors,
    ...(kind && errors.length ? { sound: bodyOf(withoutColumns(named, errors), kind) } : {}),
  };
}

function withoutColumns(
  cells: ReadonlyMap<string, string>,
  errors: readonly FieldError[],
): ReadonlyMap<string, string> {
  const bad = new Set(errors.map(({ field }) => field));
  return new Map([...cells].filter(([column]) => !bad.has(column)));
}

function isGiven(body: Body, path: string): boolean {
  const [first = '', second = ''] = path.split('.');
  return (body[first] as Body | undefined)?.[second] !== undefined;
}
