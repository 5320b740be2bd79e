// Start view: purpose of the verification, required documents, recipients of the data, next steps,
// and how to pause.
import { action, h } from './dom.ts';
import { formatTime } from './labels.ts';
import type { Stage, State } from './types.ts';

/** Key of this view. All other keys are keys of steps. */
export const START = 'start';

export const startTitle = ({ customer }: State): string =>
  customer.customerType === 'BUSINESS' ? 'Verify your business' : 'Verify your identity';

const renderSection = (title: string, ...body: HTMLElement[]) => [h('h2', {}, title), ...body];

const renderLine = (text: string) => h('p', {}, text);

export function renderStart({ root, state }: Stage, needs: string[], begin: () => void): void {
  const { platformName: name, customer, expiresAt } = state;
  const subject = customer.customerType === 'BUSINESS' ? 'which businesses' : 'who';
  root.append(
    renderLine(`${name} is required by law to know ${subject} it provides payments to.`),
    h('div', { class: 'buttons' }, action('Start', begin, { kind: 'primary' })),
    h(
      'div',
      { class: 'notes' },
      ...(needs.length
        ? renderSection('What you need', h('ul', {}, ...needs.map((each) => h('li', {}, each))))
        : []),
      ...renderSection(
        'Who sees your answers',
        renderLine(
          `${name}, and the services that check identities for it. Answers are stored encrypted.`,
        ),
      ),
      ...renderSection(
        'What happens next',
        renderLine(`You review your answers before you submit them. ${name} receives the result.`),
      ),
      ...renderSection(
        'If you want to stop',
        renderLine(
          'Close the page at any time. Each completed step is saved, and this link works until ' +
            `${formatTime(expiresAt)}.`,
        ),
      ),
    ),
  );
}
