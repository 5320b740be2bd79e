// Text messages by a service of the operator, or an adapter in front of one: each is posted as
// JSON, and the status is the result. The message id is the same in repetitions.
import type { Effects } from '../../kernel/effects.ts';
import type { SmsPort } from '../ports/index.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
/** Temporary rejections. An error of our credentials may be fixed. */
const NOT_NOW = [401, 403, 408, 425, 429];

export function smsBridge(effects: Effects, url: string): SmsPort {
  return {
    async send({ id, to, text }) {
      const { status } = await effects.http({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id, to, text }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        // The operator chose the address; it may be in the operator's own network.
        publicOnly: false,
      });
      if (status >= 200 && status < 300) return 'sent';
      if (status >= 400 && status < 500 && !NOT_NOW.includes(status)) return 'rejected';
      throw new Error(`the service for text messages answered ${status}`);
    },
  };
}
