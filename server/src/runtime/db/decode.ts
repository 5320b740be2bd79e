// Decodes PostgreSQL's text format: bigint for int8, milliseconds for timestamptz, parsed JSON.
import pg from 'pg';
import type { TextRow } from './lane.ts';
import type { ColumnType, Table } from './table.ts';

const twoDigits = (text: string, offset: number) =>
  (text.charCodeAt(offset) - 48) * 10 + text.charCodeAt(offset + 1) - 48;

/** Whether a time has the format `2026-01-05 09:00:00+00`, with or without a fraction of a second. */
const isPlainUtc = (text: string) =>
  text.charCodeAt(4) === 45 && text.charCodeAt(10) === 32 && text.endsWith('+00');

const FRACTION_AT = 20;

/**
 * Parses PostgreSQL's format of a time in a UTC session to milliseconds. Finer digits are dropped.
 * Only other formats are parsed by `Date.parse`, because it is four times slower and a row can
 * contain several times. Throws RangeError for a text that is not a time.
 */
export function parseTime(text: string): number {
  if (isPlainUtc(text)) {
    let ms = 0;
    const end = text.length - 3;
    for (let index = FRACTION_AT; index < FRACTION_AT + 3; index++) {
      ms = ms * 10 + (index < end ? text.charCodeAt(index) - 48 : 0);
    }
    const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
    const [month, day] = [twoDigits(text, 5) - 1, twoDigits(text, 8)];
    const seconds = twoDigits(text, 17);
    const time = Date.UTC(year, month, day, twoDigits(text, 11), twoDigits(text, 14), seconds, ms);
    // `Date.UTC` adds 1900 to a year below 100.
    if (year >= 100 && !Number.isNaN(time)) return time;
  }
  const iso = text.endsWith('+00') ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text;
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) throw new RangeError(`not a time: ${text}`);
  return ms;
}

export const parseInt8s = (text: string): bigint[] =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt);

/** A decoded row. */
export type ResultRow = Record<string, unknown>;

// The types of `pg` list no OIDs of arrays.
const TEXT_ARRAY_OID: number = 1009;

type Parse = (text: string) => unknown;

const PARSE: Record<ColumnType, Parse> = {
  text: (text) => text,
  int4: Number,
  int8: BigInt,
  bool: (text) => text === 't',
  json: (text) => JSON.parse(text) as unknown,
  time: parseTime,
  bytes: pg.types.getTypeParser(pg.types.builtins.BYTEA) as Parse,
  int8s: parseInt8s,
  texts: pg.types.getTypeParser(TEXT_ARRAY_OID) as Parse,
};

/** Decodes a row of the table's columns, in the order of `columnNames`. */
export function rowDecoder({ columns, columnNames }: Table): (textRow: TextRow) => ResultRow {
  const parsers = columnNames.map((name) => PARSE[columns[name]?.type ?? 'text']);
  return (textRow) => {
    const row: ResultRow = {};
    for (let i = 0; i < parsers.length; i++) {
      const text = textRow[i] as string | null;
      row[columnNames[i] as string] = text === null ? null : (parsers[i] as Parse)(text);
    }
    return row;
  };
}
