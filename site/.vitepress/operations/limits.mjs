// Values and limits of a schema as sentences, without those that its description already states.
import { flatten } from './fields.mjs';

/** Maximum number of listed values. The number of further values is shown. */
const MAX_VALUES = 60;

const code = (value) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

function valuesOf(values) {
  const shownValues = values.slice(0, MAX_VALUES).map(code).join(', ');
  const hiddenCount = values.length - MAX_VALUES;
  const hiddenText = hiddenCount > 0 ? ` and ${hiddenCount} more` : '';
  return values.length === 1 ? `Always ${shownValues}.` : `One of ${shownValues}${hiddenText}.`;
}

/** Formats that the type already states. */
const TYPE_FORMATS = new Set(['binary', 'int64']);

const countText = (count, noun) => `${count} ${count === 1 ? noun : `${noun}s`}`;
const maximumText = (length) => `At most ${countText(length, 'character')}.`;
const minimumText = (min, max) =>
  `${min === max ? 'Exactly' : 'At least'} ${countText(min, 'character')}.`;

const LIMITS = [
  ['format', (value) => (TYPE_FORMATS.has(value) ? undefined : `Format ${value}.`)],
  ['minLength', (value, { maxLength }) => minimumText(value, maxLength)],
  ['maxLength', (value, { minLength }) => (value === minLength ? undefined : maximumText(value))],
  ['minimum', (value) => `Minimum ${value}.`],
  ['exclusiveMinimum', (value) => `Greater than ${value}.`],
  ['maximum', (value) => `Maximum ${value}.`],
  ['minItems', (value) => `At least ${value === 1 ? '1 entry' : `${value} entries`}.`],
  ['maxItems', (value) => `At most ${value === 1 ? '1 entry' : `${value} entries`}.`],
  ['uniqueItems', () => 'Entries are unique.'],
  ['pattern', (value) => `Pattern ${code(value)}.`],
  ['default', (value) => `Default ${code(value)}.`],
  ['deprecated', () => 'Deprecated.'],
];

const lengthPhrases = (length, { minLength, maxLength }) => [
  `${minLength} to ${maxLength}`,
  `${minLength} or ${maxLength}`,
  `${length} characters`,
  `${length} digits`,
];
const rangePhrases = (_, { minimum, maximum }) => [`${minimum} to ${maximum}`];

/** Phrases with which a description states a limit. */
const PHRASES = {
  minLength: lengthPhrases,
  maxLength: lengthPhrases,
  minimum: (value, shape) => [...rangePhrases(value, shape), `from ${value}`],
  maximum: rangePhrases,
  exclusiveMinimum: (value) => [`greater than ${value}`],
  maxItems: (value) => [`at most ${value}`],
  default: (value) => [`defaults to ${value}`.toLowerCase()],
};

/** The description for comparison: lower case, without code marks and separators of thousands. */
const comparable = (description = '') =>
  ` ${description
    .toLowerCase()
    .replaceAll('`', '')
    .replaceAll(/(\d),(?=\d{3})/g, '$1')
    .replaceAll(/[.,:;()]+(?=\s|$)/g, ' ')} `;

const isStated = (key, shape, text) =>
  (PHRASES[key]?.(shape[key], shape) ?? []).some((phrase) => text.includes(` ${phrase} `));

/** Values and limits of a schema, in sentences. */
export function limitsOf(schema, description) {
  const shape = flatten(schema);
  const items = shape.items ? flatten(shape.items) : {};
  const values = shape.const === undefined ? shape.enum : [shape.const];
  const text = comparable(description);
  return [
    ...(values ? [valuesOf(values)] : []),
    ...(items.enum ? [`Entries: ${valuesOf(items.enum)}`] : []),
    ...LIMITS.filter(
      ([key]) => shape[key] !== undefined && shape[key] !== false && !isStated(key, shape, text),
    ).map(([key, sentence]) => sentence(shape[key], shape)),
  ].filter((limit) => limit !== undefined && !description?.includes(limit));
}
