// Masks bodies and error replies before they are stored. The kept values are values of
// enumerations, currency codes, booleans, and numbers, IDs and times in fields for them. Every
// other text is replaced, so a stored body has no personal data and no secret, and an erasure does
// not affect it.
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import type { Contract } from '../../../kernel/contract/operation.ts';
import { STATUS_OF } from '../../../kernel/fault.ts';
import { isAnyId } from '../../../kernel/id.ts';
import { redactText } from '../../../runtime/observability/log.ts';

const MASKED = '[masked]';
const UNKNOWN_NAME = '[unknown]';

/** Maximum size of a stored body, in bytes. */
export const MAX_BODY_BYTES = 16_384;

/**
 * Texts and numbers of fields whose names match one of these are never kept, regardless of the
 * schema.
 */
const SECRET_NAMES = [
  /secret|password|authorization|token$|apikey|privatekey/i,
  /otp|pin$|cvv|cvc|pan$|signature|proof|mnemonic|seed/i,
];
/** Names of enumerations and numbers that describe a person. */
const PERSONAL_NAME =
  /country|nationality|region|state$|gender|sex|birth|idtype|(tax|national)_?id|latitude|longitude/i;
const ID_NAME = /(^id|Id)s?$/;
const CURRENCY_NAME = /currenc/i;
const CONSTANT = /^[A-Z]+(_[A-Z0-9]+)+$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Names and values that the schemas of a contract list. */
interface ListedValues {
  names: Set<string>;
  numeric: Set<string>;
  times: Set<string>;
  /** Values of enumerations by the name of the field. */
  values: Map<string, Set<unknown>>;
  /** Words that are part of rules: field names and values of enumerations. */
  words: Set<unknown>;
  /** Rules by the name of the field. Names that no schema lists are not added. */
  rules: Map<string, FieldRule>;
}

/** Which values of a field are kept. */
interface FieldRule {
  /** The name in a stored body, or undefined if no schema lists it. */
  storedName: string | undefined;
  /** Whether some texts are kept: IDs, times, currency codes or values of enumerations. */
  keepsTexts: boolean;
  keepsNumbers: boolean;
  isSecret: boolean;
  isPersonal: boolean;
  isCurrency: boolean;
  isTime: boolean;
  isId: boolean;
  values: ReadonlySet<unknown> | undefined;
}

type Schema = Record<string | symbol, unknown>;

/** Adds the names and values that a schema lists. `name` is the field of the schema. */
function collect(
  schema: unknown,
  name: string,
  listedValues: ListedValues,
  visitedSchemas: Set<unknown>,
): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const each of schema) collect(each, name, listedValues, visitedSchemas);
    return;
  }
  const { type, format, enum: values, const: value, properties, ...rest } = schema as Schema;
  const types = [type].flat();
  if (format === 'date-time') listedValues.times.add(name);
  if (types.includes('integer') || types.includes('number')) listedValues.numeric.add(name);
  const enumeratedValues = Array.isArray(values) ? values : value === undefined ? [] : [value];
  const constants = enumeratedValues.filter((each) => !/["\\\p{Cc}]/u.test(String(each)));
  if (constants.length) {
    const values = listedValues.values.get(name) ?? new Set();
    for (const each of constants) {
      values.add(each);
      listedValues.words.add(each);
    }
    listedValues.values.set(name, values);
  }
  // Several fields can use the same named schema, whose fields are collected once.
  const isVisited = visitedSchemas.has(properties);
  if (properties && !isVisited) visitedSchemas.add(properties);
  for (const [field, each] of isVisited ? [] : Object.entries((properties ?? {}) as Schema)) {
    listedValues.names.add(field);
    listedValues.words.add(field);
    collect(each, field, listedValues, visitedSchemas);
  }
  for (const key of [
    'items',
    'allOf',
    'anyOf',
    'oneOf',
    'additionalProperties',
    'patternProperties',
  ]) {
    collect(rest[key], name, listedValues, visitedSchemas);
  }
  for (const mark of Object.getOwnPropertySymbols(schema)) {
    const { tag, branches } = ((schema as Schema)[mark] ?? {}) as {
      tag?: string;
      branches?: Schema;
    };
    if (tag === undefined || !branches) continue;
    listedValues.names.add(tag);
    const tags = listedValues.values.get(tag) ?? new Set();
    for (const [text, branch] of Object.entries(branches)) {
      tags.add(text);
      collect(branch, name, listedValues, visitedSchemas);
    }
    listedValues.values.set(tag, tags);
  }
}

const listedByContract = new WeakMap<Contract, ListedValues>();

/**
 * Names and values that a contract lists. A contract that calls operations also lists those of
 * `contracts`, and their IDs as values of `operationId`.
 */
function listedIn(contract: Contract, contracts: readonly Contract[]): ListedValues {
  const cachedValues = listedByContract.get(contract);
  if (cachedValues) return cachedValues;
  const listedValues: ListedValues = {
    names: new Set(),
    numeric: new Set(),
    times: new Set(),
    values: new Map(),
    words: new Set(),
    rules: new Map(),
  };
  const visitedSchemas = new Set<unknown>();
  for (const each of contract.callsOperations ? [contract, ...contracts] : [contract]) {
    const { body, query, params, headers, replies } = each;
    for (const schema of [body, query, params, headers, ...Object.values(replies)]) {
      collect(schema, '', listedValues, visitedSchemas);
    }
  }
  if (contract.callsOperations) {
    const ids = contracts.map(({ operationId }) => operationId);
    listedValues.values.set('operationId', new Set(ids));
    for (const id of ids) listedValues.words.add(id);
  }
  if (!contract.callsOperations || contracts.length) listedByContract.set(contract, listedValues);
  return listedValues;
}

function ruleOf(name: string, listedValues: ListedValues): FieldRule {
  const cachedRule = listedValues.rules.get(name);
  if (cachedRule) return cachedRule;
  const isListed = listedValues.names.has(name);
  const isSecret = SECRET_NAMES.some((each) => each.test(name));
  const isPersonal = PERSONAL_NAME.test(name);
  const isCurrency = CURRENCY_NAME.test(name) || name === 'code';
  const isTime = listedValues.times.has(name);
  const isId = isListed && ID_NAME.test(name);
  const values = listedValues.values.get(name);
  const isHidden = isSecret || isPersonal;
  const rule: FieldRule = {
    storedName: isListed ? `"${name}":` : undefined,
    keepsTexts: !isHidden && (isId || isTime || isCurrency || values !== undefined),
    keepsNumbers: !isHidden && listedValues.numeric.has(name),
    ...{ isSecret, isPersonal, isCurrency, isTime, isId, values },
  };
  if (isListed) listedValues.rules.set(name, rule);
  return rule;
}

const UUID_LENGTH = 36;
const COLON = 58;
const ZERO = 48;
const NINE = 57;

/** The length and one character exclude most strings before the expression is matched. */
const isId = (text: string) =>
  text.charCodeAt(text.length - UUID_LENGTH - 1) === COLON && isAnyId(text);
const startsWithDigit = (text: string) => {
  const firstCode = text.charCodeAt(0);
  return firstCode >= ZERO && firstCode <= NINE;
};
const isTime = (text: string) => startsWithDigit(text) && TIME.test(text);

function isTextKeptBy(rule: FieldRule, text: string): boolean {
  if (text === '') return true;
  if (!rule.keepsTexts) return false;
  if ((rule.isId && isId(text)) || (rule.isTime && isTime(text))) return true;
  if (rule.values?.has(text)) return true;
  return rule.isCurrency && findCurrency(text) !== undefined;
}

const isKeptText = (text: string, name: string, listedValues: ListedValues) =>
  isTextKeptBy(ruleOf(name, listedValues), text);

/**
 * Details of errors are written by the server. Constants, error codes, IDs and times are also kept
 * in fields without a schema.
 */
function isKeptDetail(text: string, name: string, listedValues: ListedValues): boolean {
  if (isKeptText(text, name, listedValues) || CONSTANT.test(text)) return true;
  if (Object.hasOwn(STATUS_OF, text)) return true;
  const { isSecret, isPersonal } = ruleOf(name, listedValues);
  return !isSecret && !isPersonal && (isId(text) || isTime(text));
}

const isKeptNumber = (name: string, listedValues: ListedValues) =>
  ruleOf(name, listedValues).keepsNumbers;

export interface MaskedBody {
  /** JSON. */
  text: string;
  /** Whether items and fields after the maximum size are absent. */
  isTruncated: boolean;
}

const MAX_DEPTH = 32;

const MASKED_JSON = `"${MASKED}"`;

/** A value without parts as JSON. */
function maskedScalar(value: unknown, rule: FieldRule): string {
  if (typeof value === 'string') {
    // No kept text has a character that JSON escapes.
    return isTextKeptBy(rule, value) ? `"${value}"` : MASKED_JSON;
  }
  if (typeof value === 'number' && rule.keepsNumbers) return String(value);
  return value === null || typeof value === 'boolean' ? String(value) : MASKED_JSON;
}

/**
 * The body as masked JSON, truncated at `MAX_BODY_BYTES`. Values at `MAX_DEPTH` are not counted.
 * All kept texts and names are ASCII.
 */
export function maskedBody(
  contract: Contract,
  body: unknown,
  contracts: readonly Contract[] = [],
): MaskedBody {
  const listedValues = listedIn(contract, contracts);
  let text = '';
  let remainingBytes = MAX_BODY_BYTES;
  let isTruncated = false;

  /**
   * Reserves bytes for a part. Returns false and marks the body as truncated if too few bytes
   * remain.
   */
  function reserveBytes(bytes: number): boolean {
    if (bytes <= remainingBytes) remainingBytes -= bytes;
    else isTruncated = true;
    return !isTruncated;
  }

  /** Appends an object or an array. */
  function write(value: object, rule: FieldRule, depth: number): void {
    if (depth >= MAX_DEPTH) text += MASKED_JSON;
    else if (Array.isArray(value)) writeItems(value, rule, depth);
    else writeFields(value, depth);
  }

  function writeItems(items: readonly unknown[], rule: FieldRule, depth: number): void {
    remainingBytes -= 2;
    text += '[';
    let writtenCount = 0;
    for (const item of items) {
      if (isTruncated || remainingBytes < 1) break;
      const isNested = typeof item === 'object' && item !== null;
      const part = isNested ? '' : maskedScalar(item, rule);
      if (isNested) remainingBytes -= 1;
      else if (!reserveBytes(part.length + 1)) break;
      text += writtenCount ? `,${part}` : part;
      if (isNested) write(item, rule, depth + 1);
      writtenCount++;
    }
    if (writtenCount < items.length) isTruncated = true;
    text += ']';
  }

  function writeFields(value: object, depth: number): void {
    remainingBytes -= 2;
    let separator = '{';
    let unknownCount = 0;
    for (const name of Object.keys(value)) {
      const fieldValue = (value as Record<string, unknown>)[name];
      if (fieldValue === undefined) continue;
      const rule = ruleOf(name, listedValues);
      const fieldHead = rule.storedName ?? `"${UNKNOWN_NAME} ${++unknownCount}":`;
      if (isTruncated || !reserveBytes(fieldHead.length + 1)) break;
      if (typeof fieldValue === 'object' && fieldValue !== null) {
        text += separator + fieldHead;
        write(fieldValue, rule, depth + 1);
      } else {
        const part = maskedScalar(fieldValue, rule);
        if (!reserveBytes(part.length)) break;
        text += separator + fieldHead + part;
      }
      separator = ',';
    }
    text += separator === '{' ? '{}' : '}';
  }

  const rule = ruleOf('', listedValues);
  if (typeof body === 'object' && body !== null) write(body, rule, 0);
  else text = maskedScalar(body, rule);
  return { text, isTruncated };
}

/** Reason and details of an error reply. */
export interface ErrorRecord {
  reason: string;
  details?: unknown;
}

/**
 * Maximum number and minimum length of the texts of a request that are removed from a stored
 * message.
 */
const MAX_TEXTS = 2_000;
const MIN_LENGTH = 3;

/** Values of the request that are not kept in clear, the longest first. */
function privateTexts(listedValues: ListedValues, parts: readonly unknown[]): string[] {
  const texts = new Set<string>();
  const visit = (value: unknown, name: string): void => {
    if (texts.size >= MAX_TEXTS) return;
    if (typeof value === 'string') {
      const text = value.trim().toLowerCase();
      if (text.length >= MIN_LENGTH && !isKeptText(value, name, listedValues)) texts.add(text);
    } else if (typeof value === 'number' && !isKeptNumber(name, listedValues)) {
      if (String(value).length >= MIN_LENGTH) texts.add(String(value));
    } else if (Array.isArray(value)) for (const each of value) visit(each, name);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) visit(each, key);
    }
  };
  for (const part of parts) visit(part, '');
  return [...texts].sort((a, b) => b.length - a.length);
}

const WORD_BEFORE = /\w*$/;
const WORD_AFTER = /^\w*/;

/** Whether the text at this position is a part of a longer word that the contract lists. */
function isPartOfWord(message: string, start: number, end: number, words: ListedValues['words']) {
  const precedingWord = WORD_BEFORE.exec(message.slice(0, start))?.[0] ?? '';
  const followingText = WORD_AFTER.exec(message.slice(end))?.[0] ?? '';
  return (
    precedingWord + followingText !== '' &&
    words.has(precedingWord + message.slice(start, end) + followingText)
  );
}

/** Replaces each of the texts, ignoring case. */
function withoutTexts(message: string, texts: readonly string[], { words }: ListedValues): string {
  let redactedText = redactText(message);
  for (const text of texts) {
    let lowerCaseText = redactedText.toLowerCase();
    // A character whose lower case has another length would shift positions.
    if (lowerCaseText.length !== redactedText.length) return MASKED;
    for (let index = lowerCaseText.indexOf(text); index >= 0; ) {
      const end = index + text.length;
      const isKept = isPartOfWord(redactedText, index, end, words);
      if (!isKept) redactedText = redactedText.slice(0, index) + MASKED + redactedText.slice(end);
      lowerCaseText = redactedText.toLowerCase();
      index = lowerCaseText.indexOf(text, isKept ? end : index + MASKED.length);
    }
  }
  return redactedText;
}

const FIELD_NAME = /^([A-Za-z_][A-Za-z_-]{0,39}|\d{1,4})$/;
const MAX_MESSAGE = 1_000;
/** The error of a called operation is nested in details and has its own details. */
const MAX_DETAIL_DEPTH = 6;

/** The error reply without values of the request: field names, rules and reasons. */
export function maskedError(
  contract: Contract,
  reply: unknown,
  request: readonly unknown[],
  contracts: readonly Contract[] = [],
): ErrorRecord {
  const listedValues = listedIn(contract, contracts);
  const { reason, details } = (reply ?? {}) as { reason?: unknown; details?: unknown };
  const texts = privateTexts(listedValues, request);
  const maskMessage = (text: unknown) =>
    withoutTexts(String(text ?? ''), texts, listedValues).slice(0, MAX_MESSAGE);
  const isSafe = (part: string) =>
    FIELD_NAME.test(part) && withoutTexts(part, texts, listedValues) === part;
  const maskName = (part: string) =>
    listedValues.names.has(part) || isSafe(part) ? part : UNKNOWN_NAME;
  const fieldOf = (path: unknown) => String(path).split('.').map(maskName).join('.');

  function maskDetail(value: unknown, name: string, depth: number): unknown {
    if (typeof value === 'string') {
      // The error of a called operation.
      if (name === 'reason') return maskMessage(value);
      return isKeptDetail(value, name, listedValues) && !texts.includes(value.toLowerCase())
        ? value
        : MASKED;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DETAIL_DEPTH) return MASKED;
    if (Array.isArray(value))
      return value.slice(0, 100).map((each) => maskDetail(each, name, depth + 1));
    if (name === 'errors' && 'field' in value)
      return maskFieldError(value as Record<string, unknown>);
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, maskDetail(each, key, depth + 1)]),
    );
  }

  function maskFieldError({ field, constraint, message: text }: Record<string, unknown>) {
    return {
      field: fieldOf(field),
      ...(constraint ? { constraint } : {}),
      message: maskMessage(text),
    };
  }

  const maskedReply = { reason: maskMessage(reason) };
  if (typeof details !== 'object' || details === null) return maskedReply;
  return { ...maskedReply, details: maskDetail(details, '', 0) };
}
