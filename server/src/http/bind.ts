// Validates a request, runs its operation and stores the reply under the idempotency key. The
// idempotency record is part of the operation's change set, so a final reply is stored if and only
// if its effects are. The insert of the record detects a repeated request, so most first requests
// need no read.

import { createHash } from 'node:crypto';
import type { Caller } from '../kernel/caller.ts';
import {
  type Bound,
  type Contract,
  idempotencyOf,
  type Reply,
  withoutSecrets,
} from '../kernel/contract/operation.ts';
import { bodyErrors, fieldErrors, MAX_FIELD_ERRORS } from '../kernel/contract/validate.ts';
import { canonical } from '../kernel/crypto/canonical.ts';
import { Fault, type FieldError, invalid } from '../kernel/fault.ts';
import { isAnyId } from '../kernel/id.ts';
import { type Ctx, createContext } from '../runtime/operation/context.ts';
import { idempotency } from '../runtime/operation/idempotency.ts';
import { isKeyTaken, operate, type Runtime } from '../runtime/operation/operate.ts';
import { packJson, unpackJson } from '../runtime/operation/stored-json.ts';
import type { SealedColumn } from '../runtime/security/sealed-columns.ts';

export type Operation = Bound<Ctx>;

export interface Request {
  params: Record<string, string>;
  query: Record<string, unknown>;
  headers: Record<string, string | undefined>;
  body: unknown;
  /**
   * The body as received. Forms, and requests with records of older versions, are compared by this
   * text.
   */
  rawBody: string;
  /** Errors of a form that the schema does not cover. */
  errors?: FieldError[];
  /** Aborted when the client disconnects. */
  disconnect?: AbortSignal | undefined;
}

type OperationReply = Reply & { replayed?: boolean };

const MAX_KEY_LENGTH = 255;

/**
 * Requests in flight in this process by idempotency ID. A concurrent request waits for the first
 * request and replays its reply. If no reply was stored, it is executed.
 */
const requestsInFlight = new WeakMap<Runtime, Map<string, Promise<unknown>>>();

function requestsInFlightOf(runtime: Runtime): Map<string, Promise<unknown>> {
  const existingMap = requestsInFlight.get(runtime);
  if (existingMap) return existingMap;
  const map = new Map<string, Promise<unknown>>();
  requestsInFlight.set(runtime, map);
  return map;
}

const bodyOf = (contract: Contract, { body }: Request) =>
  body ?? (contract.bodyOptional ? {} : undefined);

const KEY = 'Idempotency-Key';

/** Errors of the idempotency key, including a missing required key. */
function keyErrors(contract: Contract, { headers }: Request): FieldError[] {
  const key = headers[KEY.toLowerCase()];
  // Applies to every operation, because an empty key would not protect against repetition.
  if (key !== undefined && key.trim() === '') return [{ field: KEY, message: 'must not be empty' }];
  const idempotency = idempotencyOf(contract);
  if (idempotency === 'none') return [];
  if (!key) return idempotency === 'required' ? [{ field: KEY, message: 'is required' }] : [];
  if (key.length <= MAX_KEY_LENGTH) return [];
  return [
    {
      field: KEY,
      constraint: { maxLength: MAX_KEY_LENGTH },
      message: `must not be longer than ${MAX_KEY_LENGTH} characters`,
    },
  ];
}

function errorsOf(contract: Contract, request: Request): FieldError[] {
  const errors: FieldError[] = [...(request.errors ?? []), ...keyErrors(contract, request)];
  const body = bodyOf(contract, request);
  if (contract.query) errors.push(...fieldErrors(contract.query, request.query, 'query'));
  if (contract.headers) errors.push(...fieldErrors(contract.headers, request.headers, 'body'));
  if (contract.body) {
    if (body === undefined) errors.push({ field: '', message: 'A JSON body is required.' });
    else {
      const invalidFields = new Set(errors.map((error) => error.field));
      const bodyFieldErrors = bodyErrors(contract, body);
      errors.push(...bodyFieldErrors.filter(({ field }) => !invalidFields.has(field)));
    }
  }
  return errors.slice(0, MAX_FIELD_ERRORS);
}

const isUnder = (field: string, ancestor: string) =>
  field === ancestor || field.startsWith(`${ancestor}.`) || ancestor === '';

/** Paths of invalid fields, as a tree. */
interface InvalidPaths {
  /** Whether the value at this path is invalid. */
  isInvalid: boolean;
  children: Map<string, InvalidPaths>;
}

function invalidPathsOf(errors: readonly FieldError[]): InvalidPaths {
  const root: InvalidPaths = { isInvalid: false, children: new Map() };
  for (const { field } of errors) {
    let parent = root;
    for (const name of field.split('.')) {
      const child = parent.children.get(name) ?? { isInvalid: false, children: new Map() };
      parent.children.set(name, child);
      parent = child;
    }
    parent.isInvalid = true;
  }
  return root;
}

/** The body without its invalid fields and without lists that have an invalid item. */
function omitInvalid(value: unknown, { isInvalid, children }: InvalidPaths): unknown {
  if (isInvalid || Array.isArray(value)) return undefined;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => {
    const invalidPaths = children.get(name);
    return [name, invalidPaths ? omitInvalid(inner, invalidPaths) : inner];
  });
  return Object.fromEntries(members.filter(([, inner]) => inner !== undefined));
}

/**
 * Field errors that the operation reports for the valid part of a body. The staged changes are
 * discarded. Other faults of an incomplete request are ignored.
 */
async function findFurtherErrors(
  runtime: Runtime,
  caller: Caller,
  { contract, run }: Operation,
  request: Request,
  schemaErrors: readonly FieldError[],
): Promise<FieldError[]> {
  if (!contract.semanticValidation || schemaErrors.some(({ field }) => field === '')) return [];
  const body = omitInvalid(request.body, invalidPathsOf(schemaErrors));
  const { params, query, headers } = request;
  try {
    const input = { params, query, headers, body: body as object };
    await run(createContext(runtime, caller, await runtime.clocks.timeOf(caller)), input);
    return [];
  } catch (error) {
    const fieldErrors =
      error instanceof Fault ? (error.details?.errors as FieldError[] | undefined) : [];
    return (fieldErrors ?? []).filter(({ field }) =>
      schemaErrors.every(
        (schemaError) => !isUnder(field, schemaError.field) && !isUnder(schemaError.field, field),
      ),
    );
  }
}

interface IdempotencyRecord {
  id: string;
  /** Begins with a letter outside the hexadecimal digits. */
  hash: string;
  /**
   * The hash of older versions. Can be removed a week after the upgrade from the last such version.
   */
  plainHash: () => string;
}

function idempotencyRecordOf(
  { vault }: Pick<Runtime, 'vault'>,
  contract: Contract,
  caller: Caller,
  request: Request,
): IdempotencyRecord | null {
  const key = request.headers[KEY.toLowerCase()];
  if (idempotencyOf(contract) === 'none' || !key) return null;
  // Built from the parameters, so that a raw and a percent-encoded path are equal. Values other
  // than IDs are hashed, because they may be secrets or not storable.
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const value = request.params[name] ?? '';
    return isAnyId(value) ? value : vault.digest('parameter', value);
  });
  // Keys of an agent are separate from those of its platform and of other agents.
  const { platformId, agentId, operator } = caller;
  const platformOwner = agentId === undefined ? platformId : `${platformId} ${agentId}`;
  const owner = operator?.id ?? platformOwner;
  // If the body is optional, an absent and an empty body are the same request.
  const bodyText = contract.bodyOptional && request.rawBody === '' ? '{}' : request.rawBody;
  const hashInput = (body: string) => `${JSON.stringify(request.query)}\n${body}`;
  // A repetition may format the same JSON differently.
  const body = contract.upload || bodyText === '' ? bodyText : canonical(request.body ?? {});
  return {
    id: `${owner} ${contract.method} ${path} ${key}`,
    // Bodies contain secrets and personal data, which could be guessed from a plain hash.
    hash: `${KEYED_HASH_PREFIX}${vault.digest('request', hashInput(body))}`,
    plainHash: () => createHash('sha256').update(hashInput(bodyText)).digest('hex'),
  };
}

const KEYED_HASH_PREFIX = 'k';

const isSame = (storedHash: string, { hash, plainHash }: IdempotencyRecord): boolean =>
  storedHash === (storedHash.startsWith(KEYED_HASH_PREFIX) ? hash : plainHash());

const sealContextOf = ({ id }: Pick<IdempotencyRecord, 'id'>) => `idempotency ${id} reply`;

export const sealedReplies: SealedColumn = {
  table: 'idempotency',
  column: 'reply',
  contexts: (id) => [sealContextOf({ id })],
};

async function replay(
  runtime: Runtime,
  contract: Contract,
  record: IdempotencyRecord,
): Promise<OperationReply | null> {
  const storedRow = await runtime.db.read(idempotency, record.id);
  if (!storedRow) return null;
  if (!isSame(storedRow.body_hash, record)) {
    throw new Fault(
      contract.money ? 'DUPLICATE_PAY_REQUEST' : 'CONFLICT',
      'This Idempotency-Key was already used for a different request. Use a new key.',
    );
  }
  // After a crash of the primary database, a record can exist whose commit was not acknowledged.
  await runtime.db.confirm();
  // Stored JSON never begins with `s`, the start of a sealed text. Older versions stored replies of
  // the same contract in clear text.
  const isSealed = storedRow.reply.startsWith('s');
  const reply = isSealed
    ? runtime.vault.openOwn(storedRow.reply, sealContextOf(record)).toString()
    : storedRow.reply;
  const body: unknown = JSON.parse(unpackJson(reply));
  return { status: storedRow.status, body, replayed: true };
}

/** Whether a reply is final. The 202 and the 401 of an operation with a signed retry are not. */
const isFinal = ({ signedRetry }: Contract, status: number): boolean =>
  !signedRetry || (status !== 202 && status !== 401);

/** The stored reply, without secrets that are shown once. */
const storableBodyOf = (contract: Contract, { body, replayBody }: Reply): unknown =>
  replayBody === undefined ? withoutSecrets(contract, body) : replayBody;

function storeReply(ctx: Ctx, contract: Contract, record: IdempotencyRecord, reply: Reply): void {
  const text = packJson(JSON.stringify(storableBodyOf(contract, reply) ?? null));
  ctx.insert(idempotency, {
    id: record.id,
    body_hash: record.hash,
    status: reply.status,
    reply: contract.sealed ? ctx.vault.sealOwn(text, sealContextOf(record)) : text,
    // Stored replies are deleted by real time.
    created_at: ctx.effects.now(),
  });
}

async function runWithIdempotency(
  runtime: Runtime,
  caller: Caller,
  record: IdempotencyRecord,
  operation: Operation,
  attempt: (ctx: Ctx) => Promise<Reply>,
  faultBody: (fault: Fault) => unknown,
): Promise<OperationReply> {
  const { contract } = operation;
  if (contract.callsExternal) {
    const storedReply = await replay(runtime, contract, record);
    if (storedReply) return storedReply;
  }
  try {
    const result = await operate(runtime, caller, async (ctx) => {
      const reply = await attempt(ctx);
      if (isFinal(contract, reply.status)) storeReply(ctx, contract, record, reply);
      return reply;
    });
    // A reply that is not stored causes no conflict, so another reply may be stored under the key.
    const storedReply = isFinal(contract, result.status)
      ? null
      : await replay(runtime, contract, record);
    return storedReply ?? result;
  } catch (error) {
    if (!isKeyTaken(error) && !(error instanceof Fault)) throw error;
    const storedReply = await replay(runtime, contract, record);
    if (storedReply) return storedReply;
    // A rejection is as final as a success under the same key, unless it is retryable.
    if (!(error instanceof Fault) || error.isRetryable) throw error;
    if (!isFinal(contract, error.status)) throw error;
    const rejection = { status: error.status, body: faultBody(error) };
    try {
      await operate(runtime, caller, async (ctx) => storeReply(ctx, contract, record, rejection));
    } catch (conflict) {
      if (!isKeyTaken(conflict)) throw conflict;
      // Another process has concurrently stored a reply to the same request, which may differ.
      const concurrentReply = await replay(runtime, contract, record);
      if (concurrentReply) return concurrentReply;
    }
    throw error;
  }
}

/** Runs one operation for one request. Throws `Fault`. */
export async function perform(
  runtime: Runtime,
  caller: Caller,
  operation: Operation,
  request: Request,
  faultBody: (fault: Fault) => unknown,
): Promise<OperationReply> {
  const { contract } = operation;
  const errors = errorsOf(contract, request);
  if (errors.length) {
    throw invalid([
      ...errors,
      ...(await findFurtherErrors(runtime, caller, operation, request, errors)),
    ]);
  }
  const { params, query, headers, disconnect } = request;
  const input = {
    params,
    query,
    headers,
    body: bodyOf(contract, request) as object,
    disconnect,
  };
  const record = idempotencyRecordOf(runtime, contract, caller, request);
  const runningRequests = requestsInFlightOf(runtime);
  if (record) {
    const runningRequest = runningRequests.get(record.id);
    if (runningRequest) {
      await runningRequest.catch(() => undefined);
      const storedReply = await replay(runtime, contract, record);
      return storedReply ?? perform(runtime, caller, operation, request, faultBody);
    }
  }
  const attempt = async (ctx: Ctx): Promise<Reply> => {
    const outcome = await operation.run(ctx, input);
    if (!('rejected' in outcome)) return outcome;
    return { status: outcome.rejected.status, body: faultBody(outcome.rejected) };
  };
  if (!record) return operate(runtime, caller, attempt);
  const replyPromise = runWithIdempotency(runtime, caller, record, operation, attempt, faultBody);
  runningRequests.set(record.id, replyPromise);
  try {
    return await replyPromise;
  } finally {
    runningRequests.delete(record.id);
  }
}
