// Entry point of the verification page: shows the views in order until no data is missing, then the
// review. The server stores all answers, so the page can be closed and reopened while its link is
// valid. The step count covers all required and stored data at the start. It can only increase.
import { readState } from './api.ts';
import { documentsStep, needsDocuments, proofsOf, type RequiredProof } from './documents.ts';
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
  /** Whether the step has answers to view or change. */
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
const liveRegion = h('p', { class: 'unseen', role: 'status' });
const main = h('main', {}, backLink, stepText, bar, heading, screen);

let state: State;
let proofs: RequiredProof[] = [];
let countedKeys: string[] = [];
let isFinished = false;

const announce = (message: string) => {
  liveRegion.textContent = message;
};

function showProgress(key?: string): void {
  const index = key === undefined ? -1 : countedKeys.indexOf(key);
  stepText.hidden = bar.hidden = index < 0;
  stepText.textContent = index < 0 ? '' : `Step ${index + 1} of ${countedKeys.length}`;
  bar.replaceChildren(
    ...countedKeys.map((_, position) => h('span', { class: position <= index ? 'past' : '' })),
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
  const details = requestId ? [h('p', { class: 'hint' }, `Request ID: ${requestId}`)] : [];
  const buttons = h('div', { class: 'buttons' }, retryButton);
  screen.replaceChildren(h('p', {}, reason), ...details, buttons);
  heading.focus();
}

async function reload(): Promise<State> {
  const reply = await readState();
  if (!reply.rejected) {
    state = reply.body;
    proofs = proofsOf(state, proofs);
    return state;
  }
  // The reload shows the page for links that are no longer valid.
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
    isAnswered: ({ owners: currentOwners }) => currentOwners.length > 0,
  };
  return [
    ...fieldsStepsOf(state).map((definition) => ({
      step: fieldsStep(definition),
      needs: definition.needs,
      isNeeded: (currentState: State) => needsFields(currentState, definition),
      isAnswered: (currentState: State) => knownFields(currentState, definition.fields).length > 0,
    })),
    ...(isBusiness ? [owners] : []),
    {
      step: documentsStep(() => proofs),
      needs: 'Photos or scans of documents: JPEG, PNG or PDF',
      isNeeded: needsDocuments,
      isAnswered: ({ documents }: State) => documents.length > 0,
    },
    { step: reviewStep(finish), isNeeded: () => true, isAnswered: () => true },
  ];
}

/** Keys of the steps with missing data or stored answers. */
const visibleViewKeys = (): string[] =>
  planSteps()
    .filter((each) => each.isNeeded(state) || each.isAnswered(state))
    .map(({ step }) => step.key);

/** Adds the steps with missing data or stored answers to the counted steps, in order. */
function updateCountedKeys(): void {
  countedKeys = visibleViewKeys().concat(countedKeys);
  const order = planSteps().map(({ step }) => step.key);
  countedKeys = order.filter((key) => countedKeys.includes(key));
}

/** View before a counted step: a previous step, or the start view. Unneeded steps are skipped. */
function previousViewOf(index: number): string {
  const viewKeys = visibleViewKeys();
  const earlierKeys = countedKeys.slice(0, Math.max(index, 0));
  return earlierKeys.findLast((key) => viewKeys.includes(key)) ?? START;
}

function renderView(key: string): void {
  screen.replaceChildren();
  if (key === START) {
    const neededSteps = planSteps().filter((each) => each.isNeeded(state) && each.needs);
    renderStart(
      stage,
      neededSteps.map((each) => each.needs as string),
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
    history.pushState({ key, counted: countedKeys } satisfies HistoryState, '');
    renderView(key);
  },
  async next() {
    await reload();
    showNextStep();
  },
};

function showNextStep(): void {
  updateCountedKeys();
  const firstOpenStep = planSteps().find(({ isNeeded }) => isNeeded(state));
  stage.go((firstOpenStep as PlannedStep).step.key);
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
  const summary = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title, list);
  screen.prepend(summary);
  summary.focus();
}

/**
 * Restores the counted steps. Returns the key of the last view in this tab, or undefined if the
 * view cannot be restored.
 */
function restoreState(): string | undefined {
  const previousState = history.state as HistoryState | null;
  if (!previousState) return undefined;
  countedKeys = previousState.counted;
  updateCountedKeys();
  return previousState.key === START || countedKeys.includes(previousState.key)
    ? previousState.key
    : undefined;
}

async function start(): Promise<void> {
  document.querySelector('noscript')?.remove();
  document.body.append(main, liveRegion);
  await reload();
  document.body.append(h('footer', {}, h('p', {}, 'This link is personal. Do not forward it.')));
  if (state.status === 'APPROVED' || state.status === 'REJECTED') {
    return show(showNoAction(screen, state.status, state));
  }
  if (state.status === 'PENDING' && state.gaps.length === 0) {
    return show(showNoAction(screen, 'PENDING', state));
  }
  addEventListener('popstate', ({ state: restoredState }: PopStateEvent) => {
    if (restoredState && !isFinished) renderView((restoredState as HistoryState).key);
  });
  const restoredKey = restoreState();
  updateCountedKeys();
  if (state.findings.length > 0) {
    showNextStep();
    return showFindings(state.findings);
  }
  const key = restoredKey ?? START;
  history.replaceState({ key, counted: countedKeys } satisfies HistoryState, '');
  renderView(key);
}

start().catch(() => undefined);
