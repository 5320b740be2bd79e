// Endpoint for messages of providers: `POST /connectors/{providerId}`. The body is read as text, because
// the signature covers its digest. Each provider has a separate rate limit, so that it cannot delay other
// providers or the payments of platforms.

import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Naming } from '../../catalog/naming.ts';
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { createMeter } from '../admission/bucket.ts';
import { type Limiter, networkOf } from '../admission/rate-limit.ts';
import type { Slots } from '../admission/slots.ts';
import { parseJson, readBody, tooLargeFault } from '../body/body.ts';
import { faultOf, sendFault } from '../replies.ts';

const MAX_BYTES = 262_144;
/** Messages of one provider per second and process. */
const MESSAGES_PER_S = 500;
const BURST = 2_000;

interface ReceivedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface ProviderMessageOptions {
  naming: Naming;
  limiter: Limiter | undefined;
  slots: Pick<Slots, 'prioritizeAuthorizations'>;
  now(): Time;
  /** Public base URL of this server, which signatures cover. Defaults to the host of the request. */
  publicUrl: string | undefined;
  /** Returns the function that processes the message. Throws NOT_FOUND and UNAUTHORIZED. */
  authenticate(
    providerId: string,
    request: ReceivedRequest,
  ): Promise<(json: unknown) => Promise<object>>;
  /** Logs an unexpected error. Faults are excluded. */
  logError(error: unknown): void;
}

/** Header values as strings. The values of a repeated header are joined. */
const headersOf = ({ raw }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(raw.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );

const isAuthorization = (json: unknown): boolean =>
  (json as { type?: unknown } | null)?.type === 'card.authorization';

async function bodyOf(request: FastifyRequest, limiter: Limiter | undefined): Promise<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > MAX_BYTES) throw tooLargeFault(MAX_BYTES);
  const key = networkOf(request.ip);
  return readBody(request.raw as Readable, MAX_BYTES, (bytes) => limiter?.takeBytes(key, bytes));
}

/** Adds the endpoint, outside the versioned base path. */
export function addProviderMessages(
  server: FastifyInstance,
  options: ProviderMessageOptions,
): void {
  const { naming, limiter, slots, now, publicUrl } = options;
  const messageMeter = createMeter(MESSAGES_PER_S, BURST, now);

  function checkProviderRate(providerId: string): void {
    const bucket = messageMeter.bucketOf(providerId);
    if (bucket.tokens < 1) {
      const reason =
        'The provider sent too many messages. Wait a second, then send the message again.';
      throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 1 });
    }
    bucket.tokens -= 1;
  }

  async function receive(request: FastifyRequest, reply: FastifyReply) {
    const { providerId } = request.params as { providerId: string };
    limiter?.checkAddress(request.ip, () => false);
    const bytes = await bodyOf(request, limiter);
    const body = bytes.toString();
    const url = (publicUrl ?? `http://${request.headers.host}`) + request.url;
    const receivedRequest = { method: 'POST', url, headers: headersOf(request), body };
    const apply = await options
      .authenticate(providerId, receivedRequest)
      .catch((error: unknown) => {
        limiter?.countRejection(request.ip);
        throw error;
      });
    checkProviderRate(providerId);
    const { json } = parseJson(bytes, MAX_BYTES);
    if (isAuthorization(json)) slots.prioritizeAuthorizations();
    const result = await apply(json);
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(result));
  }

  server.post('/connectors/:providerId', {
    config: { isOperation: true },
    handler: async (request, reply) => {
      try {
        return await receive(request, reply);
      } catch (error) {
        const fault = faultOf(error);
        if (fault !== error || fault.cause !== undefined) options.logError(error);
        sendFault(reply, naming, fault);
        return reply;
      }
    },
  });
}
