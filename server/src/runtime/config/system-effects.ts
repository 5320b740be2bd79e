// The production `Effects`: the machine's clock, its random generator and the network. Requests use
// the client of Node.js because addresses must be checked when connecting: a name is resolved once,
// every address must be allowed, and the connection uses exactly those addresses, so a different
// second response of a name server (rebinding) has no effect.
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

/** All addresses of a name. Rejects if there are none. */
type Resolve = (hostname: string) => Promise<string[]>;

interface SystemEffectsOptions {
  /** Resolver for requests that must go to public addresses. */
  resolve?: Resolve;
}

/** Sockets to one receiver, and to all, for each of the two kinds of request. */
const MAX_SOCKETS_PER_HOST = 256;
const MAX_SOCKETS = 2_048;
/** Shorter than the five seconds after which servers of Node.js close an idle connection. */
const IDLE_SOCKET_MS = 4_000;
const RESOLVE_TIMEOUT_MS = 3_000;
/**
 * Random bytes fetched in one system call: a call for each request would cost more than generating
 * the id.
 */
const POOL_BYTES = 8_192;

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Both families, queried directly: the resolver of the system has only four threads. */
async function resolvePublic(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: 2 });
  const responses = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const resolved = responses.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (resolved.length) return resolved;
  throw failure('ENOTFOUND', `${hostname} cannot be resolved`);
}

/** A lookup that returns a name's addresses only if every one of them is public. */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (first === undefined || !addresses.every(isPublicAddress)) {
          callback(failure('EADDRREFUSED', `${hostname} is not at a public address`), '', 0);
        } else if (options.all) {
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        } else callback(null, first, isIP(first));
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
  // The types of Node join the callbacks for one address and for all of them.
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
  plain: http.Agent;
  secure: https.Agent;
  /** Agents that open a new connection for each request. */
  unpooled: { plain: http.Agent; secure: https.Agent };
}

// Each network keeps its own sockets: one that was opened without an address check must never be
// used for a request whose address must be checked.
function createNetwork(lookup: LookupFunction): Network {
  const options = {
    keepAlive: true,
    maxSockets: MAX_SOCKETS_PER_HOST,
    maxTotalSockets: MAX_SOCKETS,
    timeout: IDLE_SOCKET_MS,
    lookup,
  };
  const unpooled = { ...options, keepAlive: false };
  return {
    plain: new http.Agent(options),
    secure: new https.Agent(options),
    unpooled: { plain: new http.Agent(unpooled), secure: new https.Agent(unpooled) },
  };
}

const joinValues = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );

/** Reads a response up to `maxBytes`. A longer one is truncated there and its connection closed. */
function readResponse(
  response: http.IncomingMessage,
  maxBytes: number,
  complete: (error: Error | null, body: string) => void,
): void {
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  const finish = () => complete(null, Buffer.concat(chunks).toString('utf8'));
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, remaining));
    if (chunk.length > remaining) {
      finish();
      response.destroy();
    }
    remaining -= chunk.length;
  });
  response.on('end', finish);
  response.on('error', (error) => complete(error, ''));
}

/** The server closed an idle connection just as it was reused: the request was not processed. */
const isStale = (call: http.ClientRequest, error: Error) =>
  call.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

/**
 * One exchange. A request on a reused connection that the server was just closing is sent once more
 * on a new one, as every client with persistent connections must. In all other cases nothing is
 * sent twice.
 */
function exchange(request: HttpRequest, network: Network): Promise<HttpReply> {
  const url = new URL(request.url);
  const secure = url.protocol === 'https:';
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
    const send = (first: boolean) => {
      const { method } = request;
      // Another pooled connection may be closing as well.
      const agents = first ? network : network.unpooled;
      const agent = secure ? agents.secure : agents.plain;
      let replied = false;
      const outgoing = (secure ? https : http).request(
        url,
        { method, headers, agent },
        (response) => {
          replied = true;
          readResponse(response, request.maxBytes, (error, text) => {
            const { statusCode: status = 0 } = response;
            if (error) settle(() => reject(error));
            else
              settle(() => resolve({ status, headers: joinValues(response.headers), body: text }));
          });
        },
      );
      call = outgoing;
      outgoing.on('error', (error) => {
        if (isOpen && first && !replied && isStale(outgoing, error)) send(false);
        else settle(() => reject(error));
      });
      // An unrequested upgrade ends without an error.
      outgoing.on('close', () => {
        if (replied || call !== outgoing) return;
        settle(() => reject(failure('ECONNRESET', 'closed without a response')));
      });
      outgoing.end(body);
    };
    send(true);
  });
}

const deadlineError = (ms: number) => failure('ETIMEDOUT', `no complete response within ${ms} ms`);

/** Destroys a call that takes too long to connect, between two chunks, or in total. */
function limit(call: http.ClientRequest, { timeoutMs, deadlineMs }: StreamRequest): void {
  const idle = () => void call.destroy(failure('ETIMEDOUT', `no data for ${timeoutMs} ms`));
  const connecting = setTimeout(idle, timeoutMs);
  const deadline = setTimeout(() => call.destroy(deadlineError(deadlineMs)), deadlineMs);
  call.on('socket', (socket) => {
    if (!socket.connecting) clearTimeout(connecting);
    else socket.once('connect', () => clearTimeout(connecting));
  });
  call.setTimeout(timeoutMs, idle);
  call.on('close', () => {
    clearTimeout(connecting);
    clearTimeout(deadline);
  });
}

/** One streamed exchange. Nothing is sent twice: its body may be readable only once. */
function openStream(request: StreamRequest, network: Network): Promise<StreamReply> {
  const { method, headers } = request;
  const url = new URL(request.url);
  const secure = url.protocol === 'https:';
  const agent = secure ? network.secure : network.plain;
  return new Promise((resolve, reject) => {
    const call = (secure ? https : http).request(url, { method, headers, agent }, (response) => {
      const { statusCode: status = 0 } = response;
      resolve({ status, headers: joinValues(response.headers), body: response });
    });
    limit(call, request);
    call.on('error', reject);
    call.on('close', () => reject(failure('ECONNRESET', 'closed without a response')));
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

/** Exchanges of repeatable requests. Their client is loaded with the first. */
function repeatableExchange(lookup: LookupFunction): (request: HttpRequest) => Promise<HttpReply> {
  let loaded: Promise<(request: HttpRequest) => Promise<HttpReply>> | undefined;
  return async (request) => {
    loaded ??= import('./repeatable-exchange.ts').then(({ repeatableExchanges }) =>
      repeatableExchanges({ lookup, maxSockets: MAX_SOCKETS_PER_HOST, idleMs: IDLE_SOCKET_MS }),
    );
    return (await loaded)(request);
  };
}

function pooledRandom(): (bytes: number) => Uint8Array {
  let pool = randomBytes(POOL_BYTES);
  let usedBytes = 0;
  return (bytes) => {
    if (bytes > POOL_BYTES / 8) return randomBytes(bytes);
    // An exhausted pool remains in use by the owners of its slices. A slice is never returned
    // twice.
    if (usedBytes + bytes > POOL_BYTES) {
      pool = randomBytes(POOL_BYTES);
      usedBytes = 0;
    }
    usedBytes += bytes;
    return pool.subarray(usedBytes - bytes, usedBytes);
  };
}

/**
 * The effects of a real process. Idle connections close after a few seconds and do not keep it
 * alive.
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
      // A literal address is connected to without a lookup, so it is checked here.
      const problem = request.publicOnly ? publicUrlProblem(request.url) : null;
      if (problem) throw failure('EADDRREFUSED', `the address ${problem}`);
      if (request.repeatable) return (request.publicOnly ? publicExchange : openExchange)(request);
      return exchange(request, request.publicOnly ? publicNetwork : openNetwork);
    },
    stream: (request) => openStream(request, openNetwork),
    call: callWithDeadline,
  };
}
