// The production `Effects`: the machine's clock, its random generator and the network. Addresses of
// `publicOnly` requests are checked when connecting. A connection resolves its name once and uses
// exactly the checked addresses. A different second response of a name server (rebinding) therefore
// has no effect.
import { randomBytes } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type {
  CallLimits,
  Effects,
  HttpReply,
  HttpRequest,
  StreamReply,
  StreamRequest,
} from '../../kernel/effects.ts';
import { isLoopbackHost, isPublicAddress, publicUrlProblem } from '../../kernel/net/endpoint.ts';

/** Returns all addresses of a name. Rejects if there are none. */
type Resolve = (hostname: string) => Promise<string[]>;

interface SystemEffectsOptions {
  /** Resolver for requests that must go to public addresses. */
  resolve?: Resolve;
}

/** Maximum sockets of one agent, to one receiver and in total. */
const MAX_SOCKETS_PER_HOST = 256;
const MAX_SOCKETS = 2_048;
/** Shorter than the five seconds after which servers of Node.js close an idle connection. */
const IDLE_SOCKET_MS = 4_000;
const RESOLVE_TIMEOUT_MS = 3_000;
/**
 * Random bytes per system call. A call for each ID would cost more than the generation of the ID.
 */
const POOL_BYTES = 8_192;

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Queries both address families directly, because the resolver of the system has only four threads. */
async function resolvePublic(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: 2 });
  const responses = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const addresses = responses.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length) return addresses;
  throw failure('ENOTFOUND', `${hostname} cannot be resolved`);
}

/** A lookup that returns the addresses of a name only if every address is public. */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const firstAddress = addresses[0];
        if (firstAddress === undefined || !addresses.every(isPublicAddress)) {
          callback(failure('EADDRREFUSED', `${hostname} is not at a public address`), '', 0);
        } else if (options.all) {
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        } else callback(null, firstAddress, isIP(firstAddress));
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}

/**
 * Names of this machine are never resolved by a name server, because its response would be
 * untrusted.
 */
const openLookup: LookupFunction = (hostname, options, callback) => {
  // The types of Node join the callbacks for one address and for all addresses.
  if (!isLoopbackHost(hostname)) systemLookup(hostname, options, callback as never);
  else if (!options.all) callback(null, '127.0.0.1', 4);
  else {
    callback(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  }
};

interface Network {
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
  /** Agents that open a new connection for each request. */
  unpooled: { httpAgent: http.Agent; httpsAgent: https.Agent };
}

// Each network has separate sockets. A socket that was opened without an address check must never be used
// for a request whose address must be checked.
function createNetwork(lookup: LookupFunction): Network {
  const options = {
    keepAlive: true,
    maxSockets: MAX_SOCKETS_PER_HOST,
    maxTotalSockets: MAX_SOCKETS,
    timeout: IDLE_SOCKET_MS,
    lookup,
  };
  const unpooledOptions = { ...options, keepAlive: false };
  return {
    httpAgent: new http.Agent(options),
    httpsAgent: new https.Agent(options),
    unpooled: {
      httpAgent: new http.Agent(unpooledOptions),
      httpsAgent: new https.Agent(unpooledOptions),
    },
  };
}

const joinValues = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );

/** Reads a response up to `maxBytes`. A longer response is truncated and its connection closed. */
function readResponse(
  response: http.IncomingMessage,
  maxBytes: number,
  complete: (error: Error | null, body: string) => void,
): void {
  const chunks: Buffer[] = [];
  let remainingBytes = maxBytes;
  const finish = () => complete(null, Buffer.concat(chunks).toString('utf8'));
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, remainingBytes));
    if (chunk.length > remainingBytes) {
      finish();
      response.destroy();
    }
    remainingBytes -= chunk.length;
  });
  response.on('end', finish);
  response.on('error', (error) => complete(error, ''));
}

/**
 * Whether the server may have closed an idle connection at its reuse, before it processed the
 * request.
 */
const isStale = (call: http.ClientRequest, error: Error) =>
  call.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

/**
 * Performs one exchange. A request on a reused connection that breaks before the response is sent
 * once more on a new connection. Any other request is sent once only.
 */
function exchange(request: HttpRequest, network: Network): Promise<HttpReply> {
  const url = new URL(request.url);
  const isSecure = url.protocol === 'https:';
  const body = request.body ?? '';
  const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    let call: http.ClientRequest;
    let isOpen = true;
    const settle = (act: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(timer);
      act();
    };
    const timer = setTimeout(() => {
      settle(() => reject(deadlineError(request.timeoutMs)));
      call.destroy();
    }, request.timeoutMs);
    const send = (isFirst: boolean) => {
      const { method } = request;
      // Another pooled connection may be closing as well.
      const agents = isFirst ? network : network.unpooled;
      const agent = isSecure ? agents.httpsAgent : agents.httpAgent;
      let hasReplied = false;
      const outgoingRequest = (isSecure ? https : http).request(
        url,
        { method, headers, agent },
        (response) => {
          hasReplied = true;
          readResponse(response, request.maxBytes, (error, text) => {
            const { statusCode: status = 0 } = response;
            if (error) settle(() => reject(error));
            else
              settle(() => resolve({ status, headers: joinValues(response.headers), body: text }));
          });
        },
      );
      call = outgoingRequest;
      outgoingRequest.on('error', (error) => {
        if (isOpen && isFirst && !hasReplied && isStale(outgoingRequest, error)) send(false);
        else settle(() => reject(error));
      });
      // An unrequested upgrade ends the connection without an error.
      outgoingRequest.on('close', () => {
        if (hasReplied || call !== outgoingRequest) return;
        settle(() => reject(failure('ECONNRESET', 'the connection was closed without a response')));
      });
      outgoingRequest.end(body);
    };
    send(true);
  });
}

const deadlineError = (ms: number) => failure('ETIMEDOUT', `no complete response within ${ms} ms`);

/** Destroys a call that exceeds the time to connect, between two chunks, or in total. */
function limit(call: http.ClientRequest, { timeoutMs, deadlineMs }: StreamRequest): void {
  const onIdle = () => void call.destroy(failure('ETIMEDOUT', `no data for ${timeoutMs} ms`));
  const connectTimer = setTimeout(onIdle, timeoutMs);
  const deadline = setTimeout(() => call.destroy(deadlineError(deadlineMs)), deadlineMs);
  call.on('socket', (socket) => {
    if (!socket.connecting) clearTimeout(connectTimer);
    else socket.once('connect', () => clearTimeout(connectTimer));
  });
  call.setTimeout(timeoutMs, onIdle);
  call.on('close', () => {
    clearTimeout(connectTimer);
    clearTimeout(deadline);
  });
}

/**
 * Performs one streamed exchange. The request is never repeated, because its body may be readable only
 * once.
 */
function openStream(request: StreamRequest, network: Network): Promise<StreamReply> {
  const { method, headers } = request;
  const url = new URL(request.url);
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? network.httpsAgent : network.httpAgent;
  return new Promise((resolve, reject) => {
    const call = (isSecure ? https : http).request(url, { method, headers, agent }, (response) => {
      const { statusCode: status = 0 } = response;
      resolve({ status, headers: joinValues(response.headers), body: response });
    });
    limit(call, request);
    call.on('error', reject);
    call.on('close', () =>
      reject(failure('ECONNRESET', 'the connection was closed without a response')),
    );
    if (request.body) pipeline(Readable.from(request.body), call).catch(reject);
    else call.end();
  });
}

/** Runs a library call with a deadline. */
function callWithDeadline<R>(
  { timeoutMs }: CallLimits,
  work: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      reject(deadlineError(timeoutMs));
      controller.abort();
    }, timeoutMs);
    work(controller.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** Exchanges of repeatable requests, whose client is loaded with the first request. */
function repeatableExchange(lookup: LookupFunction): (request: HttpRequest) => Promise<HttpReply> {
  let exchangePromise: Promise<(request: HttpRequest) => Promise<HttpReply>> | undefined;
  return async (request) => {
    exchangePromise ??= import('./repeatable-exchange.ts').then(({ repeatableExchanges }) =>
      repeatableExchanges({ lookup, maxSockets: MAX_SOCKETS_PER_HOST, idleMs: IDLE_SOCKET_MS }),
    );
    return (await exchangePromise)(request);
  };
}

function pooledRandom(): (bytes: number) => Uint8Array {
  let pool = randomBytes(POOL_BYTES);
  let usedBytes = 0;
  return (bytes) => {
    if (bytes > POOL_BYTES / 8) return randomBytes(bytes);
    // An exhausted pool remains in use by the owners of its slices. Each slice is returned once.
    if (usedBytes + bytes > POOL_BYTES) {
      pool = randomBytes(POOL_BYTES);
      usedBytes = 0;
    }
    usedBytes += bytes;
    return pool.subarray(usedBytes - bytes, usedBytes);
  };
}

/**
 * The effects of a real process. Idle connections close after a few seconds and do not keep the process
 * running.
 */
export function systemEffects(options: SystemEffectsOptions = {}): Effects {
  const checkedLookup = publicLookup(options.resolve ?? resolvePublic);
  const publicNetwork = createNetwork(checkedLookup);
  const openNetwork = createNetwork(openLookup);
  const publicExchange = repeatableExchange(checkedLookup);
  const openExchange = repeatableExchange(openLookup);
  return {
    now: () => Date.now(),
    random: pooledRandom(),
    async http(request) {
      // A connection to a literal address has no lookup, so the address is checked here.
      const problem = request.publicOnly ? publicUrlProblem(request.url) : null;
      if (problem) throw failure('EADDRREFUSED', `the address ${problem}`);
      if (request.repeatable) return (request.publicOnly ? publicExchange : openExchange)(request);
      return exchange(request, request.publicOnly ? publicNetwork : openNetwork);
    },
    stream: (request) => openStream(request, openNetwork),
    call: callWithDeadline,
  };
}
