// The HTTP server: routes from contracts, credentials checked before anything else, every error in one
// shape. Replies are written with JSON.stringify, because compiled serializers for this many schemas cost
// seconds at start; tests check each reply against its schema instead.
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Naming } from '../catalog/naming.ts';
import { type Code, Fault, STATUS_OF } from '../kernel/fault.ts';
import { uuid7 } from '../kernel/id.ts';
import type { Contract } from '../kernel/operation.ts';
import type { Caller } from '../runtime/context.ts';
import type { Files } from '../runtime/files.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Runtime } from '../runtime/operate.ts';
import { type Operation, perform } from './bind.ts';
import { isDeeperThan } from './depth.ts';
import { faultBody } from './fault-body.ts';
import { sayGoodbye } from './goodbye.ts';
import { readQuery, refuseUnreadableQuery, splitLists } from './query.ts';
import { type Limiter, neighbourhood } from './rate-limit.ts';
import { createUploads, type FormParts, type Uploads } from './upload.ts';

/** The stamp of a wallet, as operations read it whatever the service's word is. */
const STAMP_HEADER = 'service-wallet-signature';

export const BASE_PATH = '/2025-10-13';
/** Bytes of a JSON body. */
const MAX_BODY = 1_048_576;
/** Levels of objects and lists in a body; no operation reads more than ten. */
const MAX_DEPTH = 32;

/** What tests watch: every reply that an operation gave. */
export type Watch = (contract: Contract, status: number, body: unknown) => void;

/** Whom the secret of a link stands for. */
export interface LinkBearers {
  /** Throws LINK_ENDED. */
  callerOf(secret: string): Promise<Caller>;
  /** Whether this secret was found good before. */
  isProven(secret: string): boolean;
}

/** Whom the bearer token of an agent stands for. */
export interface AgentBearers {
  /** The caller of a request from its Authorization header; throws UNAUTHORIZED. */
  callerOf(authorization: string | undefined): Promise<Caller>;
  /** Whether this header was found good before. */
  isProven(authorization: string | undefined): boolean;
}

export interface ServerOptions {
  runtime: Runtime;
  files: Files;
  operations: readonly Operation[];
  /** The caller of a request from its Authorization header; throws UNAUTHORIZED. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Whether this header was found good before: then bad ones from the same address do not matter. */
  isProven?(authorization: string | undefined): boolean;
  /** Needed where an operation is hosted. */
  bearers?: LinkBearers;
  /** Needed where an operation is for agents. */
  agents?: AgentBearers;
  /** Absent: nobody is limited. */
  limiter?: Limiter;
  /** Addresses and networks whose `X-Forwarded-For` is believed; nobody's unless said otherwise. */
  trustedProxies?: readonly string[];
  naming: Naming;
  log: Log;
  metrics: Metrics;
  watch?: Watch;
}

/** What Fastify itself refuses before a route runs, in our words. */
function faultOfFramework(error: { statusCode?: number; code?: string }): Fault | null {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Fault('INVALID_INPUT', `The body is larger than ${MAX_BODY} bytes.`);
  }
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new Fault('NOT_FOUND', 'Nothing has a name as long as that.');
  }
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) {
    return new Fault('INVALID_INPUT', 'The request cannot be read.');
  }
  return null;
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const known = faultOfFramework(error as { statusCode?: number; code?: string });
  if (known) return known;
  return new Fault('INTERNAL_ERROR', 'Something went wrong on our side.', undefined, {
    cause: error,
  });
}

const [FIRST, SECOND] = [String.raw`\\ud[89ab][0-9a-f]{2}`, String.raw`\\ud[c-f][0-9a-f]{2}`];

/** One of the two escapes of a character without the other: JSON that PostgreSQL keeps and cannot read. */
const HALF = new RegExp(
  String.raw`(?<!\\)(?:\\\\)*(?:${FIRST}(?!${SECOND})|(?<!${FIRST})${SECOND})`,
  'i',
);

function readJson(
  _request: FastifyRequest,
  bytes: Buffer,
  done: (e: Error | null, v?: unknown) => void,
) {
  // Read all the same, two different names would become one.
  if (!isUtf8(bytes)) return done(new Fault('INVALID_INPUT', 'The body is not UTF-8.'));
  const text = bytes.toString();
  if (text.trim() === '') return done(null, { raw: '', json: undefined });
  // No text in the database can hold it, raw or escaped.
  if (/\0|\\u0000/.test(text)) return done(new Fault('INVALID_INPUT', 'The body has a NUL in it.'));
  if (HALF.test(text)) {
    return done(new Fault('INVALID_INPUT', 'The body has half of a character in it.'));
  }
  if (isDeeperThan(MAX_DEPTH, text)) {
    return done(new Fault('INVALID_INPUT', `The body is nested deeper than ${MAX_DEPTH} levels.`));
  }
  try {
    done(null, { raw: text, json: JSON.parse(text) as unknown });
  } catch {
    done(new Fault('INVALID_INPUT', 'The body is not valid JSON.'));
  }
}

function send(reply: FastifyReply, status: number, body: unknown): void {
  reply.code(status);
  reply.header('X-Request-Id', reply.request.id);
  // A server that is stopping no longer listens; its last reply on a connection ends it.
  if (!reply.server.server.listening) reply.header('connection', 'close');
  if (status === 409) reply.header('x-should-retry', 'false');
  if (body === undefined || body === null) void reply.send();
  else
    void reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

const routeOf = ({ path, hosted }: Contract, naming: Naming) =>
  (hosted ? '' : BASE_PATH) + naming.path(path).replaceAll(/\{(\w+)\}/g, ':$1');

function refuseForeignEnvironment(contract: Contract, caller: Caller): void {
  if (contract.sandboxOnly && caller.environment !== 'sandbox') {
    throw new Fault('FORBIDDEN', 'Only a sandbox credential may do this.');
  }
  if (contract.permission && !caller.permissions.includes(contract.permission)) {
    throw new Fault('FORBIDDEN', `This token lacks the ${contract.permission} permission.`);
  }
}

/** A credential as it came: whether it was good before, and whom it stands for. */
interface Credential {
  isProven(): boolean;
  caller(): Promise<Caller>;
}

function credentialOf(
  options: ServerOptions,
  request: FastifyRequest,
  { hosted, forAgents }: Contract,
): Credential {
  const { bearers, agents } = options;
  if (hosted && bearers) {
    const { secret } = request.params as { secret: string };
    return { isProven: () => bearers.isProven(secret), caller: () => bearers.callerOf(secret) };
  }
  const { authorization } = request.headers;
  if (forAgents && agents) {
    return {
      isProven: () => agents.isProven(authorization),
      caller: () => agents.callerOf(authorization),
    };
  }
  return {
    isProven: () => options.isProven?.(authorization) ?? false,
    caller: () => options.authenticate(authorization),
  };
}

const REFUSED_CREDENTIAL: readonly Code[] = ['UNAUTHORIZED', 'LINK_ENDED'];

/** Who asks, when both they and their address may ask now. */
async function admitted(
  limiter: Limiter | undefined,
  credential: Credential,
  { ip }: FastifyRequest,
  reply: FastifyReply,
  costly: boolean,
): Promise<Caller> {
  limiter?.checkAddress(ip, credential.isProven);
  const caller = await credential.caller().catch((error: unknown) => {
    if (error instanceof Fault && REFUSED_CREDENTIAL.includes(error.code)) limiter?.blame(ip);
    throw error;
  });
  limiter?.admit(reply, caller.agentId ?? caller.tokenId ?? caller.platformId, costly);
  return caller;
}

const nobodyAt = (ip: string): Caller => ({
  platformId: '',
  environment: 'sandbox',
  tokenId: null,
  permissions: [],
  address: neighbourhood(ip),
});

function bindRoute(
  server: FastifyInstance,
  options: ServerOptions,
  uploads: Uploads,
  operation: Operation,
): void {
  const { contract } = operation;
  const { runtime, naming, log, metrics, watch } = options;
  const toBody = (fault: Fault) => faultBody(naming, fault);
  const stampHeader = naming.walletSignatureHeader.toLowerCase();

  async function answer(request: FastifyRequest, caller: Caller) {
    refuseUnreadableQuery(request.query as Record<string, unknown>);
    const headers = { ...(request.headers as Record<string, string | undefined>) };
    if (contract.signedRetry) headers[STAMP_HEADER] = headers[stampHeader];
    const params = request.params as Record<string, string>;
    const query = splitLists(contract, naming.fromWire(request.query) as Record<string, unknown>);
    const act = (parts: FormParts) =>
      perform(runtime, caller, operation, { params, query, headers, ...parts }, toBody);
    const { upload: rules, hosted: isLink = false } = contract;
    if (rules) return uploads.run({ caller, rules, isLink, request }, act);
    const given = request.body as { raw: string; json: unknown } | undefined;
    return act({ body: naming.fromWire(given?.json), rawBody: given?.raw ?? '' });
  }

  server.route({
    method: contract.method,
    url: routeOf(contract, naming),
    handler: async (request, reply) => {
      const started = performance.now();
      let caller = nobodyAt(request.ip);
      let status = 500;
      let body: unknown;
      try {
        if (contract.permission || contract.hosted) {
          const credential = credentialOf(options, request, contract);
          caller = await admitted(options.limiter, credential, request, reply, !!contract.costly);
        }
        refuseForeignEnvironment(contract, caller);
        const result = await answer(request, caller);
        ({ status, body } = result);
        if (result.replayed) reply.header('Idempotency-Replayed', 'true');
      } catch (error) {
        const fault = faultOf(error);
        ({ status } = fault);
        body = toBody(fault);
        if (fault.retryAfterS) reply.header('retry-after', String(fault.retryAfterS));
        // Clients that repeat a 429 by themselves would wait for midnight.
        if (fault.code === 'DAILY_VOLUME_LIMIT_EXCEEDED') reply.header('x-should-retry', 'false');
        const note = { err: error, requestId: request.id };
        if (status === 500) log.error(note, 'failed');
        // Not our mistake, and an operator wants to know whose.
        else if (fault.cause !== undefined) log.warn(note, 'not answered');
      }
      const ms = performance.now() - started;
      reply.header('cache-control', 'no-store');
      metrics.request(contract.operationId, status, ms);
      log.request(request.id, contract.operationId, caller.platformId, status, ms);
      watch?.(contract, status, body);
      if (contract.upload && !(await uploads.isOver(request, contract.upload))) {
        reply.header('connection', 'close');
      }
      send(reply, status, naming.toWire(body));
      return reply;
    },
  });
}

/** Routes whose bodies reach the handler as they arrive, once it is known who sends them. */
function bindUploads(
  server: FastifyInstance,
  bind: (scope: FastifyInstance, operation: Operation) => void,
  operations: readonly Operation[],
): void {
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    for (const operation of operations) bind(scope, operation);
  });
}

function refuseUnknown(server: FastifyInstance, options: ServerOptions): void {
  const methods = new Map<string, Set<string>>();
  for (const { contract } of options.operations) {
    const route = routeOf(contract, options.naming);
    methods.set(route, (methods.get(route) ?? new Set()).add(contract.method));
  }
  const others = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
  for (const [route, known] of methods) {
    const fault = new Fault('METHOD_NOT_ALLOWED', `Only ${[...known].join(', ')} here.`);
    server.route({
      method: others.filter((each) => !known.has(each)),
      url: route,
      handler: async (_request, reply) => {
        reply.header('allow', [...known].join(', '));
        const body = faultBody(options.naming, fault);
        for (const { contract } of options.operations) {
          if (routeOf(contract, options.naming) === route)
            options.watch?.(contract, fault.status, body);
        }
        send(reply, fault.status, body);
        return reply;
      },
    });
  }
}

/** What is no request at all, answered on the bare connection: there is no route and no reply yet. */
const refuseUnreadable =
  (naming: Naming, uploads: Uploads) => (error: { code?: string }, socket: Socket) => {
    // Files have a patience of their own.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && uploads.holds(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // Nobody waits for what a client took too long to ask.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      return void socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
    }
    const long = error.code === 'HPE_HEADER_OVERFLOW';
    const reason = long ? 'The address and headers are too long.' : 'The request cannot be read.';
    const body = JSON.stringify(
      naming.toWire(faultBody(naming, new Fault('INVALID_INPUT', reason))),
    );
    const head = [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };

/** Builds the server without listening; `inject` works at once. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { runtime, naming, trustedProxies = [] } = options;
  const uploads = createUploads(options.files, naming.fromWire, (error) =>
    options.log.error({ err: error }, 'a file was not stored or not removed'),
  );
  const server = Fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => uuid7(runtime.world),
    bodyLimit: MAX_BODY,
    routerOptions: { querystringParser: readQuery, maxParamLength: 300 },
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    clientErrorHandler: refuseUnreadable(naming, uploads),
    frameworkErrors(error, _request, reply) {
      const fault = faultOf(error);
      send(reply, fault.status, faultBody(naming, fault));
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, readJson as never);
  sayGoodbye(server);
  const bind = (scope: FastifyInstance, each: Operation) =>
    bindRoute(scope, options, uploads, each);
  const [plain, withFile] = [false, true].map((wanted) =>
    options.operations.filter(({ contract }) => Boolean(contract.upload) === wanted),
  ) as [Operation[], Operation[]];
  for (const operation of plain) bind(server, operation);
  bindUploads(server, bind, withFile);
  refuseUnknown(server, options);
  server.setNotFoundHandler((_request, reply) => {
    // The address is not repeated: it may hold the secret of a link or a code.
    const fault = new Fault('NOT_FOUND', 'Nothing is at this address.');
    send(reply, STATUS_OF.NOT_FOUND, faultBody(naming, fault));
  });
  server.setErrorHandler((error, request, reply) => {
    const fault = faultOf(error);
    // The route and not the address, which may hold the secret of a link.
    const url = request.routeOptions.url;
    if (fault.status === 500) options.log.error({ err: error, url }, 'failed');
    send(reply, fault.status, faultBody(naming, fault));
  });
  return server;
}
