// The webhook catalog, generated from the contracts and the recorded examples:
// `npm test -- server/test/operations/webhook-catalog.test.ts -u` updates the page.
import { describe, expect, it } from 'vitest';
import { publishedErrors } from '../../src/document.ts';
import { webhookContracts } from '../../src/features.ts';
import { readExamples } from '../../src/http/examples.ts';
import { eventsOf } from '../../src/http/operation/events.ts';
import {
  EVENT_TYPES,
  type EventType,
  RESERVED_EVENT_TYPES,
} from '../../src/kernel/contract/event.ts';

const { webhooks } = readExamples();

const HEAD = `# Webhooks catalog

Every event that Railhead sends, with the operations that emit it in the commit of their request
and an example of its body. Events without operations are emitted by later steps: a provider's
reply, a timer, an operator. [Webhooks](concepts/webhooks.md) describes how to receive and verify
events. The page is generated from the contracts and from recorded examples.
`;

const OPERATIONS = 'http://localhost:4000/docs/operations/';

function emittersOf(type: string): string {
  const names = publishedErrors()
    .map(({ operationId }) => operationId)
    .filter((operationId) => eventsOf(operationId).some((eventType) => eventType === type))
    .sort();
  return names.length
    ? `Emitted by ${names.map((name) => `[\`${name}\`](${OPERATIONS}${name})`).join(', ')}.`
    : '';
}

function sectionOf(type: EventType): string {
  const example = webhooks.find((webhook) => webhook.type === type);
  const body = example && `\`\`\`json\n${JSON.stringify(example.body, null, 2)}\n\`\`\``;
  const note = RESERVED_EVENT_TYPES.includes(type)
    ? 'Reserved. Railhead does not send this event.'
    : '';
  return [`### ${type}`, note, emittersOf(type), body].filter(Boolean).join('\n\n');
}

const documentedTypes = webhookContracts.flatMap(({ events }) => events.map(({ type }) => type));

const renderPage = () =>
  [
    HEAD.trimEnd(),
    ...webhookContracts.flatMap(({ name, description, events }) => [
      `## ${name}`,
      description,
      ...events.map(({ type }) => sectionOf(type)),
    ]),
    '',
  ].join('\n\n');

describe('the webhook catalog', () => {
  it('has every event type except a type that no verification emits', () => {
    const types = new Set<string>(documentedTypes);
    expect(EVENT_TYPES.filter((type) => !types.has(type))).toEqual([
      'VERIFICATION.READY_FOR_VERIFICATION',
    ]);
  });

  it('has an example of each event type that is sent', () => {
    const typesWithExample = new Set(webhooks.map(({ type }) => type));
    expect(documentedTypes.filter((type) => !typesWithExample.has(type))).toEqual(
      RESERVED_EVENT_TYPES,
    );
  });

  it('equals docs/webhooks.md', async () => {
    await expect(renderPage()).toMatchFileSnapshot('../../../docs/webhooks.md');
  });
});
