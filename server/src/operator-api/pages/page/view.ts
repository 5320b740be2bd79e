// The frame of the pages: the heading, the content, messages, and formats of times.
import { action, h } from '../../../features/customers/hosted-verification/page/dom.ts';
import { BASE, type Rejection } from './api.ts';
import { TEXTS } from './texts.ts';

const heading = h('h1', { tabindex: '-1' });
const screen = h('div');
const liveRegion = h('p', { class: 'unseen', role: 'status' });

/** Adds the frame to the document. The heading of the document remains until the first view. */
export function openFrame(): void {
  heading.textContent = document.querySelector('h1')?.textContent ?? TEXTS.product;
  document.querySelector('main')?.replaceChildren(heading, screen, liveRegion);
}

/** Shows a view. Moves the focus to its heading, unless its content has the focus. */
export function show(title: string, ...content: (Node | false | undefined)[]): void {
  heading.textContent = title;
  document.title = `${title} – ${TEXTS.product}`;
  screen.replaceChildren(...content.filter((each) => each instanceof Node));
  liveRegion.textContent = '';
  window.scrollTo(0, 0);
  if (!screen.contains(document.activeElement)) heading.focus({ preventScroll: true });
}

/** Announces a result to screen readers. */
export const announce = (message: string): void => {
  liveRegion.textContent = message;
};

export const paragraph = (text: string, kind?: string): HTMLElement =>
  h('p', { class: kind }, text);

export const command = (text: string): HTMLElement =>
  h('p', {}, h('code', { class: 'code command' }, text));

/** Buttons in a row, or below each other where they fill the width. */
export const buttons = (...children: HTMLElement[]): HTMLElement =>
  h('div', { class: 'buttons' }, ...children);

export const backLink = (press: () => void): HTMLElement =>
  h('p', { class: 'back' }, action(TEXTS.back, press, { kind: 'link' }));

/** Navigates to a page of the operators, which replaces the current page in the history. */
export const goTo = (page: string): void => location.replace(`${BASE}/operator${page}`);

const FORMAT: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
};

/** `27 November 2026 at 10:00 UTC`, in the time zone of the browser. */
export const formatTime = (moment: string): string =>
  new Date(moment).toLocaleString('en-GB', FORMAT);

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Relative time, with the exact time on hover. */
export function timeElement(moment: string): HTMLElement {
  const now = performance.timeOrigin + performance.now();
  const seconds = (new Date(moment).getTime() - now) / 1_000;
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['minute', 60];
  const text = relativeFormat.format(Math.trunc(seconds / length), unit);
  return h('time', { datetime: moment, title: formatTime(moment) }, text);
}

const isLoopback = ['127.0.0.1', '[::1]'].includes(location.hostname);

/** The page for an address at which operators cannot sign in. `fragment` is kept in the link. */
export function showWrongAddress(reason: string, fragment = ''): void {
  const port = location.port && `:${location.port}`;
  const localUrl = `http://localhost${port}${location.pathname}`;
  const link = h(
    'a',
    { class: 'button primary', href: `${localUrl}${fragment}` },
    TEXTS.wrongAddress.openLocal(`http://localhost${port}`),
  );
  const isLocal = isLoopback && reason.includes('http://localhost');
  show(TEXTS.wrongAddress.title, paragraph(reason), isLocal && buttons(link));
}

/** Shows the error of the first request. */
export function showLoadError({ reason, requestId }: Rejection, retry: () => void): void {
  const button = action(TEXTS.retry, retry, { kind: 'primary' });
  const requestIdLine = requestId !== undefined && paragraph(TEXTS.requestId(requestId), 'hint');
  show(TEXTS.loadFailed, paragraph(reason), requestIdLine, buttons(button));
}
