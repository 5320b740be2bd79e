// Replaces the random parts of recorded examples. Values that differ between two runs (IDs, secrets,
// signatures) are replaced by fixed characters, which are the same for equal values. Hosts, addresses
// and account numbers of tests become realistic values.
import { expect } from 'vitest';
import { isIban } from '../../../src/catalog/accounts/checks.ts';
import {
  bitcoinAddressOf,
  evmAddressOf,
  pixKeyOf,
  pixPayload,
  solanaAddressOf,
  sparkAddressOf,
  tronAddressOf,
} from '../../../src/connectors/sandbox/payments/account-details.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const TOKENS = new RegExp(`(${UUID}|[A-Za-z0-9_=-]{40,}|[A-Za-z0-9]+)`);
/** Keys, signatures and encrypted texts, whose length may be random as well. */
const OPAQUE_TEXT = /^[A-Za-z0-9+/_=-]{60,}$/;
const OPAQUE_LENGTH = 86;
/** IDs and secrets of clients, which may contain separators at the same places by chance. */
const CREDENTIAL = /^rh[a-z]_[A-Za-z0-9_-]+$/;
/** Encrypted state of a sign-in, whose parts may contain separators by chance. */
const SEALED_STATE = /^s1\.[\w.-]+$/;
/** IDs of cards at the sandbox issuer and processor. */
const PREFIXED_UUID = new RegExp(`^((?:[a-z]+-)+)(${UUID})$`);
/** A signature of Standard Webhooks. */
const WEBHOOK_SIGNATURE = /^(v1a?,)([A-Za-z0-9+/]{43,86})(={1,2})$/;
const JWT = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/;
/** A PIX code with the key of an account. */
const PIX_CODE = /^000201010211/;
const DURATION_MS = 4.217;
/** A public key, Ed25519 or P-256, which begins with the fixed prefix of its algorithm. */
const PUBLIC_KEY =
  /^(-----BEGIN PUBLIC KEY-----\n)([\w+/]{16}(?=[\w+/]{43}=\n)|[\w+/]{36}(?=[\w+/]{28}\n))([\w+/\n]+)/;

/** Times that differ have a random delay of seconds, such as the next attempt of a delivery. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/;

/** Replacements by kind of text. The first kind that matches both values is used. */
const KINDS: readonly [RegExp, (length: number, number: number) => string][] = [
  [
    new RegExp(`^${UUID}$`),
    (_, number) => `019b8d60-2a80-7000-8000-${number.toString(16).padStart(12, '0')}`,
  ],
  [/^[0-9]+$/, (length, number) => numberedText('1234567890', length, String(number))],
  // DER signatures have random lengths.
  [/^[0-9a-f]{136,146}$/, (_, number) => numberedText('0123456789abcdef', 144, String(number))],
  // Public keys of wallets begin with their format.
  [
    /^04[0-9a-f]{128}$/,
    (_, number) => `04${numberedText('0123456789abcdef', 128, String(number))}`,
  ],
  [
    /^0[23][0-9a-f]{64}$/,
    (_, number) => `02${numberedText('0123456789abcdef', 64, String(number))}`,
  ],
  [/^[0-9a-f]{16,}$/, (length, number) => numberedText('0123456789abcdef', length, String(number))],
  [SEALED_STATE, (_, number) => `s1.${numberedText('Example', OPAQUE_LENGTH, String(number))}`],
  [OPAQUE_TEXT, (_, number) => numberedText('Example', OPAQUE_LENGTH, String(number))],
  [/^[0-9A-Z]+$/, (length, number) => numberedText('EXAMPLE', length, String(number))],
  [/^[0-9a-z]+$/, (length, number) => numberedText('example', length, String(number))],
  [/^/, (length, number) => numberedText('Example', length, String(number))],
];

/** Replacements of wallet addresses, which the sandbox derives from a text. */
const ADDRESSES: readonly [RegExp, (seed: string) => string][] = [
  [/^sparkrt1[02-9ac-hj-np-z]+$/, sparkAddressOf],
  [/^bcrt1[02-9ac-hj-np-z]+$/, bitcoinAddressOf],
  [/^0x[0-9a-fA-F]{40}$/, evmAddressOf],
  [/^T[1-9A-HJ-NP-Za-km-z]{33}$/, tronAddressOf],
  [/^[1-9A-HJ-NP-Za-km-z]{43,44}$/, solanaAddressOf],
];

/** Replacements of other texts with a fixed structure. */
const STRUCTURED_TEXTS: readonly [RegExp, (text: string, number: number) => string][] = [
  [
    WEBHOOK_SIGNATURE,
    (text, number) =>
      text.replace(
        WEBHOOK_SIGNATURE,
        (_, version: string, random: string, padding: string) =>
          version + numberedText('Example', random.length, String(number)) + padding,
      ),
  ],
  [
    PIX_CODE,
    (_, number) =>
      pixPayload({
        key: pixKeyOf(`example ${number}`),
        name: 'RAILHEAD SANDBOX',
        city: 'SAO PAULO',
        reference: numberedText('RHEXAMPLE', 12, String(number)),
      }),
  ],
];

/** Repeats the term up to the length, with the number at the end. */
const numberedText = (term: string, length: number, number: string): string =>
  term.repeat(Math.ceil(length / term.length)).slice(0, Math.max(0, length - number.length)) +
  number.slice(-length);

/** The text with the random part of a public key replaced. */
const publicKeyNumbered = (text: string, number: number): string =>
  text.replace(PUBLIC_KEY, (_, head: string, algorithm: string, random: string) => {
    const [, firstLine = '', nextLine] = /^(.*)\n?(.*)$/.exec(random) ?? [];
    const lines = [numberedText('Example', firstLine.length, nextLine ? '' : String(number))];
    if (nextLine) lines.push(numberedText('Example', nextLine.length, String(number)));
    return `${head}${algorithm}${lines.join('\n')}`;
  });

function replacementFor(a: string, b: string, number: number): string {
  if (PUBLIC_KEY.test(a)) return publicKeyNumbered(a, number);
  const [, write] = KINDS.find(([kind]) => kind.test(a) && kind.test(b)) ?? [];
  return write?.(a.length, number) ?? a;
}

/** Length of the common prefix before the random part, such as the country of an IBAN. */
function sharedPrefixLength(firstValue: string, otherValue: string): number {
  if (OPAQUE_TEXT.test(firstValue) || KINDS[0]?.[0].test(firstValue)) return 0;
  let position = 0;
  while (
    firstValue[position] === otherValue[position] &&
    /[A-Za-z]/.test(firstValue[position] ?? '')
  )
    position++;
  // Prefixes of tokens end with an underscore, such as `rhc_`.
  if (position >= 2 && firstValue[position] === '_' && otherValue[position] === '_')
    return position + 1;
  return position < 2 || position === firstValue.length ? 0 : position;
}

/** Durations are the only numbers that differ between runs. Some are integers. */
const durationOf = (...values: unknown[]): number =>
  values.every(Number.isInteger) ? Math.round(DURATION_MS) : DURATION_MS;

/** The key ID of a key of the server, which is its thumbprint. */
const KEY_THUMBPRINT = numberedText('Example', 43, '0');

const decodeSegment = (segment: string): unknown =>
  JSON.parse(Buffer.from(segment, 'base64url').toString());
const encodeSegment = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** The first value with every part that differs from the second replaced. */
function replaceRandomParts(firstValue: unknown, secondValue: unknown): unknown {
  const replacements = new Map<string, string>();
  const replaceValue = (a: string, b: string) => {
    if (a === b) return a;
    const prefixLength = sharedPrefixLength(a, b);
    const storedReplacement =
      replacements.get(a) ??
      a.slice(0, prefixLength) +
        replacementFor(a.slice(prefixLength), b.slice(prefixLength), replacements.size + 1);
    replacements.set(a, storedReplacement);
    return storedReplacement;
  };
  /** Replaces a text whose structure other replacements would break. */
  const replaceStructured = (a: string, b: string, path: string): string | undefined => {
    const earlierReplacement = replacements.get(a);
    if (earlierReplacement) return earlierReplacement;
    const address = path.endsWith('.address')
      ? ADDRESSES.find(([kind]) => kind.test(a) && kind.test(b))
      : undefined;
    const structured = STRUCTURED_TEXTS.find(([kind]) => kind.test(a) && kind.test(b));
    const number = replacements.size + 1;
    const replacement = address?.[1](`example ${number}`) ?? structured?.[1](a, number);
    if (replacement !== undefined) replacements.set(a, replacement);
    return replacement;
  };
  /** Replaces random claims, the signature, and the key ID, which depends on the master key. */
  const replaceJwt = (a: string, b: string, path: string): string => {
    const [header = '', claims = '', signature = ''] = a.split('.');
    const [, otherClaims = '', otherSignature = ''] = b.split('.');
    const fields = decodeSegment(header) as Record<string, unknown>;
    const isThumbprint = String(fields.kid).length === KEY_THUMBPRINT.length;
    return [
      encodeSegment(isThumbprint ? { ...fields, kid: KEY_THUMBPRINT } : fields),
      encodeSegment(replaceIn(decodeSegment(claims), decodeSegment(otherClaims), path)),
      replaceText(signature, otherSignature, path),
    ].join('.');
  };
  const replaceText = (a: string, b: string, path: string): string => {
    if (a === b) return a;
    if (JWT.test(a) && JWT.test(b)) return replaceJwt(a, b, path);
    const structuredReplacement = replaceStructured(a, b, path);
    if (structuredReplacement !== undefined) return structuredReplacement;
    const [, prefix, uuid] = PREFIXED_UUID.exec(a) ?? [];
    if (prefix && uuid) return prefix + replaceValue(uuid, b.slice(prefix.length));
    if (TIME.test(a) && TIME.test(b)) return a.replace(TIME, '$1:00.000Z');
    if ([OPAQUE_TEXT, CREDENTIAL, PUBLIC_KEY, SEALED_STATE].some((kind) => kind.test(a)))
      return replaceValue(a, b);
    const [parts, otherParts] = [a.split(TOKENS), b.split(TOKENS)];
    const isAligned =
      parts.length === otherParts.length &&
      parts.every((segment, position) => position % 2 || segment === otherParts[position]);
    if (!isAligned) return replaceValue(a, b);
    return parts
      .map((segment, position) =>
        position % 2 ? replaceValue(segment, otherParts[position] ?? '') : segment,
      )
      .join('');
  };
  const replaceIn = (a: unknown, b: unknown, path: string): unknown => {
    if (typeof a === 'string' && typeof b === 'string') return replaceText(a, b, path);
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
      return a.map((element, index) => replaceIn(element, b[index], `${path}.${index}`));
    if (a && b && typeof a === 'object' && typeof b === 'object') {
      expect(Object.keys(a), path).toEqual(Object.keys(b));
      const otherObject = b as Record<string, unknown>;
      return Object.fromEntries(
        Object.entries(a).map(([key, value]) => [
          key,
          key === 'durationMs'
            ? durationOf(value, otherObject[key])
            : replaceIn(value, otherObject[key], `${path}.${key}`),
        ]),
      );
    }
    expect(a, `${path} differs between the two runs`).toEqual(b);
    return a;
  };
  return replaceIn(firstValue, secondValue, '');
}

const DOMAINS = ['northwind', 'southgate', 'eastfield', 'westbrook'];
/** Addresses with valid checksums, from EIP-55. */
const EVM_ADDRESSES = [
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

/** Replaces each distinct match by the next name. Equal matches have the same replacement. */
function replaceMatches(text: string, pattern: RegExp, nameOf: (number: number) => string): string {
  const replacements = new Map<string, string>();
  return text.replaceAll(pattern, (match) => {
    const name = replacements.get(match) ?? nameOf(replacements.size);
    replacements.set(match, name);
    return name;
  });
}

const nameFrom = (names: readonly string[]) => (number: number) => {
  const name = names[number];
  if (name === undefined)
    throw new Error(`More names are required. Add a name to the list: ${names.join(', ')}.`);
  return name;
};

/** An account number with the check digits of an IBAN. */
function withCheckDigits(iban: string): string {
  if (isIban(iban)) return iban;
  const candidates = Array.from({ length: 97 }, (_, position) =>
    String(position + 2).padStart(2, '0'),
  );
  const ibans = candidates.map((digits) => iban.slice(0, 2) + digits + iban.slice(4));
  return ibans.find((iban) => isIban(iban)) ?? iban;
}

/** Replaces hosts, addresses and account numbers by realistic values. */
function replaceTestValues(json: string): string {
  let text = json
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://platform.example.com')
    .replaceAll('http://127.0.0.1', 'https://pay.example.com')
    .replaceAll(/\/(verify|reset|card|ownership)\/Example\w*?(\d+)/g, '/$1/example-link-$2')
    .replaceAll(/\$exampleex[a-z]*(\d+)@/g, '$$customer-$1@')
    // The key that signs bundles is derived from the master key.
    .replaceAll(
      /(?<head>enclaveQuorumPublic\\":\\")04[0-9a-f]{128}/g,
      `$<head>04${numberedText('0123456789abcdef', 128, '0')}`,
    )
    .replaceAll(/"[A-Z]{2}\d{14,30}"/g, (iban) => `"${withCheckDigits(iban.slice(1, -1))}"`);
  text = replaceMatches(
    text,
    /p-exampleex[a-z]*\d+\.uma/g,
    (index) => `p-${nameFrom(DOMAINS)(index)}.uma`,
  );
  text = replaceMatches(text, /0x[0-9a-f]{40}\b/g, nameFrom(EVM_ADDRESSES));
  text = replaceMatches(text, /person-\d{6}\b/g, (index) => `customer-${1001 + index}`);
  text = replaceMatches(text, /BANK-example\w+/g, (index) => `BANK-${20_260_105_001 + index}`);
  return replaceMatches(text, /account_[0-9a-f]{20}/g, (index) => `account_northwind_${index + 1}`);
}

/** Replacements of texts that are specific to the scenarios of a file. */
export type TextReplacements = readonly (readonly [RegExp, string])[];

/** The text of a recorded file, from the records of two servers with different random bytes. */
export function stableText(
  firstRun: unknown,
  secondRun: unknown,
  replacements: TextReplacements = [],
): string {
  const records = JSON.stringify(replaceRandomParts(firstRun, secondRun), null, 2);
  const json = replacements.reduce((text, [from, to]) => text.replaceAll(from, to), records);
  return `${replaceTestValues(json)}\n`;
}
