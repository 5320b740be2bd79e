// Splits a CSV file into rows without parsing cells, and inspects a file during its upload:
// encoding, header and number of rows. All problems of the file are found before the first customer
// is created. The file is never buffered completely.
import type { Inspector } from '../../../kernel/contract/upload.ts';
import { cellsOf, missingColumns, repeatedColumns } from './columns.ts';

export const MAX_ROWS = 50_000;
/** A longer row indicates an unclosed quotation mark. */
export const MAX_ROW_BYTES = 65_536;

const [QUOTE, COMMA, LINE_FEED, RETURN, SPACE, TAB] = [0x22, 0x2c, 0x0a, 0x0d, 0x20, 0x09];

/**
 * Position of a byte within a cell. A quotation mark is significant only at the start of a cell and
 * inside quotes.
 */
type CellState = 'start' | 'plain' | 'quoted' | 'closed';

/** Determines for each byte whether it ends a row. A blank line is a row without content. */
function createRowSplitter() {
  let state: CellState = 'start';
  let isBlank = true;
  return {
    /** Whether the current row has an unclosed quote. */
    isQuoted: () => state === 'quoted',
    /** Whether the current row contains more than whitespace. */
    hasContent: () => !isBlank,
    isEnd(byte: number): boolean {
      if (byte === LINE_FEED && state !== 'quoted') {
        state = 'start';
        return true;
      }
      if (byte !== SPACE && byte !== TAB && byte !== RETURN) isBlank = false;
      if (byte === QUOTE) {
        if (state === 'start' || state === 'closed') state = 'quoted';
        else if (state === 'quoted') state = 'closed';
      } else if (state !== 'quoted') {
        if (byte === COMMA) state = 'start';
        else if (state === 'start' && byte !== SPACE && byte !== TAB) state = 'plain';
      }
      return false;
    },
    next(): void {
      isBlank = true;
    },
  };
}

export interface RawRow {
  bytes: Buffer;
  /** Byte offset of the next row. */
  end: number;
}

/**
 * Reads rows from byte offset `startOffset`, without blank lines, up to the limits. The upload has
 * checked the length of every row.
 */
export async function readRows(
  source: AsyncIterable<Uint8Array>,
  startOffset: number,
  limits: { rows: number; bytes: number },
): Promise<RawRow[]> {
  const rows: RawRow[] = [];
  const splitter = createRowSplitter();
  let openParts: Uint8Array[] = [];
  let offset = startOffset;
  let byteCount = 0;
  const close = (chunk: Uint8Array, end: number) => {
    if (splitter.hasContent()) rows.push({ bytes: Buffer.concat([...openParts, chunk]), end });
    openParts = [];
    splitter.next();
  };
  for await (const chunk of source) {
    let begin = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (!splitter.isEnd(chunk[i] as number)) continue;
      byteCount += i + 1 - begin;
      close(chunk.subarray(begin, i + 1), offset + i + 1);
      begin = i + 1;
      if (rows.length >= limits.rows || byteCount >= limits.bytes) return rows;
    }
    // The incomplete row is copied, because the source may reuse its buffer.
    if (begin < chunk.length) openParts.push(Buffer.from(chunk.subarray(begin)));
    byteCount += chunk.length - begin;
    offset += chunk.length;
  }
  close(new Uint8Array(0), offset);
  return rows;
}

/** Problem that rejects the complete file. */
export interface Problem {
  message: string;
  errors: { field: string; message: string }[];
}

/** Result of the inspection of an uploaded file. */
export interface FileFindings {
  /** Number of rows below the header, without blank lines. */
  rows: number;
  columns: string[];
  /** Byte offset of the first row. */
  start: number;
  problem: Problem | null;
}

const BOM = /^\uFEFF/;

const fileProblem = (message: string, fields: readonly string[] = ['file']): Problem => ({
  message,
  errors: fields.map((field) => ({ field, message })),
});

function headerProblem(columns: readonly string[] | undefined): Problem | null {
  if (!columns) return fileProblem('The header row is not well-formed CSV.');
  const missingNames = missingColumns(columns);
  if (missingNames.length) {
    return {
      message: `The header row lacks required columns: ${missingNames.join(', ')}`,
      errors: missingNames.map((field) => ({ field, message: 'is a required column' })),
    };
  }
  const repeatedNames = repeatedColumns(columns);
  if (!repeatedNames.length) return null;
  return {
    message: `The header row repeats columns: ${repeatedNames.join(', ')}`,
    errors: repeatedNames.map((field) => ({ field, message: 'is repeated' })),
  };
}

/** Checks that the bytes are UTF-8 without NUL, because PostgreSQL cannot store NUL. */
function createTextCheck() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isText = true;
  const decode = (chunk?: Uint8Array) => {
    if (!isText) return;
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isText = false;
    }
    if (chunk?.includes(0)) isText = false;
  };
  return {
    write: (chunk: Uint8Array) => decode(chunk),
    end(): boolean {
      decode();
      return isText;
    },
  };
}

export function inspectCsv(): Inspector {
  const text = createTextCheck();
  const splitter = createRowSplitter();
  const inspection = { head: undefined as string | undefined, start: 0, rows: 0 };
  let oversizedRowName = '';
  let head: Uint8Array[] = [];
  let headBytes = 0;
  let offset = 0;
  let length = 0;

  /** Name of the current row in messages. Rows below the header are numbered from 1. */
  const rowName = () => (inspection.rows ? `Row ${inspection.rows}` : 'The header row');

  function close(): void {
    if (!splitter.hasContent()) return;
    if (inspection.head !== undefined) inspection.rows++;
    else {
      const bytes = Buffer.concat(head).subarray(Math.max(0, offset - length), offset);
      inspection.head = bytes.toString('utf8').replace(BOM, '');
      inspection.start = offset;
      head = [];
    }
    if (length > MAX_ROW_BYTES) oversizedRowName ||= rowName();
  }

  function problemOf(isText: boolean, columns: readonly string[] | undefined): Problem | null {
    if (!isText) return fileProblem('The file must be UTF-8 text without NUL characters.');
    if (inspection.head === undefined)
      return fileProblem('The file is empty. The first row must contain the column names.');
    if (oversizedRowName) {
      return fileProblem(
        `${oversizedRowName} is longer than ${MAX_ROW_BYTES} bytes. Check for an ` +
          'unclosed quotation mark.',
      );
    }
    if (splitter.isQuoted()) return fileProblem(`${rowName()} has an unclosed quotation mark.`);
    const columnProblem = headerProblem(columns);
    if (columnProblem) return columnProblem;
    if (inspection.rows === 0) return fileProblem('The file has no rows below the header row.');
    if (inspection.rows <= MAX_ROWS) return null;
    return fileProblem(`The file has ${inspection.rows} rows. The maximum is ${MAX_ROWS}.`);
  }

  return {
    write(chunk) {
      text.write(chunk);
      if (inspection.head === undefined && headBytes <= MAX_ROW_BYTES) {
        head.push(Buffer.from(chunk));
        headBytes += chunk.length;
      }
      for (let i = 0; i < chunk.length; i++) {
        length++;
        offset++;
        if (!splitter.isEnd(chunk[i] as number)) continue;
        close();
        splitter.next();
        length = 0;
      }
    },
    end(): FileFindings {
      close();
      const columns =
        inspection.head === undefined ? undefined : cellsOf(Buffer.from(inspection.head));
      const problem = problemOf(text.end(), columns);
      // The columns of a rejected file are not stored, because they can contain personal data.
      const storedColumns = problem ? [] : (columns ?? []);
      return { rows: inspection.rows, columns: storedColumns, start: inspection.start, problem };
    },
  };
}
