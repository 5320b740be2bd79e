// Rules for every reply: a documented status, no internal error, the documented body, and no data about
// another tenant or internals of the server.
import { projectRoot } from '../../src/runtime/config/root.ts';
import type { Json, Operation } from './requests/document.ts';
import { ID } from './target/ids.ts';
import type { Reply } from './target/wire.ts';

/** Statuses of requests with a changed path or method, some of which reach another operation. */
const STATUSES_WITHOUT_OPERATION = new Set([
  400, 401, 403, 404, 409, 405, 408, 413, 415, 417, 429, 431,
]);
/** Statuses that any operation can return for its head or the form of its body. */
const FORM_STATUSES = new Set([400, 408, 413, 417, 431]);
const SLOW_MS = 10_000;
/** Operations that do the work of many requests, or of days, before they reply. */
const LONG_OPERATIONS = /Clock$|Fixtures$|^reset/;
/** A request that waits for events. */
const WAITING_REQUEST = /[?&]wait=\d/;

const INTERNALS: readonly RegExp[] = [
  /\bat [\w.<>]+ \(?(file:|\/|node:)/,
  /node_modules/,
  /\b(select|insert into|update) \w+ (from|set|\()/i,
  /ECONNREFUSED|ENOENT|EACCES/,
  /\bTypeError\b|\bRangeError\b|\bSyntaxError\b/,
  new RegExp(projectRoot().replaceAll(/[^\w/-]/g, '.')),
];

export interface Sent {
  /** Name of the attack in the report. */
  attack: string;
  method: string;
  path: string;
  /** The complete request. A reply may repeat parts of it. */
  text: string;
  operation?: Operation | undefined;
  /** Whether the caller has access to all tenants. */
  seesAll?: boolean;
}

export interface Rules {
  /** Problems of a reply. The reply must not contain a hidden text. */
  problemsOf(sentRequest: Sent, reply: Reply | 'closed' | 'no reply'): string[];
  /** Adds marks and IDs of another tenant to the texts that replies must not contain. */
  hide(texts: Iterable<string>): void;
}

function parseBody(body: string): Json {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The text with the decoded colons of IDs in a path or a query. */
const decodeColons = (text: string) => text.replaceAll(/%3a/gi, ':');

function statusProblem({ operation }: Sent, status: number): string | undefined {
  if (status >= 500 && !(status === 501 && operation?.statuses.has(501))) return `status ${status}`;
  const isDocumented = operation
    ? operation.statuses.has(status) || FORM_STATUSES.has(status)
    : status < 300 || STATUSES_WITHOUT_OPERATION.has(status);
  return isDocumented ? undefined : `status ${status} is not documented`;
}

function errorProblem(status: number, body: Json): string | undefined {
  if (status < 400) return undefined;
  if (!body || typeof body !== 'object') return 'the error is not JSON';
  const { code, reason, message } = body;
  const isComplete = [code, reason, message].every((text) => typeof text === 'string' && text);
  return isComplete && body.status === status ? undefined : `incomplete error`;
}

/** Whether the request was rejected before it was read completely. The reply then has no request ID. */
const isUnread = (status: number, body: Json) =>
  status === 431 || status === 408 || /not a valid HTTP request/.test(body?.reason ?? '');

export function createRules(): Rules {
  const hiddenTexts = new Set<string>();
  /** Hidden texts that are not IDs. */
  const marks: string[] = [];

  /** Permits the IDs that an attack has sent, because replies such as recorded requests repeat them. */
  function permitSentIds(text: string): void {
    for (const [id] of decodeColons(text).matchAll(ID)) hiddenTexts.delete(id);
  }

  const leakOf = (body: string): string | undefined =>
    [...body.matchAll(ID)].map(([id]) => id).find((id) => hiddenTexts.has(id)) ??
    marks.find((mark) => body.includes(mark));

  return {
    hide(texts) {
      for (const text of texts) {
        hiddenTexts.add(text);
        if (!text.includes(':')) marks.push(text);
      }
    },
    problemsOf(sentRequest, reply) {
      permitSentIds(sentRequest.text);
      if (typeof reply === 'string') return [reply];
      const { status, headers, body, ms } = reply;
      const problems = [statusProblem(sentRequest, status)];
      const isJson = headers['content-type']?.includes('json') ?? false;
      const json = isJson ? parseBody(body) : undefined;
      if (isJson && json === undefined) problems.push('the body is not JSON');
      problems.push(errorProblem(status, json));
      if (sentRequest.operation?.statuses.has(status) && json !== undefined) {
        const deviation = sentRequest.operation.deviationOf(status, json);
        if (deviation) problems.push(`the body of ${status} is not documented: ${deviation}`);
      }
      if (sentRequest.operation && !isUnread(status, json) && !headers['x-request-id'])
        problems.push('no X-Request-Id');
      if (headers['x-injected']) problems.push('a header was injected');
      const revealedPattern = INTERNALS.find(
        (pattern) => pattern.test(body) && !pattern.test(sentRequest.text),
      );
      if (revealedPattern)
        problems.push(`the body reveals internals of the server: ${revealedPattern}`);
      const leak = sentRequest.seesAll ? undefined : leakOf(body);
      if (leak) problems.push(`the body contains ${leak} of another tenant`);
      const isLong =
        LONG_OPERATIONS.test(sentRequest.operation?.operationId ?? '') ||
        WAITING_REQUEST.test(sentRequest.text);
      if (ms > SLOW_MS && !isLong) problems.push(`took ${Math.round(ms)} ms`);
      return problems.flatMap((problem) => problem ?? []);
    },
  };
}
