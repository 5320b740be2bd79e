// Hostile values, and their insertion at random places of a body.
import type { Chance } from '../../sim/harness/chance.ts';
import type { Json } from './document.ts';

/** Names of properties by which code without checks reaches the prototype of an object. */
const HOSTILE_KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'],
  ...['__defineGetter__', '', '\0', '$ref', 'a.b', 'a[b]', 'é', '0', '-1'],
];

const nestedValue = (levels: number, isList: boolean): Json => {
  let value: Json = isList ? [] : {};
  for (let level = 0; level < levels; level++) value = isList ? [value] : { a: value };
  return value;
};

const INJECTIONS = [
  "' or 1=1 --",
  "'; drop table customers; --",
  '$\u007b7*7}',
  '{{7*7}}',
  '#{7*7}',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '<script>alert(1)</script>',
  '=cmd|calc!A1',
  'a\r\nX-Injected: 1',
  'a%0d%0aX-Injected: 1',
  '%00',
  '$ne',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data/',
  'http://127.0.0.1:22/',
  'http://[::ffff:127.0.0.1]/',
  'https://user:password@example.com:99999/',
  'gopher://127.0.0.1:6379/_FLUSHALL',
];

const UNICODE = [
  '\ud800',
  '\udfff\ud800',
  '\u202eabc',
  '\u0000',
  'a\u0000b',
  '\ufeff',
  '\uffff',
  '\u2028\u2029',
  '👩‍👩‍👧‍👦'.repeat(20),
  'e\u0301'.repeat(200),
  'İ',
  'ß'.repeat(40),
  '𝟙𝟚𝟛',
  '١٢٣',
  '\u200b',
  '　',
  '\t\n\v\f\r',
  '\u007f\u0080\u009f',
];

const NUMBERS = [
  ...[0, -0, -1, 0.1, -0.5, 1e-320, 1e308, -1e308, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2],
  ...[2 ** 63, 2 ** 64, -(2 ** 63), 1e21, 100_000_000_000_000_000, Number.MAX_SAFE_INTEGER],
];

const TEXT_NUMBERS = [
  ...['NaN', 'Infinity', '-Infinity', '1e400', '0x10', '1_000', '1,000', ' 1', '1 ', '٣', '-', '.'],
  ...['9'.repeat(400), `0.${'1'.repeat(300)}`, '1e1000000', '-0', '+5', '00012', '5.'],
];

const DATES = ['0000-00-00', '9999-12-31T23:59:60Z', '2026-02-30', '275760-09-14', '-1', '1e9'];

/** A hostile value of any type. */
export function hostileValue(chance: Chance): Json {
  const generators: (() => Json)[] = [
    () => chance.pick(INJECTIONS),
    () => chance.pick(UNICODE),
    () => chance.pick(NUMBERS),
    () => chance.pick(TEXT_NUMBERS),
    () => chance.pick(DATES),
    () => 'x'.repeat(chance.pick([256, 1_025, 10_000, 40_000])),
    () => 'é'.repeat(chance.pick([256, 5_000])),
    () => nestedValue(chance.pick([5, 31, 33, 200]), chance.percent(50)),
    () => chance.pick([null, true, false, [], {}, [[]], [null], [{}], ['x']]),
    () => Array.from({ length: chance.pick([20, 1_001]) }, () => 1),
    () => ({ [chance.pick(HOSTILE_KEYS)]: { polluted: true } }),
    () => JSON.parse('{"then":"x","toJSON":"x","length":5,"constructor":{"name":"x"}}'),
    () => '',
  ];
  return chance.pick(generators)();
}

type Place = { holder: Json; key: string | number };

function placesOf(value: Json, places: Place[] = []): Place[] {
  if (!value || typeof value !== 'object') return places;
  for (const key of Object.keys(value)) {
    places.push({ holder: value, key });
    placesOf(value[key], places);
  }
  return places;
}

/** Defines a property, including a property with a name such as `__proto__`. */
const setProperty = (holder: Json, key: string | number, value: Json) =>
  void Object.defineProperty(holder, key, {
    ...{ value, enumerable: true, configurable: true, writable: true },
  });

/** The body with one to three changes. */
export function mutate(body: Json, chance: Chance, foreignId?: string): Json {
  let mutatedBody = structuredClone(body);
  for (let count = chance.integerBetween(1, 3); count > 0; count--) {
    const places = placesOf(mutatedBody);
    if (places.length === 0 || chance.percent(4)) {
      mutatedBody = hostileValue(chance);
      continue;
    }
    const { holder, key } = chance.pick(places);
    const changes = [
      () => setProperty(holder, key, hostileValue(chance)),
      () => setProperty(holder, key, hostileValue(chance)),
      () => void delete holder[key],
      () => setProperty(holder, chance.pick(HOSTILE_KEYS), hostileValue(chance)),
      () => setProperty(holder, `unknown${chance.integerBelow(9)}`, hostileValue(chance)),
      () => setProperty(holder, key, [holder[key]]),
      () => setProperty(holder, key, { value: holder[key] }),
      () => setProperty(holder, key, String(holder[key])),
      () => setProperty(holder, key, foreignId ?? 'Customer:x'),
    ];
    chance.pick(changes)();
  }
  return mutatedBody;
}

/** JSON text with a syntactic defect. */
export function corrupt(json: string, chance: Chance): Buffer | string {
  const position = chance.integerBelow(Math.max(1, json.length));
  const corruptions: (() => Buffer | string)[] = [
    () => json.slice(0, position),
    () => `${json}${chance.pick(['}', ',', 'x', '\0', ' {}'])}`,
    () => `\ufeff${json}`,
    () => json.replace(/^\{/, `{"${chance.pick(HOSTILE_KEYS)}":1,`),
    // The first property twice.
    () => json.replace(/^\{("[^"]*":)/, '{$1null,$1'),
    () => json.replaceAll('"', "'"),
    () =>
      json.replace(/:\s*\d+/, `:${chance.pick(['NaN', '1e999', '01', '+1', '0x1', '1.', '.5'])}`),
    () =>
      Buffer.concat([
        Buffer.from(json.slice(0, position)),
        Buffer.from([0xff, 0xc0, 0xed, 0xa0, 0x80]),
      ]),
    () => Buffer.from(json, 'utf16le'),
    () => `/* */${json}`,
    () => json.replace(/"([^"]*)"/, '"$1\\ud800"'),
    () => json.replace(/"([^"]*)"/, '"$1\\x00"'),
    () => `${' '.repeat(70_000)}${json}`,
    () => '['.repeat(chance.pick([40, 30_000])),
    () => `{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`,
    () => '',
    () => ' ',
  ];
  return chance.pick(corruptions)();
}
