// The result of a call: a promise of the data, with the complete reply and further pages on demand.

import type { CallOptions } from '../types.ts';
import type { Fields, Operation } from './request.ts';
import type { AnyReply } from './transport.ts';

export type Sender = (
  operation: Operation,
  input: Fields,
  options: CallOptions,
) => Promise<AnyReply>;

interface Page {
  readonly data?: readonly unknown[];
  readonly hasMore?: boolean;
  readonly nextCursor?: string;
  readonly after?: string;
  readonly before?: string;
}

/** Input of the next page, or undefined after the last one. */
function nextInput(input: Fields, page: Page): Fields | undefined {
  if (!page.hasMore) return undefined;
  if (page.nextCursor !== undefined) return { ...input, cursor: page.nextCursor };
  // Events have cursors in both directions.
  if (input.after !== undefined) return { ...input, after: page.after };
  return page.before === undefined ? undefined : { ...input, before: page.before };
}

export function callOf(send: Sender, operation: Operation, input: Fields, options: CallOptions) {
  const reply = send(operation, input, options);
  const call = reply.then(({ data }) => data);

  async function* pages() {
    let page = (await call) as Page;
    for (let pageInput = input; ; ) {
      yield page;
      const nextPageInput = nextInput(pageInput, page);
      if (!nextPageInput) return;
      pageInput = nextPageInput;
      page = (await send(operation, pageInput, options)).data as Page;
    }
  }

  async function* items() {
    for await (const { data = [] } of pages()) yield* data;
  }

  const extras = {
    withResponse() {
      // The returned promise rejects with the same error.
      call.catch(() => undefined);
      return reply;
    },
  };
  const list = { pages, [Symbol.asyncIterator]: items };
  return Object.assign(call, extras, operation.isList ? list : undefined);
}
