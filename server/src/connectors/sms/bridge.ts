// Text messages through an HTTP service of the operator. Each message is posted as JSON, and the
// status of the response is the result. Repetitions have the same message ID.
import type { Effects } from '../../kernel/effects.ts';
import type { SmsPort } from '../ports/index.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
/** Temporary rejections. 401 and 403 are temporary because the operator can fix the credentials. */
const TEMPORARY_STATUSES = [401, 403, 408, 425, 429];

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
        // The operator configured the address, which may be in a private network.
        publicOnly: false,
      });
      if (status >= 200 && status < 300) return 'sent';
      if (status >= 400 && status < 500 && !TEMPORARY_STATUSES.includes(status)) return 'rejected';
      throw new Error(`the service for text messages responded with ${status}`);
    },
  };
}
