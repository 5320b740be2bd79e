// Searches outputs for every secret of a test, complete or in part. The encodings are raw, JSON,
// URL, hexadecimal, and base64 at any offset. Expected places are declared with the secret. A match
// there proves that the search covers the place.
import type { ApiResponse, TestApp } from '../app/harness.ts';

/** A printed, sent or stored text. */
export interface SearchedText {
  name: string;
  text: string;
}

interface Secret {
  name: string;
  /** In lower case. */
  forms: readonly string[];
  /** Finds a short secret as an isolated word. */
  pattern?: RegExp;
  /** Name prefixes of the places that must contain it. */
  expectedPlaces: readonly string[];
}

/** A part of a longer secret is searched as well, which finds truncated output. */
const PART_LENGTH = 40;
const MIN_PART_LENGTH = 8;

/** Base64 characters that depend on these bytes only, for each of the three alignments. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const [start, end] = [
      offset === 0 ? 0 : offset + 1,
      Math.floor(((offset + bytes.length) * 8) / 6),
    ];
    const determinedText = text.slice(start, end);
    return [determinedText, determinedText.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function encodingsOf(value: string): string[] {
  const bytes = [Buffer.from(value)];
  if (/^(?:[0-9a-f]{2}){16,}$/i.test(value)) bytes.push(Buffer.from(value, 'hex'));
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    ...bytes.map((buffer) => buffer.toString('hex')),
    ...bytes.flatMap(base64Forms),
  ];
}

function formsOf(value: string): string[] {
  if (value.length < MIN_PART_LENGTH)
    throw new RangeError(`The secret ${value} has fewer than ${MIN_PART_LENGTH} characters`);
  const middle = Math.floor((value.length - PART_LENGTH) / 2);
  // Members of JSON secrets are searched separately, except public members.
  const isCut = value.length > 2 * PART_LENGTH && !value.startsWith('{');
  const parts = isCut ? [value, value.slice(middle, middle + PART_LENGTH)] : [value];
  return [...new Set(parts.flatMap(encodingsOf).map((text) => text.toLowerCase()))];
}

export type SecretList = ReturnType<typeof secretList>;

export function secretList() {
  const secretsByName = new Map<string, Secret>();
  return {
    get size() {
      return secretsByName.size;
    },
    /** Number of secrets by name. */
    count(): Record<string, number> {
      const counts: Record<string, number> = {};
      for (const { name } of secretsByName.values()) counts[name] = (counts[name] ?? 0) + 1;
      return counts;
    },
    note(name: string, value: string, ...expectedPlaces: readonly string[]): string {
      secretsByName.set(value, { name, forms: formsOf(value), expectedPlaces });
      return value;
    },
    /** Adds a short secret, which is searched as an isolated word. */
    recordShortSecret(name: string, value: string): string {
      const pattern = new RegExp(`(?<![\\w.:-])${value}(?![\\w:-])`);
      secretsByName.set(`${name} ${value}`, { name, forms: [], pattern, expectedPlaces: [] });
      return value;
    },
    /** Leaked secrets with their places, and the expected places that contain their secret. */
    find(searchedTexts: readonly SearchedText[]) {
      const [leaks, placesWithSecret] = [new Set<string>(), new Set<string>()];
      for (const { name: outputName, text } of searchedTexts) {
        const lowerCaseText = text.toLowerCase();
        for (const { name, forms, pattern, expectedPlaces } of secretsByName.values()) {
          if (!pattern?.test(lowerCaseText) && !forms.some((form) => lowerCaseText.includes(form)))
            continue;
          const expectedPlace = expectedPlaces.find((place) => outputName.startsWith(place));
          if (expectedPlace === undefined) leaks.add(`${name} in ${outputName}`);
          else placesWithSecret.add(`${name} in ${expectedPlace}`);
        }
      }
      return { leaks: [...leaks].sort(), foundPlaces: [...placesWithSecret].sort() };
    },
  };
}

const COLUMNS_SQL = `select table_name as "table", column_name as "column"
  from information_schema.columns
  where table_schema = 'public' order by 1, 2`;

type RunQuery = (sql: string) => Promise<Record<string, unknown>[]>;

/** The complete database as text: every column of every table, bytes in hexadecimal. */
export async function databaseText(query: RunQuery): Promise<SearchedText[]> {
  const searchedTexts: SearchedText[] = [];
  for (const { table, column } of await query(COLUMNS_SQL)) {
    const rows = await query(`select "${column}"::text as text from "${table}"`);
    const text = rows.map((row) => row.text).join('\n');
    searchedTexts.push({ name: `${table}.${column}`, text });
  }
  return searchedTexts;
}

/** A request and its reply. */
export interface Exchange {
  name: string;
  response: Pick<ApiResponse, 'status' | 'body'>;
}

export const errorsIn = (exchanges: readonly Exchange[]): SearchedText[] =>
  exchanges
    .filter(({ response }) => response.status >= 400)
    .map(({ name, response }) => ({
      name: `the error of ${name}`,
      text: `${response.status} ${JSON.stringify(response.body)}`,
    }));

/** All outputs and stored data of an application in the test process. */
export async function outputsOf(app: TestApp): Promise<SearchedText[]> {
  const metrics = await app.server.inject('/metrics');
  const events = await app.events();
  return [
    { name: 'the log', text: app.log.join('') },
    { name: 'the metrics', text: metrics.body },
    ...events.map((event) => ({
      name: `the event ${event.type}`,
      text: JSON.stringify(event.data),
    })),
    ...(await databaseText((sql) => app.runtime.db.query(sql, []))),
  ];
}
