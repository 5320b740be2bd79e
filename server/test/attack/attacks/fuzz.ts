// Requests generated from the documents. Some requests are valid. Other requests have hostile values, broken
// JSON, or wrong content types, paths, queries, headers or credentials.
import { randomUUID } from 'node:crypto';
import type { Json, Operation } from '../requests/document.ts';
import { corrupt, hostileValue, mutate } from '../requests/hostile.ts';
import { bodyFor, pathFor, queryFor } from '../requests/values.ts';
import { type Attack, authorizationFor, type Session } from '../session.ts';
import { requestBytes } from '../target/tenants.ts';

type Field = readonly [string, string];

interface Draft {
  path: string;
  headers: Field[];
  body: Buffer | string | undefined;
  /** Whether the request reaches the operation: false if its path or method was changed. */
  isRouted: boolean;
  isAuthorized: boolean;
}

/**
 * A policy would require an approval for later changes. A reset removes rows that concurrent requests read.
 * These requests then return a 404 with a code that is not documented.
 */
const EXCLUDED_OPERATIONS = new Set(['createApprovalPolicy', 'resetSandbox', 'resetPlatform']);
/** A global operator calls only operations that do not change the victim. */
const GLOBAL_PATHS = /^\/operator\/v1\/(operator-|roles|approval|audit|provider|system|retention)/;

const operationsOf = (session: Session): Operation[] =>
  session.documents.operations.filter(({ operationId }) => !EXCLUDED_OPERATIONS.has(operationId));

const BOUNDARY = 'x-fuzz-boundary';

function formOf(body: Json, session: Session): string {
  const { chance } = session;
  const fields = Object.entries<Json>(body ?? {}).filter(([name]) => name !== 'file');
  const parts = fields.map(
    ([name, value]) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n` +
      `${typeof value === 'string' ? value : JSON.stringify(value)}\r\n`,
  );
  const content = chance.pick(['%PDF-1.4\n%%EOF', 'a,b\n1,2\n', '', '\0\0', 'x'.repeat(5_000)]);
  const name = chance.pick([
    'a.pdf',
    'a.csv',
    '../../a.pdf',
    'a".pdf',
    '',
    'é.png',
    'x'.repeat(300),
  ]);
  const file =
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n` +
    `content-type: ${chance.pick(['application/pdf', 'text/csv', 'image/png', 'x/y', 'x'])}\r\n\r\n` +
    `${content}\r\n`;
  const form = [...parts, ...(chance.percent(90) ? [file] : [])].join('');
  return chance.percent(90)
    ? `${form}--${BOUNDARY}--\r\n`
    : form.slice(0, -chance.integerBelow(40) - 1);
}

function contentOf(
  operation: Operation,
  session: Session,
): { type: string; body: string | Buffer } {
  const { chance, callers, documents } = session;
  const source = { chance, ids: callers.attacker.ids, documents };
  const validBody = bodyFor(operation, source);
  const isForm = operation.body?.type.startsWith('multipart') ?? false;
  const foreignId = callers.victim.ids.pickAny(chance);
  const body = chance.percent(45) ? validBody : mutate(validBody, chance, foreignId);
  if (isForm) {
    return { type: `multipart/form-data; boundary=${BOUNDARY}`, body: formOf(body, session) };
  }
  const json = JSON.stringify(body) ?? '';
  return { type: 'application/json', body: chance.percent(12) ? corrupt(json, chance) : json };
}

const CONTENT_TYPES = [
  ...['text/plain', 'application/xml', 'application/json; charset=utf-16', 'x', ''],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=', 'application/json;'],
  ...['application/json, text/html', `application/${'x'.repeat(3_000)}`, 'APPLICATION/JSON'],
];

const IDEMPOTENCY_KEYS = [
  '',
  ' ',
  'x'.repeat(255),
  'x'.repeat(256),
  'a,b',
  'é',
  '"',
  '__proto__',
  '\u0001',
];

const CREDENTIALS = [
  ...['Basic', 'Basic ', 'Basic ====', 'Basic Og==', 'Bearer ', 'Bearer gat_', 'Digest a="b"'],
  ...[
    `Basic ${'A'.repeat(9_000)}`,
    'Bearer \u00ff',
    'Basic AAAA\u00ff',
    'basic YTpi',
    'Negotiate x',
  ],
  ...['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.', `Bearer ${'.'.repeat(500)}`],
];

const HEADERS: readonly Field[] = [
  ['x-http-method-override', 'DELETE'],
  ['x-original-url', '/operator/v1/system'],
  ['x-forwarded-for', "127.0.0.1, ' or 1=1"],
  ['x-forwarded-host', 'evil.example'],
  ['accept', 'application/xml'],
  ['accept', `text/${'x'.repeat(4_000)}`],
  ['accept-encoding', 'gzip;q=x, br'],
  ['content-encoding', 'gzip'],
  ['x-request-id', '../../x'],
  ['traceparent', '00-xyz'],
  ['origin', 'null'],
  ['cookie', 'operator-session=x; __proto__=y'],
  ['range', 'bytes=0-99999999999999999999'],
  ['if-match', '*'],
  ['request-id', 'Request:x'],
  ['service-wallet-signature', 'AAAA'],
  ['connection', 'keep-alive, content-length'],
  ['te', 'trailers, deflate'],
];

const encode = (text: string) =>
  encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, '\ufffd')).slice(0, 6_000);

function draftOf(operation: Operation, session: Session): Draft {
  const { chance, callers, documents } = session;
  const source = { chance, ids: callers.attacker.ids, documents };
  const authorization = authorizationFor(operation, session);
  const query = queryFor(operation, source);
  const content = operation.body && contentOf(operation, session);
  const headers: Field[] = authorization ? [['authorization', authorization]] : [];
  if (content) headers.push(['content-type', content.type]);
  for (const { name, required } of operation.parameters.filter(
    (parameter) => parameter.in === 'header',
  )) {
    const isKey = name.toLowerCase() === 'idempotency-key';
    if (isKey && (required || chance.percent(30))) headers.push([name, randomUUID()]);
  }
  const text = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return {
    path: pathFor(operation, source) + (text ? `?${text}` : ''),
    ...{ headers, body: content?.body, isRouted: true, isAuthorized: true },
  };
}

/** Changes the path, the query or a header of the request, or replaces its body with a large body. */
function mutateDraft(draft: Draft, operation: Operation, session: Session): void {
  const { chance, callers } = session;
  const replaceHeader = (name: string, value: string) => {
    draft.headers = draft.headers.filter(([fieldName]) => fieldName.toLowerCase() !== name);
    draft.headers.push([name, value.replaceAll(/[\r\n\0]/g, '')]);
  };
  const createHostileText = () => {
    const value = hostileValue(chance);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.replaceAll(/[\ud800-\udfff]/g, '');
  };
  const [path = '', query = ''] = draft.path.split('?');
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const changes: (() => void)[] = [
    () => replaceHeader('content-type', chance.pick(CONTENT_TYPES)),
    () => replaceHeader('idempotency-key', chance.pick(IDEMPOTENCY_KEYS)),
    () => replaceHeader(...(chance.pick(HEADERS) as [string, string])),
    () => {
      replaceHeader('authorization', chance.pick(CREDENTIALS));
      draft.isAuthorized = false;
    },
    () => {
      draft.headers = draft.headers.filter(([name]) => name !== 'authorization');
      draft.isAuthorized = false;
    },
    () => {
      // The last ID of the path is replaced.
      const segments = path.split('/');
      const index = segments.findLastIndex((segment) => segment.includes('%3A'));
      if (index < 0) return;
      const id = chance.percent(50)
        ? (callers.attacker.ids.pickAny(chance) ?? '')
        : createHostileText();
      segments[index] = encode(id);
      draft.isRouted = false;
      draft.path = segments.join('/');
    },
    () => {
      const suffix = chance.pick([
        '/',
        '//',
        '/..',
        '%2f',
        '%',
        '%zz',
        '%00',
        ';a=b',
        '/../x',
        '%c0%af',
      ]);
      draft.path = path + suffix;
      draft.isRouted = false;
    },
    () => {
      const parameter = parameters.length ? chance.pick(parameters).name : 'unknown';
      draft.path = `${path}?${query}&${encode(parameter)}=${encode(createHostileText())}`;
    },
    () => {
      draft.path = `${path}?${chance.pick(['a=1&a=2', '&&&', '=', 'limit=%', 'a[]=1', '__proto__=1'])}`;
    },
    () => {
      const limit = chance.pick(['0', '-1', '1e9', '1.5']);
      draft.path = `${path}?cursor=${encode(createHostileText())}&limit=${limit}`;
    },
    () => {
      draft.headers.push(['x-long', 'x'.repeat(chance.pick([100, 15_000, 20_000]))]);
      draft.isAuthorized = false;
    },
    () => {
      draft.body = Buffer.alloc(chance.pick([65_537, 300_000, 2_000_000]), 'x');
    },
  ];
  chance.pick(changes)();
}

/** The global operator does not call operations of platforms, which could change the victim. */
function isAllowed({ path, api }: Operation, authorization: string, session: Session): boolean {
  if (api !== 'operator' || authorization !== session.callers.operator) return true;
  return GLOBAL_PATHS.test(path);
}

async function sendFuzzRequest(session: Session): Promise<void> {
  const { chance, callers, connection } = session;
  const operation = chance.pick(operationsOf(session));
  const draft = draftOf(operation, session);
  const authorization = draft.headers.find(([name]) => name === 'authorization')?.[1] ?? '';
  if (!isAllowed(operation, authorization, session)) return;
  if (chance.percent(30)) mutateDraft(draft, operation, session);
  let { method } = operation;
  if (chance.percent(2)) {
    method = chance.pick(['PUT', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'DELETE', 'QUERY']);
    draft.isRouted = false;
    if (method === 'HEAD') return;
  }
  const bytes = requestBytes({ method, ...draft });
  const reply = await connection.send(bytes);
  const sentRequest = {
    ...{ attack: 'fuzz', method, path: draft.path, text: bytes.toString() },
    operation: draft.isRouted ? operation : undefined,
    seesAll: authorization !== '' && authorization === callers.operator,
  };
  session.record(sentRequest, reply);
  if (typeof reply === 'string') return;
  if (operation.api === 'platform' && reply.status < 300) callers.attacker.ids.collect(reply.body);
  if (
    operation.api === 'operator' &&
    reply.status < 300 &&
    authorization === callers.scopedOperator
  ) {
    callers.attacker.ids.collect(reply.body);
  }
  // The request may have revoked the credential that it or an earlier request used.
  if (reply.status === 401 && draft.isAuthorized && !operation.isPublic) await callers.renew();
}

export const fuzz: Attack = { name: 'fuzz', weight: 80, run: sendFuzzRequest };
