// The verification page: asks the server what is missing, and shows one screen after the other until
// nothing is, then sends it. All that is known lives on the server; the page may be closed and opened again
// at any moment while its link is good.
import { readState } from './api.ts';
import { type Need, needsOf, papersStep, wantsPapers } from './documents.ts';
import { action, h } from './dom.ts';
import { ownersStep, wantsOwners } from './owners.ts';
import { reviewStep, showEnding, showNoAction } from './review.ts';
import { fieldsStep, fieldsStepsOf, wantsFields } from './steps.ts';
import type { Gap, Outcome, Stage, State, Step } from './types.ts';

interface Planned {
  step: Step;
  isWanted(state: State): boolean;
}

const heading = h('h1', { tabindex: '-1' }, 'One moment …');
const place = h('p', { class: 'step' });
const screen = h('div', { class: 'screen' });
const live = h('p', { class: 'unseen', role: 'status' });
const main = h('main', {}, place, heading, screen);
const origin = h('p', { class: 'who' });
const test = h('p', { class: 'test', hidden: true }, 'Test environment: nothing here is real.');

let state: State;
let needs: Need[] = [];
/** The screens that were needed when the page was opened, for counting. */
let counted: string[] = [];

const announce = (words: string) => {
  live.textContent = words;
};

function show(title: string, where = ''): void {
  heading.textContent = title;
  document.title = `${title} – ${state.platformName}`;
  place.textContent = where;
  place.hidden = where === '';
  announce('');
  window.scrollTo(0, 0);
  // What stands on the screen may have claimed the focus for a complaint.
  if (!screen.contains(document.activeElement)) heading.focus({ preventScroll: true });
}

function showTrouble(title: string, words: string): void {
  heading.textContent = title;
  document.title = title;
  place.hidden = true;
  const again = action('Try again', () => location.reload(), { kind: 'primary' });
  screen.replaceChildren(h('p', {}, words), h('div', { class: 'buttons' }, again));
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
  showTrouble('This did not work', answer.reason);
  throw new Error(answer.code);
}

function plan(): Planned[] {
  const isFirm = state.customer.customerType === 'BUSINESS';
  return [
    ...fieldsStepsOf(state).map((of) => ({
      step: fieldsStep(of),
      isWanted: (now: State) => wantsFields(now, of),
    })),
    ...(isFirm ? [{ step: ownersStep(), isWanted: wantsOwners }] : []),
    { step: papersStep(() => needs), isWanted: wantsPapers },
    { step: reviewStep(finish), isWanted: () => true },
  ];
}

const stage: Stage = {
  get state() {
    return state;
  },
  root: screen,
  reload,
  announce,
  go(key) {
    const steps = plan();
    const { step } = steps.find((each) => each.step.key === key) ?? (steps.at(-1) as Planned);
    const at = counted.indexOf(key);
    screen.replaceChildren();
    step.render(stage);
    show(step.title, at < 0 ? '' : `Step ${at + 1} of ${counted.length}`);
  },
  async next() {
    await reload();
    goOn();
  },
};

const wanted = () =>
  plan()
    .filter(({ isWanted }) => isWanted(state))
    .map(({ step }) => step.key);

function goOn(): void {
  const open = wanted();
  if (open.some((key) => !counted.includes(key))) {
    counted = plan()
      .map(({ step }) => step.key)
      .filter((key) => counted.includes(key) || open.includes(key));
  }
  stage.go(open[0] as string);
}

async function finish({ verificationStatus, errors, redirectUri }: Outcome): Promise<void> {
  if (verificationStatus !== 'RESOLVE_ERRORS') {
    screen.replaceChildren();
    const status = verificationStatus as 'PENDING_MANUAL_REVIEW';
    return show(showEnding(screen, status, state, redirectUri));
  }
  await reload();
  counted = [];
  goOn();
  tellOf(errors);
}

/** Says above the screen what stands in the way. */
function tellOf(gaps: readonly Gap[]): void {
  const list = h('ul', {}, ...gaps.map((gap) => h('li', {}, gap.reason)));
  const title = h('h2', {}, 'Something more is needed');
  const box = h('div', { class: 'summary', role: 'alert', tabindex: '-1' }, title, list);
  screen.prepend(box);
  box.focus();
}

async function start(): Promise<void> {
  document.body.replaceChildren(
    h('header', {}, h('div', {}, origin, test)),
    main,
    live,
    h(
      'footer',
      {},
      h('p', {}, 'What you enter goes to this service alone and is stored encrypted.'),
    ),
  );
  await reload();
  origin.textContent = state.platformName;
  test.hidden = !state.isTest;
  if (state.status === 'APPROVED' || state.status === 'REJECTED') {
    return show(showNoAction(screen, state.status, state));
  }
  if (state.status === 'PENDING' && state.gaps.length === 0) {
    return show(showEnding(screen, 'PENDING_MANUAL_REVIEW', state));
  }
  goOn();
  if (state.findings.length > 0) tellOf(state.findings);
}

start().catch(() => undefined);
