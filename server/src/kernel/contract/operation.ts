// An operation is one value, its contract, and one handler. The contract states everything a client
// needs (path, fields, statuses, permission) and feeds routing, validation, the OpenAPI document
// and the tests; the operationId names both, in code, logs and metrics.
import type { Readable } from 'node:stream';
import type { Static, TSchema } from '@sinclair/typebox';
import type { Code, Fault, FieldError } from '../fault.ts';
import type { OperatorPermission } from './operator-permissions.ts';
import type { UploadRules } from './upload.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type Permission = 'VIEW' | 'TRANSACT' | 'MANAGE';
export const PERMISSIONS: readonly Permission[] = ['VIEW', 'TRANSACT', 'MANAGE'];

interface ContractBase {
  readonly operationId: string;
  readonly method: Method;
  /** Below the versioned base, parameters in braces: `/quotes/{quoteId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  /** Success status → schema of the reply, or null without a body. */
  readonly replies: Readonly<Record<number, TSchema | null>>;
  /**
   * Error codes it may return, besides `notFound` and those common to its kind
   * (`http/operation-errors.ts`).
   */
  readonly errors: readonly Code[];
  /** Error for an ID in the path that is malformed, unknown or of another platform. */
  readonly notFound?: Code;
  /** A long poll: its handler gets `closed` and returns `idleMs`. */
  readonly waits?: true;
  /** Its reply is a stream of server-sent events, which ends with the connection at the latest. */
  readonly streams?: true;
  /** Its body and its reply contain bodies and replies of other operations. */
  readonly callsOperations?: true;
}

/**
 * A wallet signs it: the first request gets 202 with the payload to sign, and is sent again with
 * the two headers. Neither that reply nor an invalid signature is stored under an idempotency key.
 */
interface SignedRetry {
  readonly signedRetry: true;
}

interface Unsigned {
  readonly signedRetry?: never;
}

/** Credential of the caller. A permission applies exactly to tokens and agents. */
type Authentication =
  | (NoOperator & {
      readonly auth?: 'token';
      readonly permission: Permission;
      /** Rejected with 403 for a production credential. */
      readonly sandboxOnly?: boolean;
      /** Rate limit of its requests, in addition to the limit of all requests. */
      readonly rateClass?: RateClass;
    })
  | (NoOperator & {
      /** The bearer token of an agent; its policy restricts it further. */
      readonly auth: 'agent';
      readonly permission: Permission;
      readonly sandboxOnly?: never;
      readonly rateClass?: RateClass;
    })
  | ({
      /** A session or a token of an operator. Served below the base of the operator API. */
      readonly auth: 'operator';
      readonly operatorPermission: OperatorPermission;
      /** The verbs of the operator's command that have the same effect. */
      readonly commands: readonly string[];
      /** Shows personal data, so each request is recorded. */
      readonly reveals?: true;
      /** Is about the installation: rejected for an operator of single platforms. */
      readonly wholeInstallation?: true;
      /** A second person must approve it, even without a policy. */
      readonly needsApproval?: true;
      /** A list that is ordered by time, oldest first; others are newest first. */
      readonly oldestFirst?: true;
      /** Its handler sums over the platforms of the operator, so `platformId` is optional for all. */
      readonly sumsPlatforms?: true;
      /** Can post in the ledger, so a policy can have a smallest amount. */
      readonly postsMoney?: true;
      readonly permission?: never;
      readonly sandboxOnly?: never;
      readonly rateClass?: never;
    } & Unsigned)
  | (NoOperator & {
      /**
       * `hosted`: called by a hosted page. The secret of its link, `{secret}` of the path, is the
       * credential; it is served outside the versioned base and omitted from the document. `none`:
       * no credential. `signIn`: an operator signs in, so it has no credential either; it is served
       * below the base of the operator API.
       */
      readonly auth: 'hosted' | 'none' | 'signIn';
      readonly permission?: never;
      readonly sandboxOnly?: never;
      readonly rateClass?: never;
    } & Unsigned);

interface NoOperator {
  readonly operatorPermission?: never;
  readonly commands?: never;
  readonly reveals?: never;
  readonly wholeInstallation?: never;
  readonly needsApproval?: never;
  readonly oldestFirst?: never;
  readonly sumsPlatforms?: never;
  readonly postsMoney?: never;
}

/** `quotes`: costs more than most operations, so that a token may call it less often. */
type RateClass = 'quotes';

/** Options for replies stored under an idempotency key. */
interface StoredReply {
  readonly method: 'POST';
  readonly auth?: 'token' | 'agent' | 'none' | 'operator';
  /** Absent: `optional`; see `idempotencyOf`. */
  readonly idempotency?: 'optional' | 'required';
  /** Top-level fields of the reply that are shown once; a replay of the stored reply omits them. */
  readonly omitOnReplay?: readonly string[];
  /** The reply contains personal data or a secret that a replay repeats: it is stored sealed. */
  readonly sealed?: boolean;
}

interface NoStoredReply {
  readonly money?: never;
  readonly omitOnReplay?: never;
  readonly sealed?: never;
}

/** Meaning of an idempotency key. */
type Replay =
  | (StoredReply & {
      /** Moves funds: a second body under one idempotency key is `DUPLICATE_PAY_REQUEST`. */
      readonly money: true;
      readonly signedRetry?: true;
    })
  | (StoredReply & { readonly money?: never } & Unsigned)
  /** The id of the signed request identifies it. */
  | (NoStoredReply & { readonly idempotency?: never } & SignedRetry)
  /** Each request is a new one, so no reply is stored. Absent for methods other than POST. */
  | (NoStoredReply & { readonly idempotency?: 'none' } & Unsigned);

interface BodyRules {
  readonly body: TSchema;
  /** Validates a body beyond its schema; errors of both are reported in one reply. */
  readonly bodyRules?: (body: unknown) => FieldError[];
}

interface NoBody {
  readonly body?: never;
  readonly bodyRules?: never;
  readonly maxBody?: never;
  readonly upload?: never;
}

/** Input, and whether it waits for external systems. */
type Payload =
  | (NoBody & { readonly method: 'GET'; readonly bodyOptional?: never } & CallsExternal & Unsigned)
  | (NoBody & {
      readonly method: 'POST';
      /** An empty object is the same request as no body. */
      readonly bodyOptional?: boolean;
    } & CallsExternal)
  | (NoBody & {
      readonly method: 'PATCH' | 'PUT' | 'DELETE';
      readonly bodyOptional?: never;
    } & CallsExternal)
  | (Writes & BodyRules & JsonBody & (CallsExternal | ValidatesMeaning))
  | (Writes &
      BodyRules & {
        /** The body is multipart/form-data, and its property `file` is a file. */
        readonly upload: UploadRules;
        readonly bodyOptional?: never;
        readonly maxBody?: never;
      } & CallsExternal);

interface Writes {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
}

interface JsonBody {
  /** The body may be absent or empty; it is then read as `{}`. */
  readonly bodyOptional?: boolean;
  /** Absent: a JSON body has at most 64 KiB. The reason is part of the document. */
  readonly maxBody?: { readonly bytes: number; readonly reason: string };
  readonly upload?: never;
}

interface CallsExternal {
  readonly semanticValidation?: never;
  /**
   * Calls external systems while the client waits, so a stored reply is searched before it runs.
   */
  readonly callsExternal?: boolean;
}

interface ValidatesMeaning {
  /**
   * Finds fields that are invalid only for this platform or at this time. It also runs after the
   * schema has found some, so that one reply names all invalid fields. That run is discarded, so it
   * must not call external systems.
   */
  readonly semanticValidation: true;
  readonly callsExternal?: never;
}

/** Invalid combinations of flags do not compile. */
export type Contract = ContractBase & Authentication & Replay & Payload;

/**
 * Whether an idempotency key is ignored, accepted or required. The path of a hosted operation
 * contains a secret, which must not become part of a stored key; the reply to a sign-in is a secret;
 * a signed request has its own id, which identifies it unless it moves funds.
 */
export function idempotencyOf(contract: Contract): 'none' | 'optional' | 'required' {
  const { method, auth, idempotency, signedRetry, money } = contract;
  if (method !== 'POST' || auth === 'hosted' || auth === 'signIn') return 'none';
  if (signedRetry && !money) return 'none';
  return idempotency ?? 'optional';
}

/** Default maximum of a JSON body, in bytes. */
export const DEFAULT_MAX_BODY = 65_536;

/** Maximum size of its JSON body, in bytes. */
export const maxBodyOf = ({ maxBody }: Pick<Contract, 'maxBody'>): number =>
  maxBody?.bytes ?? DEFAULT_MAX_BODY;

type Part<C, K extends string> = C extends Record<K, infer S extends TSchema> ? Static<S> : object;

/** The parts of a request with a schema in the contract; any for an unknown contract. */
export interface Input<C = object> {
  params: Part<C, 'params'>;
  query: Part<C, 'query'>;
  headers: Part<C, 'headers'>;
  body: Part<C, 'body'>;
  /** Aborted when the client disconnects; of an operation that `waits` or `streams`. */
  closed?: AbortSignal | undefined;
}

type Body<S> = S extends TSchema ? Static<S> : undefined;

/** Successful result of a contract. */
export type ResponseBody<C extends Contract> = Body<C['replies'][keyof C['replies']]>;

export interface Reply {
  status: number;
  body: unknown;
  /** The body for replays under an idempotency key, without secrets that are shown once. */
  replayBody?: unknown;
  /** Time in which the operation waited; excluded from its latency. */
  idleMs?: number;
  /** Further headers, such as cookies. */
  headers?: ReplyHeaders;
  /** Sent instead of the body; of an operation that `streams`. */
  stream?: Readable | undefined;
}

export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

/** A reply as it is stored: without the secrets that are shown once. */
export function withoutSecrets({ omitOnReplay }: Contract, body: unknown): unknown {
  if (!omitOnReplay || typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !omitOnReplay.includes(name)));
}

/**
 * A rejection with side effects: what was staged is committed, and the client gets the fault. A
 * thrown fault discards everything instead; nearly all rejections are thrown.
 */
export interface Rejected {
  rejected: Fault;
}

/** A contract with its handler, ready to be bound to a route. */
export interface Bound<Ctx> {
  readonly contract: Contract;
  readonly run: (ctx: Ctx, input: Input) => Promise<Reply | Rejected>;
}

/** Defines a contract; the literal types of its schemas and statuses are kept. */
export const operation = <const C extends Contract>(contract: C): C => contract;

/** Creates the `handle` of a server whose operations take `Ctx`. */
export const handler =
  <Ctx>() =>
  // `S` is a separate parameter because a literal status would widen to number inside a mapped type
  // of `C`.
  <C extends Contract, S extends keyof C['replies'] & number>(
    contract: C,
    run: (
      ctx: Ctx,
      input: Input<C>,
    ) => Promise<
      { status: S; body: Body<C['replies'][S]>; replayBody?: unknown; idleMs?: number } | Rejected
    >,
    // The route has validated the input against this contract.
  ): Bound<Ctx> => ({ contract, run: run as Bound<Ctx>['run'] });
