// Cuts the bytes of a CSV file into its rows without looking at what they say, and looks a whole file over
// while it is being uploaded: its head, how many rows there are, whether it is text at all. So everything
// that is wrong with a file as such is known before the first customer is created, nothing is read twice,
// and neither a hundred megabytes nor fifty thousand rows are ever held in memory.
import type { Inspector } from '../../../kernel/contract/upload.ts';
import { cellsOf, missingColumns, repeatedColumns } from './columns.ts';

export const MOST_ROWS = 50_000;
/** Longer rows are no customers, but a quote that somebody forgot to close. */
export const MOST_ROW_BYTES = 65_536;

const [QUOTE, COMMA, LINE_FEED, RETURN, SPACE, TAB] = [0x22, 0x2c, 0x0a, 0x0d, 0x20, 0x09];

/** Where in a cell a byte stands; a quote means something at a cell's start and inside quotes alone. */
type Place = 'start' | 'plain' | 'quoted' | 'closed';

/** Tells for byte after byte whether it ends a row. A blank line ends one that has no content. */
function createCutter() {
  let place: Place = 'start';
  let blank = true;
  return {
    /** Whether a row is open whose last line break stands in quotes. */
    isQuoted: () => place === 'quoted',
    /** Whether anything but spaces came since the last row ended. */
    hasContent: () => !blank,
    isEnd(byte: number): boolean {
      if (byte === LINE_FEED && place !== 'quoted') {
        place = 'start';
        return true;
      }
      if (byte !== SPACE && byte !== TAB && byte !== RETURN) blank = false;
      if (byte === QUOTE) {
        if (place === 'start' || place === 'closed') place = 'quoted';
        else if (place === 'quoted') place = 'closed';
      } else if (place !== 'quoted') {
        if (byte === COMMA) place = 'start';
        else if (place === 'start' && byte !== SPACE && byte !== TAB) place = 'plain';
      }
      return false;
    },
    next(): void {
      blank = true;
    },
  };
}

export interface RawRow {
  bytes: Buffer;
  /** Where in the file the next row begins. */
  end: number;
}

/**
 * Rows from byte `from` on, blank lines left out, until there are `most` of them or so many bytes. The file
 * was looked over before, so no row is too long.
 */
export async function readRows(
  source: AsyncIterable<Uint8Array>,
  from: number,
  most: { rows: number; bytes: number },
): Promise<RawRow[]> {
  const rows: RawRow[] = [];
  const cutter = createCutter();
  let open: Uint8Array[] = [];
  let at = from;
  let taken = 0;
  const close = (piece: Uint8Array, end: number) => {
    if (cutter.hasContent()) rows.push({ bytes: Buffer.concat([...open, piece]), end });
    open = [];
    cutter.next();
  };
  for await (const chunk of source) {
    let begin = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (!cutter.isEnd(chunk[i] as number)) continue;
      taken += i + 1 - begin;
      close(chunk.subarray(begin, i + 1), at + i + 1);
      begin = i + 1;
      if (rows.length >= most.rows || taken >= most.bytes) return rows;
    }
    // A copy: the source may use its piece again.
    if (begin < chunk.length) open.push(Buffer.from(chunk.subarray(begin)));
    taken += chunk.length - begin;
    at += chunk.length;
  }
  close(new Uint8Array(0), at);
  return rows;
}

/** What stands against a whole file: nothing of it is imported. */
export interface Problem {
  message: string;
  errors: { field: string; message: string }[];
}

/** What is known of a file once it is there. */
export interface Findings {
  /** Rows below the head, blank lines left out. */
  rows: number;
  columns: string[];
  /** Where the first of them begins. */
  start: number;
  problem: Problem | null;
}

const BOM = /^\uFEFF/;

const about = (message: string, fields: readonly string[] = ['file']): Problem => ({
  message,
  errors: fields.map((field) => ({ field, message })),
});

function headProblem(columns: readonly string[] | undefined): Problem | null {
  if (!columns) return about('The first row is not well-formed CSV.');
  const missing = missingColumns(columns);
  if (missing.length) {
    const named = missing.join(', ');
    return {
      message: `The first row lacks columns that are required: ${named}`,
      errors: missing.map((field) => ({ field, message: 'this column is required' })),
    };
  }
  const repeated = repeatedColumns(columns);
  if (!repeated.length) return null;
  return {
    message: `The first row names columns twice: ${repeated.join(', ')}`,
    errors: repeated.map((field) => ({ field, message: 'this column is named twice' })),
  };
}

/** Notes whether bytes are UTF-8, and text that a database can hold. */
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

/** Looks a CSV file over on its way in. */
export function inspectCsv(): Inspector {
  const text = createTextCheck();
  const cutter = createCutter();
  const found = { head: undefined as string | undefined, start: 0, rows: 0, tooLong: '' };
  let head: Uint8Array[] = [];
  let headBytes = 0;
  let at = 0;
  let length = 0;

  /** The first row is the head; those below it are numbered from 1. */
  const rowName = () => (found.rows ? `Row ${found.rows}` : 'The first row');

  function close(): void {
    if (!cutter.hasContent()) return;
    if (found.head !== undefined) found.rows++;
    else {
      const bytes = Buffer.concat(head).subarray(Math.max(0, at - length), at);
      found.head = bytes.toString('utf8').replace(BOM, '');
      found.start = at;
      head = [];
    }
    if (length > MOST_ROW_BYTES) found.tooLong ||= rowName();
  }

  function problemOf(isText: boolean, columns: readonly string[] | undefined): Problem | null {
    if (!isText) return about('The file is not text in UTF-8.');
    if (found.head === undefined)
      return about('The file is empty; its first row must name the columns.');
    if (found.tooLong) {
      return about(
        `${found.tooLong} is longer than ${MOST_ROW_BYTES} bytes; is a quote left open?`,
      );
    }
    if (cutter.isQuoted()) return about(`${rowName()} opens a quote that is never closed.`);
    const wrong = headProblem(columns);
    if (wrong) return wrong;
    if (found.rows === 0) return about('The file has no rows below its columns.');
    if (found.rows <= MOST_ROWS) return null;
    return about(`The file has ${found.rows} rows; ${MOST_ROWS} is the most.`);
  }

  return {
    write(chunk) {
      text.write(chunk);
      if (found.head === undefined && headBytes <= MOST_ROW_BYTES) {
        head.push(Buffer.from(chunk));
        headBytes += chunk.length;
      }
      for (let i = 0; i < chunk.length; i++) {
        length++;
        at++;
        if (!cutter.isEnd(chunk[i] as number)) continue;
        close();
        cutter.next();
        length = 0;
      }
    },
    end(): Findings {
      close();
      const columns = found.head === undefined ? undefined : cellsOf(Buffer.from(found.head));
      const problem = problemOf(text.end(), columns);
      // Of a file that is not imported only what is wrong with it is kept.
      const kept = problem ? [] : (columns ?? []);
      return { rows: found.rows, columns: kept, start: found.start, problem };
    },
  };
}
