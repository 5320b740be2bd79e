// Last views of the page: review of all answers before the submission, and the result.
import { submit } from './api.ts';
import { action, h, whileBusy } from './dom.ts';
import { type Field, valueAt } from './fields.ts';
import { showErrorSummary } from './form.ts';
import { countryName, formatDate, labelFor } from './labels.ts';
import { ownerLine, ownerName } from './owners.ts';
import { fieldsStepsOf } from './steps.ts';
import type { CheckStatus, Outcome, Stage, State, Step } from './types.ts';

function formatValue(field: Field, value: unknown): string {
  const fieldKey = field.name.split('.').at(-1) ?? '';
  const labelOfValue = (item: unknown) => {
    const text = String(item);
    if (field.kind === 'country' || field.kind === 'countries') return countryName(text);
    if (field.kind === 'choice' || field.kind === 'choices') return labelFor(text, fieldKey);
    return field.kind === 'date' ? formatDate(text) : text;
  };
  return [value].flat().map(labelOfValue).join(', ');
}

const renderSection = (title: string, change: () => void, ...body: HTMLElement[]) =>
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

/** Labels and values of the fields that have a value. */
export function knownFields(state: State, fields: readonly Field[]): (readonly [string, string])[] {
  return fields.flatMap((field) => {
    if (field.name === 'identifier' && state.hasIdentifier)
      return [[field.label, 'On file']] as const;
    const value = valueAt(state.customer, field.name);
    const isEmpty = value === undefined || value === null || (value as string).length === 0;
    return isEmpty ? [] : [[field.label, formatValue(field, value)] as const];
  });
}

function renderSections(stage: Stage): HTMLElement[] {
  const { state } = stage;
  const sections = fieldsStepsOf(state).flatMap(({ key, title, fields }) => {
    const entries = knownFields(state, fields);
    return entries.length ? [renderSection(title, () => stage.go(key), listOf(entries))] : [];
  });
  if (state.owners.length) {
    const entries = state.owners.map((owner) => [ownerName(owner), ownerLine(owner)] as const);
    sections.push(
      renderSection('Owners and control persons', () => stage.go('people'), listOf(entries)),
    );
  }
  if (state.documents.length) {
    const entries = state.documents.map((storedDocument) => {
      const typeLabel = labelFor(storedDocument.documentType);
      const side = storedDocument.side ? `, ${labelFor(storedDocument.side).toLowerCase()}` : '';
      return [typeLabel + side, storedDocument.fileName] as const;
    });
    sections.push(renderSection('Documents', () => stage.go('documents'), listOf(entries)));
  }
  return sections;
}

export function reviewStep(onDone: (outcome: Outcome) => Promise<void>): Step {
  return {
    key: 'review',
    title: 'Review and submit',
    render(stage) {
      const errorSummary = h('div');
      const button = h('button', { type: 'button', class: 'primary' }, 'Submit');
      const send = async () => {
        const reply = await submit();
        if (reply.rejected) return showErrorSummary(errorSummary, [{ text: reply.reason }]);
        await onDone(reply.body);
      };
      button.addEventListener('click', () => void whileBusy(button, send));
      stage.root.append(
        errorSummary,
        h('p', {}, 'Check your answers. By submitting them you confirm that they are true.'),
        ...renderSections(stage),
        h('div', { class: 'buttons' }, button),
      );
    },
  };
}

type Tone = 'good' | 'caution' | 'failed';

interface Result {
  title: string;
  tone: Tone;
  line(platformName: string): string;
}

const RESULTS: Record<string, Result> = {
  APPROVED: {
    title: 'You are verified',
    tone: 'good',
    line: (name) => `The verification is complete. ${name} has received the result.`,
  },
  PENDING: {
    title: 'Your details are being reviewed',
    tone: 'caution',
    line: (name) => `Everything that is needed was received. ${name} contacts you with the result.`,
  },
  REJECTED: {
    title: 'The verification did not succeed',
    tone: 'failed',
    line: (name) => `The result is final. If you have questions, contact ${name}.`,
  },
};

const renderOutcome = (tone: Tone, line: string) =>
  h('div', { class: `outcome ${tone}` }, h('p', {}, line));

/** Message when the page is opened and no action is required. */
const NO_ACTION: Record<'APPROVED' | 'PENDING' | 'REJECTED', [Tone, string]> = {
  APPROVED: ['good', 'The verification is complete.'],
  PENDING: ['caution', 'Everything that is needed was received and is being reviewed.'],
  REJECTED: [
    'failed',
    'The verification is complete and did not succeed. Contact the company that sent the link.',
  ],
};

export function showNoAction(
  root: HTMLElement,
  status: 'APPROVED' | 'PENDING' | 'REJECTED',
  { platformName, redirectUri }: State,
): string {
  root.append(renderOutcome(...NO_ACTION[status]));
  if (redirectUri) {
    const link = h('a', { class: 'button primary', href: redirectUri }, `Back to ${platformName}`);
    root.append(h('div', { class: 'buttons' }, link));
  } else {
    root.append(h('p', {}, 'You can close this page.'));
  }
  return 'No action is needed';
}

const REDIRECT_DELAY_MS = 6_000;

/**
 * Shows the result of a submission and the redirect, if any. Returns the title of the view. The
 * link is no longer valid.
 */
export function showResult(
  root: HTMLElement,
  status: CheckStatus | 'PENDING_MANUAL_REVIEW',
  { platformName, customer }: State,
  redirectUri?: string,
): string {
  const result = RESULTS[status] ?? (RESULTS.PENDING as Result);
  const isVerifiedBusiness = customer.customerType === 'BUSINESS' && status === 'APPROVED';
  const title = isVerifiedBusiness ? 'The business is verified' : result.title;
  root.append(renderOutcome(result.tone, result.line(platformName)));
  if (!redirectUri) {
    root.append(h('p', {}, 'You can close this page.'));
    return title;
  }
  const redirectTimer = setTimeout(() => location.assign(redirectUri), REDIRECT_DELAY_MS);
  const stayButton = action('Stay on this page', () => {
    clearTimeout(redirectTimer);
    stayButton.remove();
  });
  root.append(
    h('p', {}, `You return to ${platformName} in a few seconds.`),
    h(
      'div',
      { class: 'buttons' },
      h('a', { class: 'button primary', href: redirectUri }, `Back to ${platformName}`),
      stayButton,
    ),
  );
  return title;
}
