// Steps of a scenario: calls with references to the replies of earlier calls, such as `$ada.id`.
import { type Field, operationsOf, resourceOf } from '../api/metadata.ts';
import { CliError, usageError } from '../exit.ts';
import type { OperationId } from '../sdk.ts';
import { closest } from '../suggest.ts';

export interface Call {
  readonly name: string;
  readonly operationId: OperationId;
  readonly input?: Readonly<Record<string, unknown>>;
  /** A reference to the token of an agent, which makes the call. */
  readonly as?: string;
  /** The code with which the call is rejected in this scenario. */
  readonly rejectedWith?: string;
}

/** Advances the clock of the platform. `PT0S` only executes due work. */
export interface Advance {
  readonly advance: string;
}

export type Step = Call | Advance;

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** Text about the outcome, with references in braces: `{payment.status}`. */
  readonly outcome: string;
  /** Created for each run, because some steps contain random values. */
  steps(): readonly Step[];
}

export type Replies = ReadonlyMap<string, unknown>;

const REFERENCE = /^\$([A-Za-z][\w-]*)((?:\.[\w-]+)*)$/;

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (parent, name) =>
      typeof parent === 'object' && parent !== null
        ? (parent as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}

export function lookUp(path: string, replies: Replies): unknown {
  const [name = '', ...remainingPath] = path.split('.');
  return valueAt(replies.get(name), remainingPath);
}

/** The value with all references replaced. A UMA address also begins with `$`, but has an `@`. */
export function resolve(value: unknown, replies: Replies): unknown {
  if (typeof value === 'string') {
    if (!REFERENCE.test(value)) return value;
    const referencedValue = lookUp(value.slice(1), replies);
    if (referencedValue === undefined) {
      const hint = 'Check the values of --override.';
      throw new CliError(`No earlier step returned a value for ${value}.`, { hint });
    }
    return referencedValue;
  }
  if (Array.isArray(value)) return value.map((each) => resolve(each, replies));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, resolve(each, replies)]),
  );
}

export interface Override {
  readonly step: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** `quote.lockedCurrencyAmount=5000`: a step, a path in its input, and JSON or a string. */
export function overrideOf(text: string): Override {
  const equalsIndex = text.indexOf('=');
  const [step = '', ...path] = text.slice(0, equalsIndex).split('.');
  if (equalsIndex < 1 || path.length === 0) {
    const hint = 'Example: --override quote.lockedCurrencyAmount=5000';
    throw usageError(`--override: ${text} does not have the form step.path=value.`, hint);
  }
  const valueText = text.slice(equalsIndex + 1);
  let value: unknown = valueText;
  try {
    value = JSON.parse(valueText);
  } catch {
    // The value is a string.
  }
  return { step, path, value };
}

function withValue(target: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...remainingPath] = path;
  if (name === undefined) return value;
  if (Array.isArray(target)) {
    return target.map((each, index) =>
      String(index) === name ? withValue(each, remainingPath, value) : each,
    );
  }
  const object = (typeof target === 'object' ? target : {}) as Record<string, unknown>;
  return { ...object, [name]: withValue(object[name], remainingPath, value) };
}

const isCall = (step: Step): step is Call => 'operationId' in step;

/**
 * Fields of the parameters and the body of an operation, such as `quoteId` and `source.accountId`.
 */
function fieldsOf(operationId: string): readonly Pick<Field, 'path' | 'nested'>[] {
  const resource = resourceOf(operationId);
  const operation = resource && operationsOf(resource).find(({ id }) => id === operationId);
  if (!operation) return [];
  const params = operation.params.map(({ name }) => ({ path: name }));
  return [...params, ...operation.query, ...(operation.body?.fields ?? [])];
}

/** The server ignores unknown fields, so a mistyped path would have no effect. */
function checkPath({ name, operationId }: Call, path: readonly string[]): void {
  const fields = fieldsOf(operationId);
  const isKnown = path.every((_, depth) => {
    const parent = fields.find((each) => each.path === path.slice(0, depth).join('.'));
    // Fields of other values, such as items of lists, are not listed.
    if (depth > 0 && !parent?.nested) return true;
    return fields.some((each) => each.path === path.slice(0, depth + 1).join('.'));
  });
  if (isKnown) return;
  const wrongPath = path.join('.');
  const suggestion = closest(
    wrongPath,
    fields.map((each) => each.path),
  );
  const hint = suggestion
    ? `Did you mean ${name}.${suggestion}?`
    : `See the fields of ${operationId} in \`railhead open reference\`.`;
  throw usageError(`The step ${name} has no field ${wrongPath}.`, hint);
}

/** Returns the steps with the overridden values. */
export function applyOverrides(steps: readonly Step[], overrides: readonly Override[]): Step[] {
  const names = steps.filter(isCall).map(({ name }) => name);
  for (const { step } of overrides) {
    if (names.includes(step)) continue;
    const suggestion = closest(step, names);
    const hint = suggestion
      ? `Did you mean ${suggestion}?`
      : `Steps of this scenario: ${names.join(', ')}.`;
    throw usageError(`The scenario has no step ${step}.`, hint);
  }
  return steps.map((step) => {
    if (!isCall(step)) return step;
    for (const each of overrides) if (each.step === step.name) checkPath(step, each.path);
    const ownOverrides = overrides.filter((each) => each.step === step.name);
    const input = ownOverrides.reduce<unknown>(
      (currentInput, { path, value }) => withValue(currentInput, path, value),
      step.input ?? {},
    );
    return { ...step, input: input as NonNullable<Call['input']> };
  });
}
