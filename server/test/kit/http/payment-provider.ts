// A local payment provider with an HTTP interface, and the rail that uses it. Each ID is paid once,
// even if it is received repeatedly, and the reply can be withheld after the payment.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Progress, RailInstruction, RailPort } from '../../../src/connectors/ports/index.ts';
import type { Effects } from '../../../src/kernel/effects.ts';

/**
 * Behavior for sends. Each behavior pays. `silent` does not reply, and `error` replies with 500.
 */
type Behavior = 'pays' | 'silent' | 'error';

export interface PaymentProvider {
  url: string;
  behavior: Behavior;
  /** IDs of the received sends, in order. */
  readonly sends: string[];
  /** IDs of the received status requests, in order. */
  readonly checks: string[];
  /** IDs of payments, once per payment. */
  readonly paidIds: string[];
  close(): Promise<void>;
}

export async function startPaymentProvider(): Promise<PaymentProvider> {
  const server = http.createServer((request, response) => {
    const id = decodeURIComponent(request.url?.slice(1) ?? '');
    request.resume();
    const isSend = request.method === 'POST';
    (isSend ? provider.sends : provider.checks).push(id);
    if (isSend && !provider.paidIds.includes(id)) provider.paidIds.push(id);
    if (isSend && provider.behavior === 'silent') return;
    if (isSend && provider.behavior === 'error') return void response.writeHead(500).end();
    response.end(provider.paidIds.includes(id) ? 'PAID' : 'NOT_FOUND');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: PaymentProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    behavior: 'pays',
    sends: [],
    checks: [],
    paidIds: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return provider;
}

/** The rail of the provider. A failed request throws, or returns `unknown` if `returnsUnknown`. */
export function railOver(
  effects: Pick<Effects, 'http'>,
  { url }: PaymentProvider,
  { returnsUnknown = false, timeoutMs = 300 } = {},
): RailPort {
  const query = async (method: 'GET' | 'POST', { id }: RailInstruction): Promise<Progress> => {
    const limits = { timeoutMs, maxBytes: 100, publicOnly: false };
    const target = `${url}${encodeURIComponent(id)}`;
    try {
      const { status, body } = await effects.http({ url: target, method, headers: {}, ...limits });
      if (status !== 200) throw new Error(`the provider replied with ${status}`);
      if (body === 'PAID') return { state: 'settled', reference: id };
      return { state: 'failed', reason: 'QUOTE_EXECUTION_FAILED' };
    } catch (error) {
      if (returnsUnknown) return { state: 'unknown', checkAfterMs: 1_000 };
      throw error;
    }
  };
  return {
    supportsPayout: () => true,
    send: (instruction) => query('POST', instruction),
    check: (instruction) => query('GET', instruction),
    cancel: async () => 'accepted',
  };
}
