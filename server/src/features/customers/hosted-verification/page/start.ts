// Start view: purpose of the verification, what to have ready, who receives the data, what happens next,
// and how to pause.
import { action, h } from './dom.ts';
import { formatTime } from './labels.ts';
import type { Stage, State } from './types.ts';

/** Key of this view. Other keys are those of the steps. */
export const START = 'start';

export const startTitle = ({ customer }: State): string =>
  customer.customerType === 'BUSINESS' ? 'Verify your business' : 'Verify your identity';

const section = (title: string, ...body: HTMLElement[]) => [h('h2', {}, title), ...body];

const line = (text: string) => h('p', {}, text);

export function renderStart({ root, state }: Stage, needs: string[], begin: () => void): void {
  const { platformName: name, customer, expiresAt } = state;
  const subject = customer.customerType === 'BUSINESS' ? 'which businesses' : 'who';
  root.append(
    line(`${name} is required by law to know ${subject} it provides payments to.`),
    h('div', { class: 'buttons' }, action('Start', begin, { kind: 'primary' })),
    h(
      'div',
      { class: 'notes' },
      ...(needs.length
        ? section('What you need', h('ul', {}, ...needs.map((each) => h('li', {}, each))))
        : []),
      ...section(
        'Who sees your answers',
        line(
          `${name}, and the services that check identities for it. Answers are stored encrypted.`,
        ),
      ),
      ...section(
        'What happens next',
        line(`You review your answers before you submit them. ${name} receives the result.`),
      ),
      ...section(
        'If you want to stop',
        line(
          'Close the page at any time. Each completed step is saved, and this link works until ' +
            `${formatTime(expiresAt)}.`,
        ),
      ),
    ),
  );
}
