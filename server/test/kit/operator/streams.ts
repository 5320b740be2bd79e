// A client that follows changes of the operator API over HTTP.
import type { AddressInfo } from 'node:net';
import { OPERATOR_BASE_PATH } from '../../../src/http/route.ts';
import type { TestApp } from '../app/harness.ts';

interface StreamEvent {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
  data: any;
}

function eventOf(block: string): StreamEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
    fields.set(name, value);
  }
  const event = fields.get('event');
  if (event === undefined) return undefined;
  return { event, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? 'null') };
}

const MAX_MS = 10_000;

/**
 * Opens a stream of a listening server. Events are collected until the stream ends or is closed.
 */
export async function openStream(
  app: Pick<TestApp, 'server'>,
  headers: Record<string, string>,
  query = '',
) {
  const { port } = app.server.server.address() as AddressInfo;
  const controller = new AbortController();
  const reply = await fetch(`http://127.0.0.1:${port}${OPERATOR_BASE_PATH}/stream${query}`, {
    headers,
    signal: controller.signal,
  });
  const events: StreamEvent[] = [];
  let text = '';
  let isOpen = true;

  async function collect(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of reply.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap((block) => eventOf(block) ?? []));
    }
  }
  const collection = collect().catch(() => undefined);
  void collection.then(() => {
    isOpen = false;
  });

  return {
    status: reply.status,
    headers: reply.headers,
    events,
    ended: collection,
    isOpen: () => isOpen,
    data: () => events.filter(({ event }) => event === 'change').map(({ data }) => data),
    /** The first event that meets the condition, as soon as it arrives. */
    async waitFor(isExpected: (event: StreamEvent) => boolean): Promise<StreamEvent> {
      const startedAt = performance.now();
      for (;;) {
        const event = events.find(isExpected);
        if (event) return event;
        if (performance.now() - startedAt > MAX_MS) {
          throw new Error(
            `no expected event after ${MAX_MS} ms. Received: ${JSON.stringify(events)}`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async close(): Promise<void> {
      controller.abort();
      await collection;
    },
  };
}

export type OpenStream = Awaited<ReturnType<typeof openStream>>;
