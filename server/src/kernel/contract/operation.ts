// An operation is a contract and a handler. The contract states path, fields, statuses and permission.
// Routing, validation, the OpenAPI document and the tests are derived from the contract. The operationId is
// the name in code, logs and metrics.
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
   * Possible error codes, in addition to `notFound` and the codes common to its kind
   * (`http/operation/errors.ts`).
   */
  readonly errors: readonly Code[];
  /** Error for an ID in the path that is malformed, unknown or of another platform. */
  readonly notFound?: Code;
  /** A long poll, whose handler receives `disconnect` and returns `idleMs`. */
  readonly waits?: true;
  /** The reply is a stream of server-sent events, which stops at the latest with the connection. */
  readonly streams?: true;
  /** Body and reply contain bodies and replies of other operations. */
  readonly callsOperations?: true;
}

/**
 * Request with a wallet signature. The reply to the first request is 202 with the payload to sign. The
 * client sends the request again with the two headers. The 202 and the rejection of an invalid signature
 * are never stored under an idempotency key.
 */
interface SignedRetry {
  readonly signedRetry: true;
}

interface UnsignedRequest {
  readonly signedRetry?: never;
}

/** Credential of the caller. `permission` is set for tokens and agents only. */
type Authentication =
  | (NoOperator & {
      readonly auth?: 'token';
      readonly permission: Permission;
      /** Rejected with 403 for a production credential. */
      readonly sandboxOnly?: boolean;
      /** Rate limit of the operation, in addition to the limit of all requests. */
      readonly rateClass?: RateClass;
    })
  | (NoOperator & {
      /** The bearer token of an agent, which is also restricted by its policy. */
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
      /** Concerns the installation. Rejected for an operator of single platforms. */
      readonly wholeInstallation?: true;
      /** Requires the approval of a second person, even without a policy. */
      readonly needsApproval?: true;
      /** Order of a list by time. By default lists are newest first. */
      readonly oldestFirst?: true;
      /** Order of a list that is not ordered by the time at which its items were created. */
      readonly listOrder?: (query: Readonly<Record<string, unknown>>) => ListOrder;
      /** Sums over the platforms of the operator, so `platformId` is optional for all operators. */
      readonly sumsPlatforms?: true;
      /** Can post in the ledger, so a policy can have a minimum amount. */
      readonly postsMoney?: true;
      readonly permission?: never;
      readonly sandboxOnly?: never;
      readonly rateClass?: never;
    } & UnsignedRequest)
  | (NoOperator & {
      /**
       * `hosted`: called by a hosted page. The credential is the secret of its link, `{secret}` of the
       * path. The operation is served outside the versioned base and omitted from the document. `none`:
       * no credential. `signIn`: sign-in of an operator, without a credential, served below the base of
       * the operator API.
       */
      readonly auth: 'hosted' | 'none' | 'signIn';
      readonly permission?: never;
      readonly sandboxOnly?: never;
      readonly rateClass?: never;
    } & UnsignedRequest);

interface NoOperator {
  readonly operatorPermission?: never;
  readonly commands?: never;
  readonly reveals?: never;
  readonly wholeInstallation?: never;
  readonly needsApproval?: never;
  readonly oldestFirst?: never;
  readonly listOrder?: never;
  readonly sumsPlatforms?: never;
  readonly postsMoney?: never;
}

export interface ListOrder {
  /** Text by which an item is ordered. */
  keyOf(item: Readonly<Record<string, unknown>>): string;
  isOldestFirst: boolean;
}

/** `quotes`: more expensive than most operations, with a lower limit per platform. */
type RateClass = 'quotes';

/** Options for replies stored under an idempotency key. */
interface StoredReply {
  readonly method: 'POST';
  readonly auth?: 'token' | 'agent' | 'none' | 'operator';
  /** Defaults to `optional` (`idempotencyOf`). */
  readonly idempotency?: 'optional' | 'required';
  /** Top-level fields of the reply that are shown once. A replay of the stored reply omits them. */
  readonly omitOnReplay?: readonly string[];
  /** Stored sealed, because the reply contains personal data or a secret that a replay repeats. */
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
      /** Transfers funds, so another body under the same idempotency key is `DUPLICATE_PAY_REQUEST`. */
      readonly money: true;
      readonly signedRetry?: true;
    })
  | (StoredReply & { readonly money?: never } & UnsignedRequest)
  /** Identified by the ID of the signed request. */
  | (NoStoredReply & { readonly idempotency?: never } & SignedRetry)
  /** Each request has an effect, so no reply is stored. Absent for methods other than POST. */
  | (NoStoredReply & { readonly idempotency?: 'none' } & UnsignedRequest);

interface BodyRules {
  readonly body: TSchema;
  /** Additional validation after the schema. Errors of both are reported in one reply. */
  readonly bodyRules?: (body: unknown) => FieldError[];
}

interface NoBody {
  readonly body?: never;
  readonly bodyRules?: never;
  readonly maxBody?: never;
  readonly upload?: never;
}

/** Input, and whether the operation calls external systems. */
type Payload =
  | (NoBody & { readonly method: 'GET'; readonly bodyOptional?: never } & CallsExternal &
      UnsignedRequest)
  | (NoBody & {
      readonly method: 'POST';
      /** An empty object is the same request as no body. */
      readonly bodyOptional?: boolean;
    } & CallsExternal)
  | (NoBody & {
      readonly method: 'PATCH' | 'PUT' | 'DELETE';
      readonly bodyOptional?: never;
    } & CallsExternal)
  | (Writes & BodyRules & JsonBody & (CallsExternal | SemanticValidation))
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
  /** The body may be absent or empty, which is equal to `{}`. */
  readonly bodyOptional?: boolean;
  /** Defaults to 64 KiB of JSON. The reason is part of the document. */
  readonly maxBody?: { readonly bytes: number; readonly reason: string };
  readonly upload?: never;
}

interface CallsExternal {
  readonly semanticValidation?: never;
  /**
   * Calls external systems while the client waits, so the stored reply is read before the handler runs.
   */
  readonly callsExternal?: boolean;
}

interface SemanticValidation {
  /**
   * Validates fields that depend on the platform or the time. After a violation of the schema the handler
   * runs as well, so that one reply names all invalid fields. The changes of this run are discarded, so the
   * handler must not call external systems.
   */
  readonly semanticValidation: true;
  readonly callsExternal?: never;
}

/** Invalid combinations of flags do not compile. */
export type Contract = ContractBase & Authentication & Replay & Payload;

/**
 * Whether an idempotency key is ignored, accepted or required. The path of a hosted operation
 * contains a secret, which must not become part of a stored key. The reply to a sign-in is a secret.
 * A signed request that transfers no funds is identified by its ID.
 */
export function idempotencyOf(contract: Contract): 'none' | 'optional' | 'required' {
  const { method, auth, idempotency, signedRetry, money } = contract;
  if (method !== 'POST' || auth === 'hosted' || auth === 'signIn') return 'none';
  if (signedRetry && !money) return 'none';
  return idempotency ?? 'optional';
}

/** Default maximum of a JSON body, in bytes. */
export const DEFAULT_MAX_BODY = 65_536;

/** Maximum size of the JSON body of a contract, in bytes. */
export const maxBodyOf = ({ maxBody }: Pick<Contract, 'maxBody'>): number =>
  maxBody?.bytes ?? DEFAULT_MAX_BODY;

type Part<C, K extends string> = C extends Record<K, infer S extends TSchema> ? Static<S> : object;

/** The parts of a request with a schema in the contract. Any object without a known contract. */
export interface Input<C = object> {
  params: Part<C, 'params'>;
  query: Part<C, 'query'>;
  headers: Part<C, 'headers'>;
  body: Part<C, 'body'>;
  /** Aborted when the client disconnects. Present if the operation `waits` or `streams`. */
  disconnect?: AbortSignal | undefined;
}

type Body<S> = S extends TSchema ? Static<S> : undefined;

/** Successful result of a contract. */
export type ResponseBody<C extends Contract> = Body<C['replies'][keyof C['replies']]>;

export interface Reply {
  status: number;
  body: unknown;
  /** The body for replays under an idempotency key, without secrets that are shown once. */
  replayBody?: unknown;
  /** Waiting time of the operation, which is excluded from its latency. */
  idleMs?: number;
  /** Further headers, such as cookies. */
  headers?: ReplyHeaders;
  /** Sent instead of the body if the operation `streams`. */
  stream?: Readable | undefined;
}

export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

/** The stored form of a reply, without the secrets that are shown once. */
export function withoutSecrets({ omitOnReplay }: Contract, body: unknown): unknown {
  if (!omitOnReplay || typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !omitOnReplay.includes(name)));
}

/**
 * A rejection with side effects. The staged changes are committed, and the client receives the fault. A
 * thrown fault discards the staged changes. Nearly all rejections are thrown.
 */
export interface Rejected {
  rejected: Fault;
}

/** A contract with its handler, ready to be bound to a route. */
export interface Bound<Ctx> {
  readonly contract: Contract;
  readonly run: (ctx: Ctx, input: Input) => Promise<Reply | Rejected>;
}

/** Defines a contract and preserves the literal types of its schemas and statuses. */
export const operation = <const C extends Contract>(contract: C): C => contract;

/** Creates the `handle` of a server whose operations use the context `Ctx`. */
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
