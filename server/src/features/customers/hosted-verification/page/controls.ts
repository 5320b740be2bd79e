// The fields of a form, one function for each way to enter a value. All of them are elements that browsers
// have, with a label of their own; a group of boxes is a fieldset with a legend.
import { action, freshId, h } from './dom.ts';
import type { Field, Followed } from './fields.ts';
import type { State } from './types.ts';
import { bytesInWords, COUNTRIES, countryName, wordsFor } from './words.ts';

export interface Control {
  field: Field;
  root: HTMLElement;
  /** The element that gets the focus when its value has to be corrected. */
  focus: HTMLElement;
  /** Undefined while it is empty. */
  read(): unknown;
  complain(message: string): void;
  /** Shows the field as other answers have changed it. */
  describe(now: Field & Followed): void;
}

interface Input {
  /** What stands below the label. */
  body: HTMLElement[];
  focus: HTMLElement;
  read(): unknown;
  /** Elements that are marked as wrong. */
  marked: HTMLElement[];
}

type Option = { value: string; words: string };

const TYPES: Partial<Record<Field['kind'], string>> = {
  date: 'date',
  email: 'email',
  tel: 'tel',
  percent: 'number',
};

const filled = (text: string) => (text.trim() === '' ? undefined : text.trim());

function textInput(field: Field, id: string, known: unknown): Input {
  const input = h(field.kind === 'longtext' ? 'textarea' : 'input', {
    id,
    name: field.name,
    autocomplete: field.autocomplete || 'off',
    ...(field.kind === 'longtext' ? { rows: 3 } : { type: TYPES[field.kind] ?? 'text' }),
    ...(field.kind === 'percent' ? { min: 0, max: 100, step: 1 } : {}),
    ...(field.numeric || field.kind === 'percent' ? { inputmode: 'numeric' } : {}),
    ...(field.kind === 'date' ? { max: '9999-12-31' } : {}),
    required: !field.optional,
  }) as HTMLInputElement;
  if (known !== undefined && known !== null) input.value = String(known);
  const read = () => {
    const text = filled(input.value);
    return field.kind === 'percent' && text !== undefined ? Number(text) : text;
  };
  return { body: [input], focus: input, read, marked: [input] };
}

function optionsOf(field: Field, choices: State['choices']): Option[] {
  if (field.kind === 'country' || field.kind === 'countries') {
    return COUNTRIES.map(({ code, name }) => ({ value: code, words: name }));
  }
  const last = field.name.split('.').at(-1) as string;
  const values = choices[field.name] ?? choices[last] ?? [];
  return values.map((value) => ({ value, words: wordsFor(value, last) }));
}

const optionElements = (options: readonly Option[], first: string) => [
  h('option', { value: '' }, first),
  ...options.map(({ value, words }) => h('option', { value }, words)),
];

function selectInput(field: Field, id: string, known: unknown, options: Option[]): Input {
  const select = h(
    'select',
    { id, name: field.name, autocomplete: field.autocomplete || 'off', required: !field.optional },
    ...optionElements(options, 'Select an option'),
  );
  if (typeof known === 'string') select.value = known;
  return { body: [select], focus: select, read: () => filled(select.value), marked: [select] };
}

function boxesInput(field: Field, id: string, known: unknown, options: Option[]): Input {
  const chosen = new Set(Array.isArray(known) ? (known as string[]) : []);
  const boxes = options.map(({ value, words }, at) => {
    const box = h('input', { type: 'checkbox', id: at ? `${id}-${at}` : id, name: field.name });
    box.value = value;
    box.checked = chosen.has(value);
    return { box, row: h('label', { class: 'box', for: box.id }, box, h('span', {}, words)) };
  });
  const read = () => {
    const values = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    return values.length ? values : undefined;
  };
  const first = boxes[0]?.box ?? h('span');
  return {
    body: boxes.map(({ row }) => row),
    focus: first,
    read,
    marked: boxes.map(({ box }) => box),
  };
}

/** A list of countries: select one, add it, remove it. */
function countriesInput(id: string, known: unknown, options: Option[]): Input {
  const codes = new Set(Array.isArray(known) ? (known as string[]) : []);
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
  const take = () => {
    if (select.value) codes.add(select.value);
    select.value = '';
    show();
  };
  const add = () => {
    take();
    select.focus();
  };
  show();
  const read = () => {
    // A country that was selected and not added counts as well.
    if (select.value) take();
    return codes.size ? [...codes] : undefined;
  };
  const row = h(
    'div',
    { class: 'adding' },
    select,
    action('Add', add, { label: 'Add the country' }),
  );
  return { body: [list, row], focus: select, read, marked: [select] };
}

const TAKEN = 'image/jpeg,image/png,application/pdf';

const pictured = (file: File): HTMLElement =>
  file.type.startsWith('image/')
    ? h('img', { src: URL.createObjectURL(file), alt: `Preview of ${file.name}`, class: 'preview' })
    : h('span', { class: 'preview paper', 'aria-hidden': 'true' }, 'PDF');

/** A chosen file as it is shown before it is sent. */
export const previewOf = (file: File): HTMLElement =>
  h(
    'div',
    { class: 'chosen' },
    pictured(file),
    h('span', {}, h('b', {}, file.name), ' ', bytesInWords(file.size)),
  );

function fileInput(field: Field, id: string): Input {
  const shown = h('div');
  const input = h('input', { type: 'file', id, name: field.name, accept: TAKEN });
  input.addEventListener('change', () => {
    for (const image of shown.querySelectorAll('img')) URL.revokeObjectURL(image.src);
    const file = input.files?.[0];
    shown.replaceChildren(...(file ? [previewOf(file)] : []));
  });
  return { body: [input, shown], focus: input, read: () => input.files?.[0], marked: [input] };
}

interface Around {
  known: unknown;
  choices: State['choices'];
  onFile?: string | undefined;
}

function inputFor(field: Field, id: string, { known, choices }: Around): Input {
  if (field.kind === 'file') return fileInput(field, id);
  if (field.kind === 'countries') return countriesInput(id, known, optionsOf(field, choices));
  if (field.kind === 'choices') return boxesInput(field, id, known, optionsOf(field, choices));
  if (field.kind === 'choice' || field.kind === 'country') {
    return selectInput(field, id, known, optionsOf(field, choices));
  }
  return textInput(field, id, known);
}

/** Leaves these choices of a list; one that is chosen and no longer offered is taken back. */
function offer(select: HTMLSelectElement, values: readonly string[]): void {
  for (const option of select.options) {
    option.hidden = option.value !== '' && !values.includes(option.value);
    option.disabled = option.hidden;
  }
  if (select.value && !values.includes(select.value)) select.value = '';
}

/** A field with its label, its hint and the place for what is wrong with it. */
export function control(field: Field, around: Around): Control {
  const id = freshId('field');
  const { body, focus, read, marked } = inputFor(field, id, around);
  const isGroup = field.kind === 'choices';
  const labelOf = ({ label, optional }: Field) => (optional ? `${label} (optional)` : label);
  const hintOf = ({ hint }: Field) => [around.onFile, hint].filter(Boolean).join(' ');
  const about = h('p', { class: 'hint', id: `${id}-hint`, hidden: !hintOf(field) }, hintOf(field));
  const wrong = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
  const head = isGroup ? h('legend', {}, labelOf(field)) : h('label', { for: id }, labelOf(field));
  const root = h(isGroup ? 'fieldset' : 'div', { class: 'field' }, head, about, wrong, ...body);
  const complain = (message: string) => {
    wrong.textContent = message;
    wrong.hidden = message === '';
    const ids = [!about.hidden && about.id, message && wrong.id].filter(Boolean).join(' ');
    root.classList.toggle('bad', message !== '');
    for (const each of marked) {
      if (message) each.setAttribute('aria-invalid', 'true');
      else each.removeAttribute('aria-invalid');
      if (ids) each.setAttribute('aria-describedby', ids);
      else each.removeAttribute('aria-describedby');
    }
  };
  const describe = (now: Field & Followed) => {
    head.textContent = labelOf(now);
    about.textContent = hintOf(now);
    about.hidden = !about.textContent;
    for (const each of marked) (each as HTMLInputElement).required = !now.optional;
    if (now.values && focus instanceof HTMLSelectElement) offer(focus, now.values);
    complain(wrong.textContent ?? '');
  };
  complain('');
  return { field, root, focus, read, complain, describe };
}
