// Entry point of the verification page: shows one view after the other until no data is missing, then
// submits. The server stores all answers, so the page can be closed and reopened while its link is valid.
// The step count covers all required and stored data at the start; it can grow and never shrinks.
import { readState } from './api.ts';
import { documentsStep, type Need, needsDocuments, needsOf } from './documents.ts';
import { action, h } from './dom.ts';
import { needsOwners, ownersStep } from './owners.ts';
import { knownFields, reviewStep, showNoAction, showResult } from './review.ts';
import { renderStart, START, startTitle } from './start.ts';
import { fieldsStep, fieldsStepsOf, needsFields } from './steps.ts';
import type { Gap, Outcome, Stage, State, Step } from './types.ts';

interface PlannedStep {
  step: Step;
  /** Documents and data that the applicant needs for this step, shown on the start view. */
  needs?: string;
  isNeeded(state: State): boolean;
  /** Whether it has answers to view or change. */
  isAnswered(state: State): boolean;
}

/** Stored in the browser history, so that the back button and a reload restore the view. */
interface HistoryState {
  key: string;
  counted: string[];
}

const heading = h('h1', { tabindex: '-1', class: 'waiting' }, 'Loading …');
const stepText = h('p', { class: 'step' });
const bar = h('div', { class: 'bar', 'aria-hidden': 'true' });
const backLink = h('p', { class: 'back', hidden: true });
const screen = h(
  'div',
  { class: 'screen' },
  ...[1, 2, 3].map(() => h('div', { class: 'skeleton', 'aria-hidden': 'true' })),
);
const live = h('p', { class: 'unseen', role: 'status' });
const main = h('main', {}, backLink, stepText, bar, heading, screen);

let state: State;
let needs: Need[] = [];
let counted: string[] = [];
let isFinished = false;

const announce = (message: string) => {
  live.textContent = message;
};

function showProgress(key?: string): void {
  const index = key === undefined ? -1 : counted.indexOf(key);
  stepText.hidden = bar.hidden = index < 0;
  stepText.textContent = index < 0 ? '' : `Step ${index + 1} of ${counted.length}`;
  bar.replaceChildren(
    ...counted.map((_, position) => h('span', { class: position <= index ? 'past' : '' })),
  );
  const button = action('Back', () => stage.go(previousViewOf(index)), { kind: 'link' });
  backLink.hidden = index < 0;
  backLink.replaceChildren(button);
}

function show(title: string, key?: string): void {
  heading.className = '';
  heading.textContent = title;
  document.title = `${title} – ${state.platformName}`;
  showProgress(key);
  announce('');
  window.scrollTo(0, 0);
  // An error in the view may already have the focus.
  if (!screen.contains(document.activeElement)) heading.focus({ preventScroll: true });
}

function showLoadError(title: string, reason: string, requestId?: string): void {
  heading.className = '';
  heading.textContent = title;
  document.title = title;
  showProgress();
  const retryButton = action('Try again', () => location.reload(), { kind: 'primary' });
  const id = requestId ? [h('p', { class: 'hint' }, `Request ID: ${requestId}`)] : [];
  screen.replaceChildren(h('p', {}, reason), ...id, h('div', { class: 'buttons' }, retryButton));
  heading.focus();
}

async function reload(): Promise<State> {
  const reply = await readState();
  if (!reply.rejected) {
    state = reply.body;
    needs = needsOf(state, needs);
    return state;
  }
  // The server responds with the page for ended links.
  if (reply.status === 410) location.reload();
  showLoadError('The page could not be loaded', reply.reason, reply.requestId);
  throw new Error(reply.code);
}

function planSteps(): PlannedStep[] {
  const isBusiness = state.customer.customerType === 'BUSINESS';
  const owners: PlannedStep = {
    step: ownersStep(),
    needs: 'The names and details of the people who own or control the business',
    isNeeded: needsOwners,
    isAnswered: ({ owners: all }) => all.length > 0,
  };
  return [
    ...fieldsStepsOf(state).map((definition) => ({
      step: fieldsStep(definition),
      needs: definition.needs,
      isNeeded: (now: State) => needsFields(now, definition),
      isAnswered: (now: State) => knownFields(now, definition.fields).length > 0,
    })),
    ...(isBusiness ? [owners] : []),
    {
      step: documentsStep(() => needs),
      needs: 'Photos or scans of documents: JPEG, PNG or PDF',
      isNeeded: needsDocuments,
      isAnswered: ({ documents }: State) => documents.length > 0,
    },
    { step: reviewStep(finish), isNeeded: () => true, isAnswered: () => true },
  ];
}

/** Steps with input or answers. */
const visibleViewKeys = (): string[] =>
  planSteps()
    .filter((each) => each.isNeeded(state) || each.isAnswered(state))
    .map(({ step }) => step.key);

/** Steps with input or answers, and those that were counted before. */
function count(): void {
  counted = visibleViewKeys().concat(counted);
  const order = planSteps().map(({ step }) => step.key);
  counted = order.filter((key) => counted.includes(key));
}

/** Step before a counted one, or the start view. Steps that are not needed are skipped. */
function previousViewOf(index: number): string {
  const viewKeys = visibleViewKeys();
  const earlier = counted.slice(0, Math.max(index, 0));
  return earlier.findLast((key) => viewKeys.includes(key)) ?? START;
}

function renderView(key: string): void {
  screen.replaceChildren();
  if (key === START) {
    const needs = planSteps().filter((each) => each.isNeeded(state) && each.needs);
    renderStart(
      stage,
      needs.map((each) => each.needs as string),
      () => showNextStep(),
    );
    show(startTitle(state));
    return;
  }
  const steps = planSteps();
  const { step } = steps.find((each) => each.step.key === key) ?? (steps.at(-1) as PlannedStep);
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
    history.pushState({ key, counted } satisfies HistoryState, '');
    renderView(key);
  },
  async next() {
    await reload();
    showNextStep();
  },
};

function showNextStep(): void {
  count();
  const open = planSteps().find(({ isNeeded }) => isNeeded(state));
  stage.go((open as PlannedStep).step.key);
}

async function finish({ verificationStatus, errors, redirectUri }: Outcome): Promise<void> {
  if (verificationStatus !== 'RESOLVE_ERRORS') {
    isFinished = true;
    screen.replaceChildren();
    const status = verificationStatus as 'PENDING_MANUAL_REVIEW';
    return show(showResult(screen, status, state, redirectUri));
  }
  await reload();
  showNextStep();
  showFindings(errors);
}

/** Shows the findings of the verifier above the view. */
function showFindings(gaps: readonly Gap[]): void {
  const list = h('ul', {}, ...gaps.map((gap) => h('li', {}, gap.reason)));
  const title = h('h2', {}, 'More information is needed');
  const box = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title, list);
  screen.prepend(box);
  box.focus();
}

/** Last view in this tab; undefined at the first visit. */
function restoreState(): string | undefined {
  const previousState = history.state as HistoryState | null;
  if (!previousState) return undefined;
  counted = previousState.counted;
  count();
  return previousState.key === START || counted.includes(previousState.key)
    ? previousState.key
    : undefined;
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
    if (to && !isFinished) renderView((to as HistoryState).key);
  });
  const previousState = restoreState();
  count();
  if (state.findings.length > 0) {
    showNextStep();
    return showFindings(state.findings);
  }
  const key = previousState ?? START;
  history.replaceState({ key, counted } satisfies HistoryState, '');
  renderView(key);
}

start().catch(() => undefined);
