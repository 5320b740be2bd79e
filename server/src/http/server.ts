// The HTTP server: routes from contracts. Only the head of a request is read before it is admitted;
// unknown paths and wrong methods are rejected by the head alone.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Fault } from '../kernel/fault.ts';
import { uuid7 } from '../kernel/id.ts';
import type { Files } from '../runtime/files/files.ts';
import { type Admission, type AdmissionOptions, createAdmission } from './admission/admission.ts';
import { createUnroutedRecords, type RecordUnrouted } from './admission/unrouted-requests.ts';
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
import { bindRoute, type RouteOptions, routeOf } from './route.ts';

export { BASE_PATH, type Watch } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of a contract, which admits its requests itself. */
    isOperation?: boolean;
  }
}

interface ServerOptions extends AdmissionOptions, RouteOptions {
  files: Files;
  operations: readonly Operation[];
  /** Addresses and networks whose `X-Forwarded-For` is trusted; none by default. */
  trustedProxies?: readonly string[] | undefined;
  /** Public base URL. */
  publicUrl?: string | undefined;
  /** Maximum inactivity of a connection. */
  stalledMs?: number | undefined;
}

/** Health checks share the address of a load balancer with all clients. */
const UNLIMITED = ['/healthz', '/readyz'];

/** Longer than the longest request. */
const STALLED_MS = 90_000;

const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true;

/** Checks before every route, and the response without a route. */
function createGuard(
  { naming }: ServerOptions,
  admission: Admission,
  drain: Drain,
  connections: Connections,
  recordUnrouted: RecordUnrouted,
) {
  /** Whether the connection accepts this request; otherwise it gets no response. */
  function isAccepted({ raw }: FastifyRequest, reply: FastifyReply): boolean {
    if (drain.isClosing(raw.socket)) raw.socket.destroy();
    if (connections.admits(raw, reply.raw)) return true;
    reply.hijack();
    return false;
  }

  /** A violation of HTTP in the head of a request, which is then the last one of its connection. */
  function headFaultOf({ raw }: FastifyRequest, reply: FastifyReply): Fault | undefined {
    const fault = headFault(raw);
    if (!fault) return undefined;
    connections.close(raw.socket);
    reply.header('connection', 'close');
    return fault;
  }

  /** The fault of a rejected request without a credential, delayed if there were many. */
  async function rejectionOf(request: FastifyRequest, fault?: Fault): Promise<Fault | undefined> {
    let rejection = fault;
    try {
      admission.admitAddress(request);
    } catch (error) {
      rejection = faultOf(error);
    }
    if (rejection) await admission.delayRejection(request);
    return rejection;
  }

  /**
   * Whether a request without a credential continues to its route; otherwise its error was sent.
   */
  async function admitUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    // The URL is not repeated: it may contain the secret of a link or a code.
    const notFound = new Fault(
      'NOT_FOUND',
      'The path was not found. Check the URL and the API version.',
    );
    const fault = await rejectionOf(request, request.is404 ? notFound : undefined);
    if (!fault) return true;
    if (request.is404) await recordUnrouted(request, reply, fault);
    if (fault.code === 'RATE_LIMITED' && wantsPage(request)) {
      const limited = reply.header('retry-after', String(fault.retryAfterS ?? 1));
      await sendPage(limited, TOO_MANY_ATTEMPTS);
    } else sendFault(reply, naming, fault);
    return false;
  }

  return {
    /** Handles a request whose URL Fastify rejects before any hook runs. */
    async rejectAddress(error: unknown, request: FastifyRequest, reply: FastifyReply) {
      if (!isAccepted(request, reply)) return;
      const unreadable = faultOf(error);
      const head = headFaultOf(request, reply);
      const fault = head ?? (await rejectionOf(request, unreadable)) ?? unreadable;
      drain.prepare(request.raw, reply.raw, request.ip);
      sendFault(reply, naming, fault);
    },
    addTo(server: FastifyInstance): void {
      server.addHook('onRequest', (request, reply, done) => {
        if (!isAccepted(request, reply)) return;
        const fault = headFaultOf(request, reply);
        if (fault) return sendFault(reply, naming, fault);
        const { config, url = '' } = request.routeOptions;
        if (config.isOperation || UNLIMITED.includes(url)) return done();
        void admitUnrouted(request, reply).then((isAdmitted) => isAdmitted && done());
      });
      server.addHook('onSend', ({ raw, ip }, reply, _payload, done) => {
        drain.prepare(raw, reply.raw, ip);
        done();
      });
    },
  };
}

function rejectWrongMethods(
  server: FastifyInstance,
  options: ServerOptions,
  admission: Admission,
  recordUnrouted: RecordUnrouted,
): void {
  const { operations, naming, watch } = options;
  const methods = new Map<string, Set<string>>();
  const paths = new Map<string, string>();
  for (const { contract } of operations) {
    const route = routeOf(contract, naming);
    paths.set(route, contract.path);
    methods.set(route, (methods.get(route) ?? new Set()).add(contract.method));
  }
  const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
  for (const [route, supported] of methods) {
    const allowed = [...supported].join(', ');
    const fault = new Fault('METHOD_NOT_ALLOWED', `This path supports ${allowed} only.`);
    const reject = async (request: FastifyRequest, reply: FastifyReply) => {
      await admission.delayRejection(request);
      await recordUnrouted(request, reply, fault, paths.get(route));
      for (const { contract } of operations) {
        if (routeOf(contract, naming) === route)
          watch?.(contract, fault.status, faultBody(naming, fault));
      }
      sendFault(reply.header('allow', allowed), naming, fault);
      return reply;
    };
    server.route({
      method: METHODS.filter((each) => !supported.has(each)),
      url: route,
      // Before the body is read.
      onRequest: reject,
      handler: reject,
    });
  }
}

/** Builds the server without listening; `inject` works at once. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { runtime, naming, trustedProxies = [] } = options;
  const uploads = createUploads(options.files, naming.fromWire, (error) =>
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
    routerOptions: { querystringParser: readQuery, maxParamLength: 300 },
    requestTimeout: 60_000,
    // A client that stops reading its response is disconnected.
    connectionTimeout: options.stalledMs ?? STALLED_MS,
    // The Host header is checked with the head, so that its error has a body; timeouts are checked
    // every second.
    http: {
      requireHostHeader: false,
      connectionsCheckingInterval: 1_000,
      IncomingMessage: connections.IncomingMessage,
    },
    forceCloseConnections: 'idle',
    // A request that arrives during the stop gets the error body of the API (connection-close.ts).
    return503OnClosing: false,
    clientErrorHandler: rejectUnreadable(naming, securityHeaders, uploads.isReceiving),
    frameworkErrors: (error, request, reply) => void guard.rejectAddress(error, request, reply),
  });
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.server.on(event, (...request) => server.server.emit('request', ...request));
  }
  // The size of the head bounds their number. Node would hide headers after the first 2,000,
  // lengths included.
  server.server.maxHeadersCount = 0;
  server.removeAllContentTypeParsers();
  // Bodies are read by the route after admission.
  server.addContentTypeParser('*', (_request, body, done) => done(null, body));
  addSecurityHeaders(server, securityHeaders);
  addCloseHooks(server);
  guard.addTo(server);
  for (const operation of options.operations) {
    bindRoute(server, options, admission, uploads, operation);
  }
  rejectWrongMethods(server, options, admission, recordUnrouted);
  server.setNotFoundHandler((_request, reply) => {
    sendFault(
      reply,
      naming,
      new Fault('NOT_FOUND', 'The path was not found. Check the URL and the API version.'),
    );
  });
  server.setErrorHandler((error, request, reply) => {
    const fault = faultOf(error);
    // The route and not the URL, which may contain the secret of a link.
    const url = request.routeOptions.url;
    if (fault.status === 500) options.log.error({ err: error, url }, 'failed');
    sendFault(reply, naming, fault);
  });
  return server;
}
