// The inputs of a request body.
import { Checkbox } from '@base-ui/react/checkbox';
import { CheckboxGroup } from '@base-ui/react/checkbox-group';
import { Field } from '@base-ui/react/field';
import { Fieldset } from '@base-ui/react/fieldset';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { decimalsOf, decimalText, minorUnits } from '../parts/money.tsx';
import { statusText } from '../parts/status.tsx';
import { MAX_PLATFORMS, usePlatform } from '../shell/platform.tsx';
import { fieldLabel } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { EndpointChoice, useEndpointChoice } from './endpoint-choice.tsx';
import { ProviderChoice } from './provider-choice.tsx';
import { type FieldSchema, isNullable, kindOf, type Values } from './schema.ts';
import { SUGGESTED, useSuggestions } from './suggestions.ts';

interface InputProps {
  name: string;
  schema: FieldSchema;
  value: unknown;
  /** All values of the same object, such as the currency of an amount. */
  body: Values;
  isRequired: boolean;
  error: string | undefined;
  set(value: unknown): void;
}

const textOf = (value: unknown) => (value === undefined || value === null ? '' : String(value));

const withoutBackticks = (description = '') => description.replaceAll('`', '');

/** The unit in a description of the API. The input of an amount shows the currency in its place. */
const UNIT = /,? in minor units(?: of (?:the currency|`currency`))?(?:, as a whole number[^.]*)?/;

const descriptionOf = (name: string, schema: FieldSchema) =>
  withoutBackticks(
    kindOf(name, schema) === 'amount' ? schema.description?.replace(UNIT, '') : schema.description,
  );

/** Converts an ISO time to a time of the browser's zone. */
const localTimeOf = (iso: unknown) => {
  if (typeof iso !== 'string' || !iso) return '';
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

function AmountInput({ value, body, set }: InputProps) {
  const currency = typeof body.currency === 'string' ? body.currency : '';
  const knownCurrency = decimalsOf(currency) === undefined ? '' : currency;
  const initialText =
    typeof value !== 'number'
      ? ''
      : knownCurrency
        ? decimalText({ amount: value, currency })
        : `${value}`;
  const [inputText, setInputText] = useState(initialText);
  const change = (typedText: string) => {
    const units = minorUnits(typedText, knownCurrency);
    set(units === undefined ? undefined : Number(units));
  };
  // The entered text is parsed again when the currency changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the currency changes
  useEffect(() => {
    if (inputText) change(inputText);
  }, [knownCurrency]);
  return (
    <>
      <Field.Control
        inputMode="decimal"
        value={inputText}
        onChange={({ target }) => {
          setInputText(target.value);
          change(target.value);
        }}
      />
      <p className="soft">
        {knownCurrency ? TEXTS.inCurrency(knownCurrency) : TEXTS.inMinorUnits}
        {typeof value === 'number' && ` · ${TEXTS.minorUnits(textOf(value), currency)}`}
      </p>
    </>
  );
}

function JsonInput({ value, set }: InputProps) {
  const [inputText, setInputText] = useState(
    value === undefined ? '' : JSON.stringify(value, null, 2),
  );
  const [isBroken, setBroken] = useState(false);
  return (
    <>
      <Field.Control
        render={<textarea rows={6} className="code" />}
        value={inputText}
        onChange={({ target }) => {
          setInputText(target.value);
          try {
            set(target.value.trim() ? JSON.parse(target.value) : undefined);
            setBroken(false);
          } catch {
            // Invalid text is sent unchanged, so that the server rejects it and no input is lost.
            set(target.value);
            setBroken(true);
          }
        }}
      />
      {isBroken && <p className="field-error">{TEXTS.notJson}</p>}
    </>
  );
}

/** A list of strings, one per line or separated by commas. */
function TextsInput({ value, set }: InputProps) {
  const [inputText, setInputText] = useState(
    Array.isArray(value) ? value.map(textOf).join('\n') : '',
  );
  return (
    <>
      <Field.Control
        render={<textarea rows={3} />}
        value={inputText}
        onChange={({ target }) => {
          setInputText(target.value);
          const texts = target.value.split(/[\n,]/).map((each) => each.trim());
          set(texts.filter((each) => each !== ''));
        }}
      />
      <p className="soft">{TEXTS.onePerLine}</p>
    </>
  );
}

/** Text input with suggestions. Other values are allowed. */
function SuggestedText({ name, schema, value, set }: InputProps) {
  const id = useId();
  const suggestions = useSuggestions(name);
  const selectedSuggestion = suggestions.find((each) => each.value === value);
  return (
    <>
      <Field.Control
        list={id}
        autoComplete="off"
        maxLength={schema.maxLength}
        value={textOf(value)}
        onChange={({ target }) => set(target.value)}
      />
      <datalist id={id}>
        {suggestions.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
      </datalist>
      {selectedSuggestion && <p className="soft">{selectedSuggestion.label}</p>}
    </>
  );
}

function Choice({ schema, value, set, isRequired }: InputProps) {
  const values = (schema.enum ?? []).filter((each) => each !== null);
  return (
    <Field.Control
      render={
        <select>
          {(!isRequired || value === undefined) && <option value="">{TEXTS.notSet}</option>}
          {values.map((each) => (
            <option key={textOf(each)} value={textOf(each)}>
              {statusText(textOf(each))}
            </option>
          ))}
        </select>
      }
      value={textOf(value)}
      // The value of the schema is set, because it can be a number.
      onChange={({ target }) => set(values.find((each) => textOf(each) === target.value))}
    />
  );
}

/** The platforms of an operator without access to all platforms. */
function Platforms(props: InputProps) {
  const { platforms } = usePlatform();
  // The list may be incomplete, so the ID is entered.
  if (platforms.length === MAX_PLATFORMS) return <Single {...props} />;
  return (
    <Choices {...props} options={platforms.map(({ id, name }) => ({ value: id, label: name }))} />
  );
}

interface Option {
  value: string;
  label: string;
}

const optionsOf = ({ items }: FieldSchema): Option[] =>
  (items?.enum ?? []).map(textOf).map((value) => ({ value, label: statusText(value) }));

interface ChoicesProps extends InputProps {
  options?: readonly Option[];
}

function Choices(props: ChoicesProps) {
  const { name, schema, value, set, error, options = optionsOf(schema) } = props;
  return (
    <Fieldset.Root
      className="fieldset"
      render={
        <CheckboxGroup
          value={Array.isArray(value) ? value.map(textOf) : []}
          onValueChange={(nextValues) => set(nextValues)}
        />
      }
    >
      <Fieldset.Legend className="label">{fieldLabel(name)}</Fieldset.Legend>
      {options.map((option) => (
        <Field.Root key={option.value} name={`${name}.${option.value}`}>
          <Field.Label className="check">
            <Checkbox.Root value={option.value} className="checkbox">
              <Checkbox.Indicator className="checkmark" />
            </Checkbox.Root>
            {option.label}
          </Field.Label>
        </Field.Root>
      ))}
      <p className="soft">{withoutBackticks(schema.description)}</p>
      {error && <p className="field-error">{error}</p>}
    </Fieldset.Root>
  );
}

/** A select list, because an unchecked checkbox could mean either the default or `false`. */
function YesOrNo({ value, set }: InputProps) {
  return (
    <Field.Control
      render={
        <select>
          <option value="">{TEXTS.notSet}</option>
          <option value="true">{TEXTS.yes}</option>
          <option value="false">{TEXTS.no}</option>
        </select>
      }
      value={textOf(value)}
      onChange={({ target }) => set(target.value ? target.value === 'true' : undefined)}
    />
  );
}

/** A select list of the endpoints of the platform, or an input for the ID if the endpoints are unknown. */
function Endpoint(props: InputProps) {
  const { schema, value, set } = props;
  if (useEndpointChoice()) return <EndpointChoice value={textOf(value)} set={set} />;
  return (
    <Field.Control
      maxLength={schema.maxLength}
      value={textOf(value)}
      onChange={({ target }) => set(target.value)}
    />
  );
}

function renderControl(props: InputProps): ReactNode {
  const { name, schema, value, set } = props;
  switch (kindOf(name, schema)) {
    case 'choice':
      return <Choice {...props} />;
    case 'boolean':
      return <YesOrNo {...props} />;
    case 'amount':
      return <AmountInput {...props} />;
    case 'number':
      return (
        <Field.Control
          type="number"
          step="any"
          value={textOf(value)}
          onChange={({ target }) => set(target.value === '' ? undefined : Number(target.value))}
        />
      );
    case 'time':
      return (
        <Field.Control
          type="datetime-local"
          value={localTimeOf(value)}
          onChange={({ target }) =>
            set(target.value ? new Date(target.value).toISOString() : undefined)
          }
        />
      );
    case 'long':
      return (
        <Field.Control
          render={<textarea rows={3} maxLength={schema.maxLength} />}
          value={textOf(value)}
          onChange={({ target }) => set(target.value)}
        />
      );
    case 'texts':
      return <TextsInput {...props} />;
    case 'json':
      return <JsonInput {...props} />;
    case 'date':
      return (
        <Field.Control
          type="date"
          value={textOf(value)}
          onChange={({ target }) => set(target.value)}
        />
      );
    default:
      if (name === 'endpointId') return <Endpoint {...props} />;
      if (name === 'providerId' && isNullable(schema))
        return <ProviderChoice value={value} environment={props.body.environment} set={set} />;
      if (SUGGESTED.includes(name)) return <SuggestedText {...props} />;
      return (
        <Field.Control
          maxLength={schema.maxLength}
          value={textOf(value)}
          onChange={({ target }) => set(target.value)}
        />
      );
  }
}

function Single(props: InputProps) {
  const { name, schema, isRequired, error } = props;
  return (
    <Field.Root name={name} className="field" invalid={error !== undefined}>
      <Field.Label className="label">
        {fieldLabel(name)}
        {!isRequired && <span className="soft"> {TEXTS.optional}</span>}
      </Field.Label>
      {renderControl(props)}
      <Field.Description className="soft">{descriptionOf(name, schema)}</Field.Description>
      {error && (
        <Field.Error match className="field-error">
          {error}
        </Field.Error>
      )}
    </Field.Root>
  );
}

/** Objects of a list, each with its own inputs. */
function Items({
  name,
  schema,
  value,
  set,
  errors,
}: Omit<InputProps, 'error'> & Pick<FieldsProps, 'errors'>) {
  const items = Array.isArray(value) ? (value as Values[]) : [];
  const label = fieldLabel(name);
  return (
    <Fieldset.Root className="fieldset">
      <Fieldset.Legend className="label">{label}</Fieldset.Legend>
      <p className="soft">{withoutBackticks(schema.description)}</p>
      {items.map((item, index) => (
        // Items have no ID. Items are added only at the end, and can be removed.
        <div key={index.toString()} className="item">
          <Fields
            schema={schema.items ?? {}}
            values={item}
            errors={errors}
            prefix={`${name}.${index}.`}
            set={(nextItem) =>
              set(items.map((each, position) => (position === index ? nextItem : each)))
            }
          />
          <button
            type="button"
            className="button quiet"
            onClick={() => set(items.filter((_, position) => position !== index))}
          >
            {TEXTS.remove}
          </button>
        </div>
      ))}
      <button type="button" className="button" onClick={() => set([...items, {}])}>
        {TEXTS.add(label)}
      </button>
    </Fieldset.Root>
  );
}

interface FieldsProps {
  schema: FieldSchema;
  values: Values;
  /** Error messages by the path of the field, such as `policy.limit`. */
  errors: Readonly<Record<string, string>>;
  prefix?: string;
  /** Fields whose values the screen sets. */
  fixedFields?: readonly string[];
  set(values: Values): void;
}

/** The error of a field, or the first error of its items. */
const errorAt = (errors: FieldsProps['errors'], path: string): string | undefined =>
  errors[path] ?? Object.entries(errors).find(([name]) => name.startsWith(`${path}.`))?.[1];

/** The inputs of an object, required ones first and the reason last. */
export function Fields({
  schema,
  values,
  errors,
  prefix = '',
  fixedFields = [],
  set,
}: FieldsProps) {
  const required = schema.required ?? [];
  const rank = (name: string) => {
    if (name === 'reason') return 3;
    // The currency precedes the amount, because the number of decimals depends on the currency.
    if (name === 'currency') return required.includes(name) ? 0 : 2;
    return required.includes(name) ? 1 : 2;
  };
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => !fixedFields.includes(name))
    .sort(([a], [b]) => rank(a) - rank(b));
  return fields.map(([name, field]) => {
    const path = `${prefix}${name}`;
    const change = (value: unknown) => set({ ...values, [name]: value });
    const kind = kindOf(name, field);
    if (kind === 'group' || kind === 'money')
      return (
        <Fieldset.Root key={name} className="fieldset">
          <Fieldset.Legend className="label">{fieldLabel(name)}</Fieldset.Legend>
          <Fields
            schema={field}
            values={(values[name] ?? {}) as Values}
            errors={errors}
            prefix={`${path}.`}
            set={change}
          />
        </Fieldset.Root>
      );
    const props = {
      ...{ name, schema: field, value: values[name], body: values, set: change },
      ...{ isRequired: required.includes(name), error: errorAt(errors, path) },
    };
    if (kind === 'items') return <Items key={name} {...props} errors={errors} />;
    if (name === 'platformIds') return <Platforms key={name} {...props} />;
    return kind === 'choices' ? (
      <Choices key={name} {...props} />
    ) : (
      <Single key={name} {...props} />
    );
  });
}
