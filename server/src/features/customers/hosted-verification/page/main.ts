// The verification page: states what is needed, shows one view after the other until nothing is missing, and
// submits. All answers are stored on the server, so the page may be closed and opened again while its link
// is valid. The number of steps is fixed by what is missing or known at first; it can grow and never shrinks.
import { readState } from './api.ts';
import { type Need, needsOf, papersStep, wantsPapers } from './documents.ts';
import { action, h } from './dom.ts';
import { ownersStep, wantsOwners } from './owners.ts';
import { knownFields, reviewStep, showEnding, showNoAction } from './review.ts';
import { renderStart, START, startTitle } from './start.ts';
import { fieldsStep, fieldsStepsOf, wantsFields } from './steps.ts';
import type { Gap, Outcome, Stage, State, Step } from './types.ts';

interface Planned {
  step: Step;
  /** What the person needs for it, for the list at the start. */
  needs?: string;
  isWanted(state: State): boolean;
  /** It has answers that can be viewed and changed. */
  isAnswered(state: State): boolean;
}

/** Kept in the browser's history, so that its back button and a reload lead to the same view. */
interface Place {
  key: string;
  counted: string[];
}

const heading = h('h1', { tabindex: '-1', class: 'waiting' }, 'Loading …');
const place = h('p', { class: 'step' });
const bar = h('div', { class: 'bar', 'aria-hidden': 'true' });
const back = h('p', { class: 'back', hidden: true });
const screen = h(
  'div',
  { class: 'screen' },
  ...[1, 2, 3].map(() => h('div', { class: 'skeleton', 'aria-hidden': 'true' })),
);
const live = h('p', { class: 'unseen', role: 'status' });
const main = h('main', {}, back, place, bar, heading, screen);

let state: State;
let needs: Need[] = [];
let counted: string[] = [];
let isOver = false;

const announce = (message: string) => {
  live.textContent = message;
};

function showPlace(key?: string): void {
  const at = key === undefined ? -1 : counted.indexOf(key);
  place.hidden = bar.hidden = at < 0;
  place.textContent = at < 0 ? '' : `Step ${at + 1} of ${counted.length}`;
  bar.replaceChildren(...counted.map((_, each) => h('span', { class: each <= at ? 'past' : '' })));
  const button = action('Back', () => stage.go(stepBefore(at)), { kind: 'link' });
  back.hidden = at < 0;
  back.replaceChildren(button);
}

function show(title: string, key?: string): void {
  heading.className = '';
  heading.textContent = title;
  document.title = `${title} – ${state.platformName}`;
  showPlace(key);
  announce('');
  window.scrollTo(0, 0);
  // A complaint on the view may have the focus already.
  if (!screen.contains(document.activeElement)) heading.focus({ preventScroll: true });
}

function showTrouble(title: string, reason: string, requestId?: string): void {
  heading.className = '';
  heading.textContent = title;
  document.title = title;
  showPlace();
  const again = action('Try again', () => location.reload(), { kind: 'primary' });
  const id = requestId ? [h('p', { class: 'hint' }, `Request id: ${requestId}`)] : [];
  screen.replaceChildren(h('p', {}, reason), ...id, h('div', { class: 'buttons' }, again));
  heading.focus();
}

async function reload(): Promise<State> {
  const answer = await readState();
  if (!answer.refused) {
    state = answer.body;
    needs = needsOf(state, needs);
    return state;
  }
  // The server shows the page for links that have ended.
  if (answer.status === 410) location.reload();
  showTrouble('The page could not be loaded', answer.reason, answer.requestId);
  throw new Error(answer.code);
}

function plan(): Planned[] {
  const isFirm = state.customer.customerType === 'BUSINESS';
  const owners: Planned = {
    step: ownersStep(),
    needs: 'The names and details of the people who own or control the business',
    isWanted: wantsOwners,
    isAnswered: ({ owners: all }) => all.length > 0,
  };
  return [
    ...fieldsStepsOf(state).map((of) => ({
      step: fieldsStep(of),
      needs: of.needs,
      isWanted: (now: State) => wantsFields(now, of),
      isAnswered: (now: State) => knownFields(now, of.fields).length > 0,
    })),
    ...(isFirm ? [owners] : []),
    {
      step: papersStep(() => needs),
      needs: 'Photos or scans of documents: JPEG, PNG or PDF',
      isWanted: wantsPapers,
      isAnswered: ({ documents }: State) => documents.length > 0,
    },
    { step: reviewStep(finish), isWanted: () => true, isAnswered: () => true },
  ];
}

/** Steps with something to enter or to view. */
const shownKeys = (): string[] =>
  plan()
    .filter((each) => each.isWanted(state) || each.isAnswered(state))
    .map(({ step }) => step.key);

/** Steps with something to enter or to view, and those that were counted before. */
function count(): void {
  counted = shownKeys().concat(counted);
  const order = plan().map(({ step }) => step.key);
  counted = order.filter((key) => counted.includes(key));
}

/** The step before a counted one, or the start. A step that is not needed is skipped in both directions. */
function stepBefore(at: number): string {
  const shown = shownKeys();
  const earlier = counted.slice(0, Math.max(at, 0));
  return earlier.findLast((key) => shown.includes(key)) ?? START;
}

function draw(key: string): void {
  screen.replaceChildren();
  if (key === START) {
    const wanted = plan().filter((each) => each.isWanted(state) && each.needs);
    renderStart(
      stage,
      wanted.map((each) => each.needs as string),
      () => goOn(),
    );
    show(startTitle(state));
    return;
  }
  const steps = plan();
  const { step } = steps.find((each) => each.step.key === key) ?? (steps.at(-1) as Planned);
  step.render(stage);
  show(step.title, step.key);
}

const stage: Stage = {
  get state() {
    return state;
  },
  root: screen,
  reload,
  announce,
  go(key) {
    history.pushState({ key, counted } satisfies Place, '');
    draw(key);
  },
  async next() {
    await reload();
    goOn();
  },
};

function goOn(): void {
  count();
  const open = plan().find(({ isWanted }) => isWanted(state));
  stage.go((open as Planned).step.key);
}

async function finish({ verificationStatus, errors, redirectUri }: Outcome): Promise<void> {
  if (verificationStatus !== 'RESOLVE_ERRORS') {
    isOver = true;
    screen.replaceChildren();
    const status = verificationStatus as 'PENDING_MANUAL_REVIEW';
    return show(showEnding(screen, status, state, redirectUri));
  }
  await reload();
  goOn();
  showFindings(errors);
}

/** States above the view what the check found. */
function showFindings(gaps: readonly Gap[]): void {
  const list = h('ul', {}, ...gaps.map((gap) => h('li', {}, gap.reason)));
  const title = h('h2', {}, 'More information is needed');
  const box = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title, list);
  screen.prepend(box);
  box.focus();
}

/** Where the person was in this tab; undefined at the first visit. */
function placeBefore(): string | undefined {
  const before = history.state as Place | null;
  if (!before) return undefined;
  counted = before.counted;
  count();
  return before.key === START || counted.includes(before.key) ? before.key : undefined;
}

async function start(): Promise<void> {
  document.querySelector('noscript')?.remove();
  document.body.append(main, live);
  await reload();
  document.body.append(h('footer', {}, h('p', {}, 'This link is personal. Do not forward it.')));
  if (state.status === 'APPROVED' || state.status === 'REJECTED') {
    return show(showNoAction(screen, state.status, state));
  }
  if (state.status === 'PENDING' && state.gaps.length === 0) {
    return show(showNoAction(screen, 'PENDING', state));
  }
  addEventListener('popstate', ({ state: to }: PopStateEvent) => {
    if (to && !isOver) draw((to as Place).key);
  });
  const before = placeBefore();
  count();
  if (state.findings.length > 0) {
    goOn();
    return showFindings(state.findings);
  }
  const key = before ?? START;
  history.replaceState({ key, counted } satisfies Place, '');
  draw(key);
}

start().catch(() => undefined);
