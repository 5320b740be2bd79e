// Form of fields: shows the stored values, collects input, and shows each error next to its field,
// with a linked summary above. Each control reads its value, so that the form is independent of
// field kinds.
import { type Control, createControl } from './controls.ts';
import { action, h, whileBusy } from './dom.ts';
import { emptyMessage, type Field, setAt, valueAt } from './fields.ts';
import type { FieldError, Json, State } from './types.ts';

interface Form {
  root: HTMLFormElement;
  /**
   * Shows errors and focuses the summary. Errors of fields outside the form appear in the summary
   * only.
   */
  showErrors(errors: FieldError[], reason?: string): void;
}

interface FormOptions {
  fields: Field[];
  /** Stored values, in the shape of the request. */
  storedValues: Json;
  choices: State['choices'];
  /** Text by field name, for a field whose value is stored but not shown. */
  onFile?: Record<string, string>;
  submitLabel: string;
  /** Called with the entered values when all required fields have a value. */
  submit(values: Json): Promise<FieldError[] | undefined>;
  cancel?: { label: string; press(): void };
}

/** Error of the server about a field, without schema terminology. */
function errorMessage(field: Field, { message, constraint }: FieldError): string {
  const { label, hint } = field;
  if (message === 'is required') return emptyMessage(field);
  const isFormatError =
    (constraint?.pattern && message.startsWith('must match')) ||
    (constraint?.format && message.startsWith('must be a valid'));
  if (isFormatError) return `${label} has the wrong format. ${hint ?? ''}`.trim();
  const isSentence = /^\p{Lu}/u.test(message);
  if (isSentence) return message;
  return `${label.endsWith('?') ? 'Your answer' : label} ${message}`;
}

const summaryOf = (entries: { text: string; target?: HTMLElement | undefined }[]): HTMLElement => {
  const items = entries.map(({ text, target }) => {
    if (!target) return h('li', {}, text);
    const link = h('a', { href: `#${target.id}` }, text);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      target.focus();
    });
    return h('li', {}, link);
  });
  const title = h('h2', {}, 'There is a problem');
  const summary = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title);
  summary.append(h('ul', {}, ...items));
  return summary;
};

const ERROR_PREFIX = 'Error: ';

/** Shows the error summary in the container and moves the focus to it. */
export function showErrorSummary(
  container: HTMLElement,
  entries: { text: string; target?: HTMLElement | undefined }[],
): void {
  container.replaceChildren();
  if (!entries.length) return;
  const summary = summaryOf(entries);
  container.append(summary);
  if (!document.title.startsWith(ERROR_PREFIX)) document.title = ERROR_PREFIX + document.title;
  summary.focus();
}

/** Field with the properties that depend on other answers. */
function deriveField({ field }: Control, controls: readonly Control[], storedValues: Json) {
  const read = (name: string) => {
    const relatedControl = controls.find((each) => each.field.name === name);
    return relatedControl ? relatedControl.read() : valueAt(storedValues, name);
  };
  return { ...field, ...field.derive?.(read) };
}

function isVisible(field: Field & { isHidden?: boolean }, controls: readonly Control[]): boolean {
  if (field.isHidden) return false;
  if (!field.condition) return true;
  const { field: name, is } = field.condition;
  const relatedControl = controls.find((each) => each.field.name === name);
  return [relatedControl?.read()].flat().some((value) => is.includes(String(value)));
}

const isPartOfAddress = ({ name }: Field) => /(^|\.)address\./.test(name);

/** Collects entered values, null for cleared values, and the controls whose value is missing. */
function collect(controls: readonly Control[], { storedValues, onFile = {} }: FormOptions) {
  const values: Json = {};
  const missingControls: Control[] = [];
  for (const each of controls) {
    const currentField = deriveField(each, controls, storedValues);
    if (!isVisible(currentField, controls)) continue;
    const value = each.read();
    if (value !== undefined) setAt(values, each.field.name, value);
    else if (currentField.optional) {
      // An address is replaced completely, so omitted parts are removed.
      const previousValue = valueAt(storedValues, each.field.name);
      if (previousValue !== undefined && !isPartOfAddress(each.field))
        setAt(values, each.field.name, null);
    } else if (!onFile[each.field.name]) missingControls.push(each);
  }
  return { values, missingControls };
}

export function createForm(options: FormOptions): Form {
  const { fields, storedValues, choices, onFile = {}, submitLabel, submit, cancel } = options;
  const summaryContainer = h('div');
  const controls = fields.map((field) =>
    createControl(field, {
      value: valueAt(storedValues, field.name),
      choices,
      onFile: onFile[field.name],
    }),
  );
  const updateVisibility = () => {
    for (const each of controls) {
      const currentField = deriveField(each, controls, storedValues);
      if (each.field.derive) each.describe(currentField);
      each.root.hidden = !isVisible(currentField, controls);
    }
  };

  function showErrors(errors: FieldError[], reason?: string): void {
    for (const each of controls) each.showError('');
    const entries = errors.map((error) => {
      const control = controls.find(({ field }) => field.name === error.field);
      if (!control)
        return { text: error.field ? `${error.field}: ${error.message}` : error.message };
      const text = errorMessage(deriveField(control, controls, storedValues), error);
      control.showError(text);
      return { text, target: control.focus };
    });
    showErrorSummary(summaryContainer, entries.length || !reason ? entries : [{ text: reason }]);
  }

  async function send(): Promise<void> {
    const { values, missingControls } = collect(controls, options);
    for (const each of controls) each.showError('');
    if (missingControls.length) {
      for (const each of missingControls) each.showError(emptyMessage(each.field));
      const entries = missingControls.map((control) => ({
        text: emptyMessage(control.field),
        target: control.focus,
      }));
      return showErrorSummary(summaryContainer, entries);
    }
    summaryContainer.replaceChildren();
    document.title = document.title.replace(ERROR_PREFIX, '');
    const errors = await submit(values);
    if (errors) showErrors(errors);
  }

  const button = h('button', { type: 'submit', class: 'primary' }, submitLabel);
  const form = h(
    'form',
    { novalidate: true },
    summaryContainer,
    ...controls.map(({ root }) => root),
  );
  const buttons = h('div', { class: 'buttons' }, button);
  if (cancel) buttons.append(action(cancel.label, cancel.press));
  form.append(buttons);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, send);
  });
  form.addEventListener('change', updateVisibility);
  updateVisibility();
  return { root: form, showErrors };
}
