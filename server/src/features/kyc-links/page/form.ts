// A form made of fields: shows what is known, collects what was entered, and says at each field what is
// wrong with it, with a summary above that leads there. A field is one group of elements that knows how to
// read itself, so that the rest need not ask what kind it is.
import { type Control, control } from './controls.ts';
import { action, h, whileBusy } from './dom.ts';
import { type Field, setAt, valueAt } from './fields.ts';
import type { FieldError, Json, State } from './types.ts';

export interface Form {
  root: HTMLFormElement;
  /** Shows what is wrong and moves there; complaints about fields that are not here stand above. */
  complain(errors: FieldError[], reason?: string): void;
}

export interface FormOptions {
  fields: Field[];
  /** What is known, in the shape of the request. */
  known: Json;
  choices: State['choices'];
  /** Words beside a field that is on file and not shown. */
  onFile?: Record<string, string>;
  submitLabel: string;
  /** The entered values, all of them there that must be. */
  submit(values: Json): Promise<FieldError[] | undefined>;
  cancel?: { label: string; press(): void };
}

const lower = (label: string) => label.charAt(0).toLowerCase() + label.slice(1).replace(/\?$/, '');

function emptyMessage({ label, kind }: Field): string {
  if (label.endsWith('?')) return `Please answer: ${label}`;
  if (label.startsWith('Please')) return label;
  const verb = ['choice', 'choices', 'country', 'countries', 'file'].includes(kind)
    ? 'Choose'
    : 'Enter';
  return `${verb} the ${lower(label)}`;
}

/** What the server says of a field, for a person who knows nothing of patterns. */
function said({ label, hint }: Field, { message, constraint }: FieldError): string {
  if (message === 'is required') return `${label}: this is needed`;
  if (constraint?.pattern && message.startsWith('must match')) {
    return `${label} is not in the right form. ${hint ?? ''}`.trim();
  }
  if (constraint?.format && message.startsWith('must be a valid')) {
    return `${label} is not in the right form. ${hint ?? ''}`.trim();
  }
  const isSentence = /^\p{Lu}/u.test(message);
  return isSentence ? message : `${label} ${message}`;
}

const summaryOf = (entries: { words: string; target?: HTMLElement }[]): HTMLElement => {
  const items = entries.map(({ words, target }) => {
    if (!target) return h('li', {}, words);
    const link = h('a', { href: `#${target.id}` }, words);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      target.focus();
    });
    return h('li', {}, link);
  });
  const title = h('h2', {}, 'Please look at this again');
  const box = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title);
  box.append(h('ul', {}, ...items));
  return box;
};

/** Puts complaints above something and moves the focus there. */
export function complainAbove(
  place: HTMLElement,
  entries: { words: string; target?: HTMLElement }[],
): void {
  place.replaceChildren();
  if (!entries.length) return;
  const box = summaryOf(entries);
  place.append(box);
  box.focus();
}

/** A field as the other answers make it: those that are entered, and those that are known already. */
function fieldNow({ field }: Control, controls: readonly Control[], known: Json) {
  const read = (name: string) => {
    const other = controls.find((each) => each.field.name === name);
    return other ? other.read() : valueAt(known, name);
  };
  return { ...field, ...field.follow?.(read) };
}

function isAsked(field: Field & { hidden?: boolean }, controls: readonly Control[]): boolean {
  if (field.hidden) return false;
  if (!field.when) return true;
  const { field: name, is } = field.when;
  const other = controls.find((each) => each.field.name === name);
  return [other?.read()].flat().some((value) => is.includes(String(value)));
}

const isPartOfAddress = ({ name }: Field) => /(^|\.)address\./.test(name);

/** What was entered, null for what was emptied, and what should have been entered. */
function collect(controls: readonly Control[], { known, onFile = {} }: FormOptions) {
  const values: Json = {};
  const missing: Control[] = [];
  for (const each of controls) {
    const now = fieldNow(each, controls, known);
    if (!isAsked(now, controls)) continue;
    const value = each.read();
    if (value !== undefined) setAt(values, each.field.name, value);
    else if (now.optional) {
      // An address is replaced whole, so what is left out of it is gone.
      const was = valueAt(known, each.field.name);
      if (was !== undefined && !isPartOfAddress(each.field)) setAt(values, each.field.name, null);
    } else if (!onFile[each.field.name]) missing.push(each);
  }
  return { values, missing };
}

export function createForm(options: FormOptions): Form {
  const { fields, known, choices, onFile = {}, submitLabel, submit, cancel } = options;
  const above = h('div');
  const controls = fields.map((field) =>
    control(field, {
      known: valueAt(known, field.name),
      choices,
      onFile: onFile[field.name],
    }),
  );
  const showAsked = () => {
    for (const each of controls) {
      const now = fieldNow(each, controls, known);
      if (each.field.follow) each.describe(now);
      each.root.hidden = !isAsked(now, controls);
    }
  };

  function complain(errors: FieldError[], reason?: string): void {
    for (const each of controls) each.complain('');
    const entries = errors.map((error) => {
      const at = controls.find(({ field }) => field.name === error.field);
      if (!at) return { words: error.field ? `${error.field}: ${error.message}` : error.message };
      const words = said(fieldNow(at, controls, known), error);
      at.complain(words);
      return { words, target: at.focus };
    });
    complainAbove(above, entries.length || !reason ? entries : [{ words: reason }]);
  }

  async function send(): Promise<void> {
    const { values, missing } = collect(controls, options);
    for (const each of controls) each.complain('');
    if (missing.length) {
      for (const each of missing) each.complain(emptyMessage(each.field));
      const entries = missing.map((each) => ({
        words: emptyMessage(each.field),
        target: each.focus,
      }));
      return complainAbove(above, entries);
    }
    above.replaceChildren();
    const errors = await submit(values);
    if (errors) complain(errors);
  }

  const button = h('button', { type: 'submit', class: 'primary' }, submitLabel);
  const form = h('form', { novalidate: true }, above, ...controls.map(({ root }) => root));
  const buttons = h('div', { class: 'buttons' }, button);
  if (cancel) buttons.append(action(cancel.label, cancel.press));
  form.append(buttons);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, send);
  });
  form.addEventListener('change', showAsked);
  showAsked();
  return { root: form, complain };
}
