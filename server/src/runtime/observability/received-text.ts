// Masks secrets and personal data in responses of receivers before they are stored. In case of doubt a text
// is masked. Ordinary text of errors remains readable.
import { redactText } from './log.ts';

const MASKED = '[masked]';

const SECRET_WORDS =
  'pass(?:word|wd|phrase|code)|pwd|secret|token|credential|cookie|session|signature|' +
  'auth(?!or)|bearer|jwt|cvv|cvc|otp|mnemonic|private|api[ _-]?key|iban|' +
  '(?:account|card|routing)[ _-]?(?:number|no)';
const SECRET_NAME = new RegExp(`${SECRET_WORDS}|key$|pin$|(?:^|[_-])pan$|seed$|proof$|signed`, 'i');
const PERSONAL_NAME = new RegExp(
  '(full|first|last|given|family|middle|sur|holder|legal)[_-]?name|birth|dob$|e-?mail|phone|' +
    'mobile|address|street|post(al)?[_-]?code|zip|tax[_-]?id|ssn|passport|national[_-]?id',
  'i',
);

/** Parts before a required text are bounded, so that a long text needs linear time. */
const TEXT_RULES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{1,40}-----[^-]*(?:-----END [A-Z ]{1,40}-----)?/g, MASKED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g, MASKED],
  // User information and parameters of URLs.
  [/(:\/\/)[^\s/@"'<>]{1,200}@/g, `$1${MASKED}@`],
  [/([?&][\w.[\]%-]{1,64}=)[^&\s#"'<>]+/g, `$1${MASKED}`],
  // Elements, members and assignments with the name of a secret.
  [
    new RegExp(`(<[\\w:.-]{0,40}(?:${SECRET_WORDS})[\\w:.-]{0,40}(?: [^<>]{0,200})?>)[^<]+`, 'gi'),
    `$1${MASKED}`,
  ],
  [
    new RegExp(
      `([\\w-]{0,40}(?:${SECRET_WORDS})[\\w-]{0,40}\\\\?["']?\\s{0,9}[:=]\\s{0,9})` +
        `(?:(?:Basic|Bearer|Digest)\\s{1,9})?(?:"(?:[^"\\\\]|\\\\.)*"?|'[^']*'?|[^\\s,;&"'<>{}[\\]]+)`,
      'gi',
    ),
    `$1${MASKED}`,
  ],
  [/\b(Basic|Bearer)\s{1,9}[A-Za-z0-9+/=._~-]{6,}/g, MASKED],
  [/\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*){0,2}/g, MASKED],
  [/\b(whsec|sk|pk|rk|gh[opsu]|xox[abp])[_-][A-Za-z0-9+/=_-]{8,}/g, MASKED],
  [/[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,4}/g, MASKED],
];

const UUID = '\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b';
/**
 * The alternative of IDs of resources is first, so that the other alternatives match nothing inside an ID.
 * IDs remain unmasked.
 */
const NUMBERS = new RegExp(
  [
    `(?<id>${UUID})`,
    // IBAN, with and without spaces.
    '\\b[A-Za-z]{2}\\d{2}[A-Za-z0-9]{11,30}\\b',
    '\\b[A-Z]{2}\\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?\\b',
    // Cards, accounts, social security and telephone numbers.
    '\\b\\d{4}(?:[ -]\\d{4}){2}(?:[ -]\\d{1,7})?\\b',
    '\\b\\d{4}[ -]\\d{6}[ -]\\d{5}\\b',
    '\\b\\d{3}-\\d{2}-\\d{4}\\b',
    '\\+\\d[\\d ()-]{6,20}\\d',
    '\\d{9,}',
  ].join('|'),
  'g',
);
const LONG_TOKEN = new RegExp(`(?<id>${UUID})|[A-Za-z0-9+/_=-]{24,}`, 'g');

const isKey = (text: string) =>
  /\d/.test(text) && (/^[0-9a-f]+$/i.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)));

/** The text with masked secrets, account numbers and addresses. */
export function maskText(text: string): string {
  const textWithRules = TEXT_RULES.reduce(
    (result, [rule, replacement]) => result.replace(rule, replacement),
    text,
  );
  const maskedText = textWithRules
    .replace(LONG_TOKEN, (match, id) => (id === undefined && isKey(match) ? MASKED : match))
    .replace(NUMBERS, (match, id) => (id === undefined ? MASKED + match.slice(-4) : match));
  return redactText(maskedText, MASKED);
}

const MAX_DEPTH = 32;

function maskValue(value: unknown, name: string, depth: number): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (depth > MAX_DEPTH || SECRET_NAME.test(name) || PERSONAL_NAME.test(name)) return MASKED;
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object') {
    const maskedText = maskText(String(value));
    return maskedText === String(value) ? value : maskedText;
  }
  if (Array.isArray(value)) return value.map((each) => maskValue(each, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [maskText(key), maskValue(each, key, depth + 1)]),
  );
}

/** JSON without secrets. Undefined if the text is not a complete JSON object, array or string. */
function maskJson(text: string): string | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    const json = JSON.parse(text) as unknown;
    const maskedJson = JSON.stringify(maskValue(json, '', 0));
    // The formatting of the receiver is unchanged if no value is masked.
    return maskedJson === JSON.stringify(json) ? text : maskedJson;
  } catch (error) {
    return error instanceof RangeError ? MASKED : undefined; // The nesting exceeds the stack.
  }
}

/**
 * A response body without secrets. Text is masked by its form, and JSON also by the names of its members.
 */
export const maskBody = (body: string): string => maskJson(body) ?? maskText(body);

/** Headers whose values usually contain no secret. Their values are masked like other text. */
const CLEAR_HEADERS = new RegExp(
  '^(content-(type|length|encoding|language)|date|server|via|allow|age|vary|cache-control|' +
    'retry-after|x-powered-by|x-cache|(x-)?ratelimit-(limit|remaining|reset))$',
  'i',
);
const REQUEST_ID = /^(cf-ray|traceparent|(x-)?(amzn-)?(request|correlation|trace)-?id)$/i;

/**
 * The masked value of a response header. The value of an unlisted header is `***`. Request IDs are
 * unchanged, and a location has no fragment.
 */
export function maskHeader(name: string, value: string): string {
  if (REQUEST_ID.test(name)) return value;
  if (CLEAR_HEADERS.test(name)) return maskText(value);
  if (/^(content-)?location$/i.test(name)) return maskText(value.replace(/#.*$/s, ''));
  return '***';
}
