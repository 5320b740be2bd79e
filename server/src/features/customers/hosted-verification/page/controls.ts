// Form controls, one function per kind of input. All use native elements with a label. A group of
// checkboxes is a fieldset with a legend.
import { action, freshId, h } from './dom.ts';
import type { DerivedField, Field } from './fields.ts';
import { COUNTRIES, countryName, formatBytes, labelFor } from './labels.ts';
import type { State } from './types.ts';

export interface Control {
  field: Field;
  root: HTMLElement;
  /** Element to focus when the value must be corrected. */
  focus: HTMLElement;
  /** Current value, or undefined if empty. */
  read(): unknown;
  showError(message: string): void;
  /** Updates the field after other answers have changed. */
  describe(derivedField: Field & DerivedField): void;
}

interface Input {
  /** Elements below the label. */
  body: HTMLElement[];
  focus: HTMLElement;
  read(): unknown;
  /** Elements that are marked as invalid. */
  markedElements: HTMLElement[];
}

type Option = { value: string; label: string };

const INPUT_TYPES: Partial<Record<Field['kind'], string>> = {
  date: 'date',
  email: 'email',
  tel: 'tel',
  percent: 'number',
};

const trimToUndefined = (text: string) => (text.trim() === '' ? undefined : text.trim());

function textInput(field: Field, id: string, value: unknown): Input {
  const input = h(field.kind === 'longtext' ? 'textarea' : 'input', {
    id,
    name: field.name,
    autocomplete: field.autocomplete || 'off',
    ...(field.kind === 'longtext' ? { rows: 3 } : { type: INPUT_TYPES[field.kind] ?? 'text' }),
    ...(field.kind === 'percent' ? { min: 0, max: 100, step: 1 } : {}),
    ...(field.numeric || field.kind === 'percent' ? { inputmode: 'numeric' } : {}),
    ...(field.kind === 'date' ? { max: '9999-12-31' } : {}),
    required: !field.optional,
  }) as HTMLInputElement;
  if (value !== undefined && value !== null) input.value = String(value);
  const read = () => {
    const text = trimToUndefined(input.value);
    return field.kind === 'percent' && text !== undefined ? Number(text) : text;
  };
  return { body: [input], focus: input, read, markedElements: [input] };
}

function optionsOf(field: Field, choices: State['choices']): Option[] {
  if (field.kind === 'country' || field.kind === 'countries') {
    return COUNTRIES.map(({ code, name }) => ({ value: code, label: name }));
  }
  const fieldKey = field.name.split('.').at(-1) as string;
  const values = choices[field.name] ?? choices[fieldKey] ?? [];
  return values.map((value) => ({ value, label: labelFor(value, fieldKey) }));
}

const optionElements = (options: readonly Option[], placeholder: string) => [
  h('option', { value: '' }, placeholder),
  ...options.map(({ value, label }) => h('option', { value }, label)),
];

function selectInput(field: Field, id: string, value: unknown, options: Option[]): Input {
  const select = h(
    'select',
    { id, name: field.name, autocomplete: field.autocomplete || 'off', required: !field.optional },
    ...optionElements(options, 'Select an option'),
  );
  if (typeof value === 'string') select.value = value;
  return {
    body: [select],
    focus: select,
    read: () => trimToUndefined(select.value),
    markedElements: [select],
  };
}

function checkboxesInput(
  field: Field,
  id: string,
  currentValue: unknown,
  options: Option[],
): Input {
  const chosenValues = new Set(Array.isArray(currentValue) ? (currentValue as string[]) : []);
  const checkboxes = options.map(({ value, label }, index) => {
    const checkbox = h('input', {
      type: 'checkbox',
      id: index ? `${id}-${index}` : id,
      name: field.name,
    });
    checkbox.value = value;
    checkbox.checked = chosenValues.has(value);
    return {
      box: checkbox,
      row: h('label', { class: 'box', for: checkbox.id }, checkbox, h('span', {}, label)),
    };
  });
  const read = () => {
    const values = checkboxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    return values.length ? values : undefined;
  };
  const firstCheckbox = checkboxes[0]?.box ?? h('span');
  return {
    body: checkboxes.map(({ row }) => row),
    focus: firstCheckbox,
    read,
    markedElements: checkboxes.map(({ box }) => box),
  };
}

/** Input for several countries. Each country is added and removed individually. */
function countriesInput(id: string, value: unknown, options: Option[]): Input {
  const codes = new Set(Array.isArray(value) ? (value as string[]) : []);
  const list = h('ul', { class: 'chips' });
  const select = h('select', { id }, ...optionElements(options, 'Select a country'));
  const show = () => {
    list.replaceChildren(
      ...[...codes].map((code) => {
        const name = countryName(code);
        const remove = () => {
          codes.delete(code);
          show();
          select.focus();
        };
        return h(
          'li',
          {},
          name,
          action('Remove', remove, { kind: 'link', label: `Remove ${name}` }),
        );
      }),
    );
    list.hidden = codes.size === 0;
  };
  const addSelected = () => {
    if (select.value) codes.add(select.value);
    select.value = '';
    show();
  };
  const add = () => {
    addSelected();
    select.focus();
  };
  show();
  const read = () => {
    // A selected country counts even if it was not added.
    if (select.value) addSelected();
    return codes.size ? [...codes] : undefined;
  };
  const row = h(
    'div',
    { class: 'adding' },
    select,
    action('Add', add, { label: 'Add the country' }),
  );
  return { body: [list, row], focus: select, read, markedElements: [select] };
}

const ACCEPTED_MEDIA_TYPES = 'image/jpeg,image/png,application/pdf';

const createThumbnail = (file: File): HTMLElement =>
  file.type.startsWith('image/')
    ? h('img', { src: URL.createObjectURL(file), alt: `Preview of ${file.name}`, class: 'preview' })
    : h('span', { class: 'preview paper', 'aria-hidden': 'true' }, 'PDF');

/** Preview of a local file, with its name and size. */
export const previewOf = (file: File): HTMLElement =>
  h(
    'div',
    { class: 'chosen' },
    createThumbnail(file),
    h('span', {}, h('b', {}, file.name), ' ', formatBytes(file.size)),
  );

function fileInput(field: Field, id: string): Input {
  const preview = h('div');
  const input = h('input', { type: 'file', id, name: field.name, accept: ACCEPTED_MEDIA_TYPES });
  input.addEventListener('change', () => {
    for (const image of preview.querySelectorAll('img')) URL.revokeObjectURL(image.src);
    const file = input.files?.[0];
    preview.replaceChildren(...(file ? [previewOf(file)] : []));
  });
  return {
    body: [input, preview],
    focus: input,
    read: () => input.files?.[0],
    markedElements: [input],
  };
}

interface ControlOptions {
  value: unknown;
  choices: State['choices'];
  /** Text for a value that is stored but not shown. */
  onFile?: string | undefined;
}

function createInput(field: Field, id: string, { value, choices }: ControlOptions): Input {
  if (field.kind === 'file') return fileInput(field, id);
  if (field.kind === 'countries') return countriesInput(id, value, optionsOf(field, choices));
  if (field.kind === 'choices') return checkboxesInput(field, id, value, optionsOf(field, choices));
  if (field.kind === 'choice' || field.kind === 'country') {
    return selectInput(field, id, value, optionsOf(field, choices));
  }
  return textInput(field, id, value);
}

/** Restricts the options of a list. A selected option that is no longer available is cleared. */
function restrictOptions(select: HTMLSelectElement, values: readonly string[]): void {
  for (const option of select.options) {
    option.hidden = option.value !== '' && !values.includes(option.value);
    option.disabled = option.hidden;
  }
  if (select.value && !values.includes(select.value)) select.value = '';
}

/** Field with its label, hint and error message. */
export function createControl(field: Field, options: ControlOptions): Control {
  const id = freshId('field');
  const { body, focus, read, markedElements } = createInput(field, id, options);
  const isGroup = field.kind === 'choices';
  const labelOf = ({ label, optional }: Field) => (optional ? `${label} (optional)` : label);
  const hintOf = ({ hint }: Field) => [options.onFile, hint].filter(Boolean).join(' ');
  const hintText = h(
    'p',
    { class: 'hint', id: `${id}-hint`, hidden: !hintOf(field) },
    hintOf(field),
  );
  const errorText = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
  const labelElement = isGroup
    ? h('legend', {}, labelOf(field))
    : h('label', { for: id }, labelOf(field));
  const root = h(
    isGroup ? 'fieldset' : 'div',
    { class: 'field' },
    labelElement,
    hintText,
    errorText,
    ...body,
  );
  const showError = (message: string) => {
    errorText.textContent = message;
    errorText.hidden = message === '';
    const ids = [!hintText.hidden && hintText.id, message && errorText.id]
      .filter(Boolean)
      .join(' ');
    root.classList.toggle('bad', message !== '');
    for (const each of markedElements) {
      if (message) each.setAttribute('aria-invalid', 'true');
      else each.removeAttribute('aria-invalid');
      if (ids) each.setAttribute('aria-describedby', ids);
      else each.removeAttribute('aria-describedby');
    }
  };
  const describe = (derivedField: Field & DerivedField) => {
    labelElement.textContent = labelOf(derivedField);
    hintText.textContent = hintOf(derivedField);
    hintText.hidden = !hintText.textContent;
    for (const each of markedElements) (each as HTMLInputElement).required = !derivedField.optional;
    if (derivedField.values && focus instanceof HTMLSelectElement)
      restrictOptions(focus, derivedField.values);
    showError(errorText.textContent ?? '');
  };
  showError('');
  return { field, root, focus, read, showError, describe };
}
