// The last screens: everything once more before it is sent, and what came of it.
import { submit } from './api.ts';
import { action, h, whileBusy } from './dom.ts';
import { type Field, valueAt } from './fields.ts';
import { complainAbove } from './form.ts';
import { ownerLine, ownerName } from './owners.ts';
import { fieldsStepsOf } from './steps.ts';
import type { CheckStatus, Outcome, Stage, State, Step } from './types.ts';
import { countryName, dayInWords, wordsFor } from './words.ts';

function valueInWords(field: Field, value: unknown): string {
  const last = field.name.split('.').at(-1) ?? '';
  const one = (each: unknown) => {
    const text = String(each);
    if (field.kind === 'country' || field.kind === 'countries') return countryName(text);
    if (field.kind === 'choice' || field.kind === 'choices') return wordsFor(text, last);
    return field.kind === 'date' ? dayInWords(text) : text;
  };
  return [value].flat().map(one).join(', ');
}

const section = (title: string, change: () => void, ...body: HTMLElement[]) =>
  h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'card-head' },
      h('h2', {}, title),
      action('Change', change, { kind: 'link', label: `Change: ${title}` }),
    ),
    ...body,
  );

function listOf(entries: readonly (readonly [string, string])[]): HTMLElement {
  const rows = entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return h('dl', {}, ...rows);
}

function knownFields(state: State, fields: readonly Field[]): (readonly [string, string])[] {
  return fields.flatMap((field) => {
    if (field.name === 'identifier' && state.hasIdentifier)
      return [[field.label, 'On file']] as const;
    const value = valueAt(state.customer, field.name);
    const isEmpty = value === undefined || value === null || (value as string).length === 0;
    return isEmpty ? [] : [[field.label, valueInWords(field, value)] as const];
  });
}

function sections(stage: Stage): HTMLElement[] {
  const { state } = stage;
  const parts = fieldsStepsOf(state).flatMap(({ key, title, fields }) => {
    const entries = knownFields(state, fields);
    return entries.length ? [section(title, () => stage.go(key), listOf(entries))] : [];
  });
  if (state.owners.length) {
    const entries = state.owners.map((owner) => [ownerName(owner), ownerLine(owner)] as const);
    parts.push(section('Owners and those in control', () => stage.go('people'), listOf(entries)));
  }
  if (state.documents.length) {
    const entries = state.documents.map((paper) => {
      const kind = wordsFor(paper.documentType);
      const side = paper.side ? `, ${wordsFor(paper.side).toLowerCase()}` : '';
      return [kind + side, paper.fileName] as const;
    });
    parts.push(section('Documents', () => stage.go('papers'), listOf(entries)));
  }
  return parts;
}

export function reviewStep(done: (outcome: Outcome) => Promise<void>): Step {
  return {
    key: 'review',
    title: 'Check and send',
    render(stage) {
      const above = h('div');
      const send = h('button', { type: 'button', class: 'primary' }, 'Send');
      const sending = async () => {
        const answer = await submit();
        if (answer.refused) return complainAbove(above, [{ words: answer.reason }]);
        await done(answer.body);
      };
      send.addEventListener('click', () => void whileBusy(send, sending));
      stage.root.append(
        above,
        h('p', {}, 'Please check what is known. By sending it you confirm that it is true.'),
        ...sections(stage),
        h('div', { class: 'buttons' }, send),
      );
    },
  };
}

interface Ending {
  title: string;
  lines: string[];
}

const ENDINGS: Record<string, Ending> = {
  APPROVED: {
    title: 'You are verified',
    lines: ['Thank you. Everything is in order.'],
  },
  PENDING: {
    title: 'Thank you, we are looking at it',
    lines: [
      'You have sent everything that is needed. You will hear about it once it was reviewed.',
    ],
  },
  REJECTED: {
    title: 'The verification did not succeed',
    lines: ['It is over and cannot be repeated here. Please ask whoever sent you the link.'],
  },
};

/** What the page states when it is opened after the check is over. */
const NO_ACTION: Record<'APPROVED' | 'REJECTED', string> = {
  APPROVED: 'The verification is complete.',
  REJECTED: 'The verification is over and did not succeed. Contact the company that sent the link.',
};

export function showNoAction(
  root: HTMLElement,
  status: 'APPROVED' | 'REJECTED',
  { platformName, redirectUri }: State,
): string {
  root.append(h('p', {}, NO_ACTION[status]));
  if (redirectUri) {
    const link = h('a', { class: 'primary', href: redirectUri }, `Back to ${platformName}`);
    root.append(h('div', { class: 'buttons' }, link));
  } else {
    root.append(h('p', {}, 'You can close this page.'));
  }
  return 'No action is needed';
}

const LEAVE_MS = 6_000;

/** What came of it, and the way back where there is one. Nothing more can be done with this link. */
export function showEnding(
  root: HTMLElement,
  status: CheckStatus | 'PENDING_MANUAL_REVIEW',
  { platformName, customer }: State,
  redirectUri?: string,
): string {
  const ending = ENDINGS[status] ?? (ENDINGS.PENDING as Ending);
  const isFirm = customer.customerType === 'BUSINESS' && status === 'APPROVED';
  const title = isFirm ? 'The business is verified' : ending.title;
  root.append(...ending.lines.map((line) => h('p', {}, line)));
  if (!redirectUri) {
    root.append(h('p', {}, 'You can close this page.'));
    return title;
  }
  const leave = setTimeout(() => location.assign(redirectUri), LEAVE_MS);
  const stay = action('Stay here', () => {
    clearTimeout(leave);
    stay.remove();
  });
  root.append(
    h('p', {}, `You will be taken back to ${platformName} in a moment.`),
    h(
      'div',
      { class: 'buttons' },
      h('a', { class: 'primary', href: redirectUri }, `Back to ${platformName}`),
      stay,
    ),
  );
  return title;
}
