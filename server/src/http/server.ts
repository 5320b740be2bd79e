// The HTTP server, with routes from contracts. Only the head of a request is read before the request is
// admitted. Unknown paths and wrong methods are rejected by the head alone.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Fault } from '../kernel/fault.ts';
import { uuid7 } from '../kernel/id.ts';
import type { Files } from '../runtime/files/files.ts';
import { type Admission, type AdmissionOptions, createAdmission } from './admission/admission.ts';
import { createUnroutedRecords, type RecordUnrouted } from './admission/unrouted-requests.ts';
import { createUnsupportedMethods, shadowedMethods } from './admission/unsupported-methods.ts';
import type { Operation } from './bind.ts';
import { readQuery } from './body/query.ts';
import { createUploads } from './body/upload.ts';
import { addCloseHooks } from './connection/connection-close.ts';
import { type Connections, createConnections } from './connection/connections.ts';
import { createDrain, type Drain } from './connection/drain.ts';
import { headFault, rejectUnreadable } from './connection/raw-errors.ts';
import { addSecurityHeaders, securityHeadersOf } from './connection/security-headers.ts';
import { faultBody } from './fault-body.ts';
import { sendPage, TOO_MANY_ATTEMPTS } from './pages/pages.ts';
import { faultOf, sendFault } from './replies.ts';
import { createOperationRoute, type RouteOptions } from './route.ts';

export { BASE_PATH, type Watch } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that admits its requests itself, such as the route of a contract. */
    isOperation?: boolean;
    /** A path of a contract with a method that it does not support. */
    isUnsupported?: boolean;
  }
}

interface ServerOptions extends AdmissionOptions, RouteOptions {
  files: Files;
  operations: readonly Operation[];
  /** Addresses and networks whose `X-Forwarded-For` is trusted. None by default. */
  trustedProxies?: readonly string[] | undefined;
  /** Public base URL of this server. */
  publicUrl?: string | undefined;
  /** Maximum inactivity of a connection, in milliseconds. */
  stalledMs?: number | undefined;
}

/** Health checks share the address of a load balancer with all clients. */
const UNLIMITED_PATHS = ['/healthz', '/readyz'];

/** Default maximum inactivity of a connection. A long poll has no data for up to 60 s. */
const STALLED_MS = 90_000;

const MAX_PARAMETER_LENGTH = 300;

/** The message does not repeat the URL, because a URL may contain the secret of a link or a code. */
const UNKNOWN_PATH = new Fault(
  'NOT_FOUND',
  'The path was not found. Check the URL and the API version.',
);

const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true;

/** Checks before every route, and the responses to requests without a route. */
function createGuard(
  { naming, operations, watch }: ServerOptions,
  admission: Admission,
  drain: Drain,
  connections: Connections,
  recordUnrouted: RecordUnrouted,
) {
  const unsupportedMethodOf = createUnsupportedMethods(operations, naming, MAX_PARAMETER_LENGTH);

  /** Whether the connection accepts this request. A request that is not accepted receives no response. */
  function isAccepted({ raw }: FastifyRequest, reply: FastifyReply): boolean {
    if (drain.isClosing(raw.socket)) raw.socket.destroy();
    if (connections.accept(raw, reply.raw)) return true;
    reply.hijack();
    return false;
  }

  /**
   * A violation of HTTP in the head of a request. The request is then the last request of its connection.
   */
  function headFaultOf({ raw }: FastifyRequest, reply: FastifyReply): Fault | undefined {
    const fault = headFault(raw);
    if (!fault) return undefined;
    connections.close(raw.socket);
    reply.header('connection', 'close');
    return fault;
  }

  /**
   * The fault of a rejected request without a credential, delayed if its network has many
   * rejections.
   */
  async function rejectionOf(request: FastifyRequest, fault?: Fault): Promise<Fault | undefined> {
    let rejection = fault;
    try {
      admission.checkAnonymous(request);
    } catch (error) {
      rejection = faultOf(error);
    }
    if (rejection) await admission.delayRejection(request);
    return rejection;
  }

  /** Whether a request without a credential continues to its route. If false, the error was sent. */
  async function checkWithoutCredential(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    const isUnrouted = request.is404 || request.routeOptions.config.isUnsupported === true;
    const unsupportedMethod = isUnrouted ? unsupportedMethodOf(request) : undefined;
    const notFound = isUnrouted ? UNKNOWN_PATH : undefined;
    const fault = await rejectionOf(request, unsupportedMethod?.fault ?? notFound);
    if (!fault) return true;
    if (isUnrouted) await recordUnrouted(request, reply, fault, unsupportedMethod?.path);
    if (unsupportedMethod && fault === unsupportedMethod.fault) {
      for (const contract of unsupportedMethod.contracts) {
        watch?.(contract, fault.status, faultBody(naming, fault));
      }
      reply.header('allow', unsupportedMethod.allowedMethods);
    }
    if (fault.code === 'RATE_LIMITED' && wantsPage(request)) {
      const limitedReply = reply.header('retry-after', String(fault.retryAfterS ?? 1));
      await sendPage(limitedReply, TOO_MANY_ATTEMPTS);
    } else sendFault(reply, naming, fault);
    return false;
  }

  return {
    /** Handles a request whose URL Fastify rejects before any hook runs. */
    async rejectAddress(error: unknown, request: FastifyRequest, reply: FastifyReply) {
      if (!isAccepted(request, reply)) return;
      const addressFault = faultOf(error);
      const violation = headFaultOf(request, reply);
      const fault = violation ?? (await rejectionOf(request, addressFault)) ?? addressFault;
      drain.prepare(request.raw, reply.raw, request.ip);
      sendFault(reply, naming, fault);
    },
    addTo(server: FastifyInstance): void {
      server.addHook('onRequest', (request, reply, done) => {
        if (!isAccepted(request, reply)) return;
        const fault = headFaultOf(request, reply);
        if (fault) return sendFault(reply, naming, fault);
        const { config, url = '' } = request.routeOptions;
        if (config.isOperation || UNLIMITED_PATHS.includes(url)) return done();
        void checkWithoutCredential(request, reply).then((isAdmitted) => isAdmitted && done());
      });
      server.addHook('onSend', ({ raw, ip }, reply, _payload, done) => {
        drain.prepare(raw, reply.raw, ip);
        done();
      });
    },
  };
}

/** Builds the server without listening. `inject` works immediately. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { runtime, naming, trustedProxies = [] } = options;
  const uploads = createUploads(options.files, naming.toNeutralNames, (error) =>
    options.log.error({ err: error }, 'a file could not be stored or removed'),
  );
  const admission = createAdmission(options);
  const recordUnrouted = createUnroutedRecords(options);
  const drain = createDrain();
  const connections = createConnections();
  const guard = createGuard(options, admission, drain, connections, recordUnrouted);
  const securityHeaders = securityHeadersOf(options.publicUrl);
  const server = Fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => uuid7(runtime.effects),
    routerOptions: { querystringParser: readQuery, maxParamLength: MAX_PARAMETER_LENGTH },
    requestTimeout: 60_000,
    // A client that stops reading its response is disconnected.
    connectionTimeout: options.stalledMs ?? STALLED_MS,
    // The Host header is checked with the head, so that its error has a body. Timeouts are checked
    // every second.
    http: {
      requireHostHeader: false,
      connectionsCheckingInterval: 1_000,
      IncomingMessage: connections.IncomingMessage,
    },
    forceCloseConnections: 'idle',
    // A request that arrives during the stop receives the error body of the API (connection-close.ts).
    return503OnClosing: false,
    clientErrorHandler: rejectUnreadable(naming, securityHeaders, uploads.isReceiving),
    frameworkErrors: (error, request, reply) => void guard.rejectAddress(error, request, reply),
  });
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.server.on(event, (...args) => server.server.emit('request', ...args));
  }
  // The size of the head bounds the number of headers. Node would hide headers after the first 2,000,
  // including lengths.
  server.server.maxHeadersCount = 0;
  server.removeAllContentTypeParsers();
  // The route reads the body after admission.
  server.addContentTypeParser('*', (_request, body, done) => done(null, body));
  addSecurityHeaders(server, securityHeaders);
  addCloseHooks(server);
  guard.addTo(server);
  for (const operation of options.operations) {
    createOperationRoute(server, options, admission, uploads, operation);
  }
  // The guard rejects these requests before the handler.
  for (const { url, methods } of shadowedMethods(options.operations, naming)) {
    server.route({
      url,
      method: methods,
      config: { isUnsupported: true },
      handler: () => undefined,
    });
  }
  server.setNotFoundHandler((_request, reply) => {
    sendFault(reply, naming, UNKNOWN_PATH);
  });
  server.setErrorHandler((error, request, reply) => {
    const fault = faultOf(error);
    // The template of the route is logged, because the URL may contain the secret of a link.
    const url = request.routeOptions.url;
    if (fault.status === 500) options.log.error({ err: error, url }, 'request failed');
    else if (fault.cause !== undefined) options.log.warn({ err: error, url }, 'dependency failed');
    sendFault(reply, naming, fault);
  });
  return server;
}
