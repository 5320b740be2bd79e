// Forms. Each error is shown next to its field and in a summary above the form. The summary links to
// the fields and receives the focus.
import { freshId, h, whileBusy } from '../../../features/customers/hosted-verification/page/dom.ts';
import type { FieldError, Rejection } from './api.ts';
import { TEXTS } from './texts.ts';

interface FieldTexts {
  label: string;
  hint?: string;
  /** Shown if the field is empty. */
  empty: string;
  /** Shown if the value does not match the required format. */
  invalid?: string;
}

export interface Field extends FieldTexts {
  /** Name in the request. */
  name: string;
  type?: 'text' | 'email' | 'password';
  autocomplete: string;
  inputmode?: 'numeric';
  value?: string | undefined;
  maxlength?: number;
  pattern?: RegExp;
  /** Read-only for password managers, which store the value with the password. */
  isReadOnly?: boolean;
}

export type Values = Record<string, string>;

/** Error messages of fields and of the form. */
export type Problem = Pick<Rejection, 'reason' | 'errors'> & { requestId?: string | undefined };

export const problem = (reason: string): Problem => ({ reason, errors: [] });

function createControl({ name, type = 'text', hint = '', ...field }: Field) {
  const id = freshId('field');
  const { label, autocomplete, inputmode, maxlength, isReadOnly: readonly } = field;
  const input = h('input', {
    ...{ id, name, type, autocomplete, inputmode, maxlength, readonly },
    ...(autocomplete === 'off' || type !== 'text' || inputmode
      ? { autocapitalize: 'none', spellcheck: 'false' }
      : {}),
    required: !readonly,
    class: inputmode && 'digits',
  });
  input.value = field.value ?? '';
  const hintText = h('p', { class: 'hint', id: `${id}-hint`, hidden: !hint }, hint);
  const errorText = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
  const root = h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    hintText,
    errorText,
    input,
  );
  const showError = (message: string) => {
    errorText.textContent = message;
    errorText.hidden = message === '';
    root.classList.toggle('bad', message !== '');
    const ids = [hint && hintText.id, message && errorText.id].filter(Boolean).join(' ');
    for (const [attribute, value] of [
      ['aria-invalid', message && 'true'],
      ['aria-describedby', ids],
    ] as const) {
      if (value) input.setAttribute(attribute, value);
      else input.removeAttribute(attribute);
    }
  };
  showError('');
  if (type === 'password') root.append(revealBox(input));
  const read = () => {
    if (type === 'password') return input.value;
    // Some apps show codes with a space.
    return inputmode ? input.value.replace(/\s/g, '') : input.value.trim();
  };
  return { field: { name, ...field }, input, root, read, showError };
}

type Control = ReturnType<typeof createControl>;

function revealBox(input: HTMLInputElement): HTMLElement {
  const box = h('input', { type: 'checkbox' });
  box.addEventListener('change', () => {
    input.type = box.checked ? 'text' : 'password';
  });
  return h('label', { class: 'box' }, box, h('span', {}, TEXTS.fields.showPassword));
}

/** Error of a value, checked before the request is sent. Empty for a valid value. */
function checkValue({ field, read }: Control): string {
  const value = read();
  if (value === '') return field.empty;
  const { pattern, invalid = '' } = field;
  return pattern && !pattern.test(value) ? invalid : '';
}

function errorText({ label, invalid, empty }: FieldTexts, { message }: FieldError): string {
  if (message === 'is required') return empty;
  if (message.startsWith('must') && invalid) return invalid;
  return /^\p{Lu}/u.test(message) ? message : `${label} ${message}`;
}

interface Entry {
  text: string;
  target?: HTMLElement;
}

function summaryOf(entries: readonly Entry[], requestId: string | undefined): HTMLElement {
  const items = entries.map(({ text, target }) => {
    if (!target) return h('li', {}, text);
    const link = h('a', { href: `#${target.id}` }, text);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      target.focus();
    });
    return h('li', {}, link);
  });
  return h(
    'div',
    { class: 'summary', role: 'alert', tabindex: '-1' },
    h('h2', {}, TEXTS.problem),
    h('ul', {}, ...items),
    requestId && h('p', { class: 'request-id' }, TEXTS.requestId(requestId)),
  );
}

/** Container of the error summary. */
export function createSummary() {
  const root = h('div');
  return {
    root,
    clear() {
      root.replaceChildren();
      document.title = document.title.replace(TEXTS.errorPrefix, '');
    },
    show(entries: readonly Entry[], requestId?: string) {
      const box = summaryOf(entries, requestId);
      root.replaceChildren(box);
      if (!document.title.startsWith(TEXTS.errorPrefix)) {
        document.title = TEXTS.errorPrefix + document.title;
      }
      box.focus();
    },
  };
}

interface FormOptions {
  fields: readonly Field[];
  submitLabel: string;
  /** Returns the error message, or undefined if the values were accepted. */
  submit(values: Values): Promise<Problem | undefined>;
  /** Elements before the fields. */
  leadingElements?: readonly HTMLElement[];
  secondaryButtons?: readonly HTMLElement[];
}

export interface Form {
  root: HTMLElement;
  showProblem(problem: Problem): void;
  /** The values of valid fields. Shows the errors and returns undefined if a field is invalid. */
  validValues(): Values | undefined;
}

export function createForm(options: FormOptions): Form {
  const { fields, submitLabel, submit, leadingElements = [], secondaryButtons = [] } = options;
  const controls = fields.map(createControl);
  const summary = createSummary();

  function showProblem({ reason, errors, requestId }: Problem): void {
    for (const each of controls) each.showError('');
    const entries = errors.flatMap((error): Entry[] => {
      const control = controls.find(({ field }) => field.name === error.field);
      if (!control) return [];
      const text = errorText(control.field, error);
      control.showError(text);
      return [{ text, target: control.input }];
    });
    if (entries.length) summary.show(entries);
    else summary.show([{ text: reason }], requestId);
  }

  function validValues(): Values | undefined {
    const entries = controls.flatMap((each): Entry[] => {
      const text = checkValue(each);
      each.showError(text);
      return text ? [{ text, target: each.input }] : [];
    });
    if (entries.length) {
      summary.show(entries);
      return undefined;
    }
    summary.clear();
    return Object.fromEntries(controls.map(({ field, read }) => [field.name, read()]));
  }

  async function send(): Promise<void> {
    const values = validValues();
    const problem = values && (await submit(values));
    if (problem) showProblem(problem);
  }

  const button = h('button', { type: 'submit', class: 'primary' }, submitLabel);
  const form = h('form', { novalidate: true, method: 'post' });
  form.append(summary.root, ...leadingElements, ...controls.map(({ root }) => root));
  form.append(h('div', { class: 'buttons' }, button, ...secondaryButtons));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, send);
  });
  return { root: form, showProblem, validValues };
}

const { name, email, passkeyName, password, newPassword, code } = TEXTS.fields;

/** The fields of all forms. */
export const FIELDS = {
  name: { ...name, name: 'name', autocomplete: 'name', maxlength: 255 },
  email: {
    ...email,
    ...{ name: 'email', type: 'email', autocomplete: 'username', maxlength: 254 },
    pattern: /^\S+@\S+$/,
  },
  passkeyName: { ...passkeyName, name: 'passkeyName', autocomplete: 'off', maxlength: 100 },
  password: {
    ...password,
    ...{ name: 'password', type: 'password', autocomplete: 'current-password', maxlength: 128 },
  },
  newPassword: {
    ...newPassword,
    ...{ name: 'password', type: 'password', autocomplete: 'new-password', maxlength: 128 },
    pattern: /^.{12,}$/s,
  },
  code: {
    ...code,
    ...{ name: 'code', autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 12 },
    pattern: /^\d{6}$/,
  },
} as const satisfies Record<string, Field>;
