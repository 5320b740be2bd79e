// Creates elements. External values are set as text or properties, so that they cannot inject
// markup.

type Child = Node | string | null | undefined | false;

type Attributes = Record<
  string,
  string | number | boolean | null | undefined | ((e: Event) => void)
>;

/** Creates an element. Attributes `on…` are listeners. `true` sets an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A button with an action. Further clicks have no effect while the action runs. */
export function action(
  text: string,
  run: () => Promise<void> | void,
  { kind = 'plain', label }: { kind?: string; label?: string } = {},
): HTMLButtonElement {
  const button = h('button', { type: 'button', class: kind, 'aria-label': label }, text);
  button.addEventListener('click', () => void whileBusy(button, run));
  return button;
}

let counter = 0;

export const freshId = (prefix: string): string => `${prefix}-${++counter}`;

/** Marks the button as busy and ignores clicks until `work` completes. */
export async function whileBusy(button: HTMLButtonElement, work: () => Promise<void> | void) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  try {
    await work();
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
