// A production platform that sends euro payouts to a simulated bank and receives its deposits. The
// server can crash before or after a commit. Calls of the server to the bank can time out.
import type { HttpReply, HttpRequest } from '../../../src/kernel/effects.ts';
import { findInternalAccount, ok, quoteBody } from '../../kit/app/fixtures.ts';
import { startProduction } from '../../kit/app/production.ts';
import { operatorClient } from '../../kit/operator/client.ts';
import { startAdapter } from '../../kit/providers/adapter.ts';

export const BANK = 'simulated-bank';
/**
 * The clock stops for due work every 30 minutes, because jobs that wait for an unavailable bank are
 * due twice a minute.
 */
const WORK_INTERVAL_MS = 30 * 60_000;

/**
 * `lateReply`: the bank executes the call and replies after the timeout. `lateRequest`: the bank
 * receives the call after the timeout.
 */
type Timeout = 'lateReply' | 'lateRequest';

export interface Faults {
  /**
   * The failure of the next commit. `before` stores no row. `after` stores the rows, and the server
   * receives no confirmation.
   */
  crash: 'before' | 'after' | undefined;
  /** Decides whether a call times out. */
  timeoutOf(): Timeout | undefined;
}

const timeoutError = () =>
  Object.assign(new Error('no response within 15000 ms'), { code: 'ETIMEDOUT' });

const TRANSFERS = { kinds: ['payout'], rails: ['SEPA', 'SEPA_INSTANT'], currencies: ['EUR'] };
const CAPABILITIES = { protocol: '1', transfers: [TRANSFERS], cancel: false, statements: true };

type Service = Awaited<ReturnType<typeof startProduction>>;
type App = Service['app'];

function failCommits({ runtime }: App, faults: Faults): void {
  const { committer } = runtime;
  runtime.committer = {
    async commit(set) {
      const { crash } = faults;
      if (crash === undefined) return committer.commit(set);
      faults.crash = undefined;
      if (crash === 'after') {
        const outcome = await committer.commit(set);
        if (!outcome.ok) return outcome;
      }
      throw Object.assign(new Error('the process has crashed'), { code: 'OUTCOME_UNKNOWN' });
    },
  };
}

/**
 * Makes calls to the bank time out. Returns the delayed calls that the bank has not received yet.
 */
function failCalls({ effects }: App, url: string, faults: Faults) {
  const { http } = effects;
  const delayedCalls: (() => Promise<HttpReply>)[] = [];
  effects.http = async (request: HttpRequest) => {
    const timeout = request.url.startsWith(url) ? faults.timeoutOf() : undefined;
    if (timeout === undefined) return http(request);
    if (timeout === 'lateRequest') delayedCalls.push(() => http(request));
    else await http(request).catch(() => undefined);
    throw timeoutError();
  };
  return delayedCalls;
}

export async function openInstallation(seed: string) {
  const service = await startProduction({ seed });
  const { app, callOptions } = service;
  const client = operatorClient(app);
  const secret = await client.secretOf({ days: 3_650 });
  const adapter = await startAdapter(app);
  const faults: Faults = { crash: undefined, timeoutOf: () => undefined };

  let requestCount = 0;
  /** Calls the operator API. The client repeats a request after a crash of its server. */
  async function write(method: string, path: string, body?: object) {
    requestCount += 1;
    const headers = method === 'GET' ? {} : { 'idempotency-key': `request-${requestCount}` };
    const request = { headers, secret, ...(body !== undefined && { body }) };
    const firstReply = await client.call(method, path, request);
    if (firstReply.status < 300) return firstReply.body;
    const hasCrashed = firstReply.status === 500;
    const reply = hasCrashed ? await client.call(method, path, request) : firstReply;
    // The new process reads the providers.
    if (hasCrashed) await (await app.providers()).refresh();
    // 409: the request was executed before the crash.
    if (reply.status < 300 || (hasCrashed && reply.status === 409)) return reply.body;
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }

  const provider = await write('POST', '/providers', {
    ...{ providerId: BANK, environment: 'production', url: adapter.url },
    ...{ publicKeyPem: adapter.publicKeyPem, privateAddressAllowed: true },
  });
  adapter.accept(provider.ownKeys);
  adapter.replies['/capabilities'] = () => ({ body: CAPABILITIES });
  await write('POST', `/providers/${BANK}/check`);
  const route = { providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' };
  await write('POST', '/provider-routes', route);
  const payer = await service.createPayer('10000000.00');
  const payeeId = await service.createPayee(payer.person.id);
  const { id: account } = await findInternalAccount(app, payer.person.id, 'EUR', callOptions);
  failCommits(app, faults);
  const delayedCalls = failCalls(app, adapter.url, faults);

  return {
    ...{ service, app, adapter, faults, delayedCalls, write },
    /** Account that receives the deposits. */
    account: account as string,
    read: (path: string) => write('GET', path),
    /**
     * Executes a payment in EUR and returns its ID. The client repeats a request after a crash of
     * its server.
     */
    async pay(amount: number): Promise<string> {
      const callRepeatedly = async (...input: Parameters<typeof app.call>) => {
        const reply = await app.call(...input);
        return reply.status === 500 ? app.call(...input) : reply;
      };
      const body = quoteBody(payer.account, payeeId, amount);
      const quote = ok(await callRepeatedly('POST', '/quotes', body, callOptions), 201);
      const url = `/quotes/${quote.id}/execute`;
      const headers = { 'idempotency-key': quote.id };
      ok(await callRepeatedly('POST', url, undefined, { ...callOptions, headers }), 200);
      await app.settle();
      return quote.transactionId;
    },
    /** Advances the clock. Due work starts up to 30 minutes late, as on a busy server. */
    advance: (ms: number) => app.advance(ms, WORK_INTERVAL_MS),
    /** Balance of the account that receives the deposits. */
    async balance(): Promise<number> {
      const path = `/internal-accounts/${account}`;
      return ok(await app.call('GET', path, undefined, callOptions), 200).balance.amount;
    },
    async close() {
      faults.crash = undefined;
      faults.timeoutOf = () => undefined;
      await adapter.close();
      await service.close();
    },
  };
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>;
