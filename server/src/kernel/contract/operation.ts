// An operation is one value, its contract, and one function. The contract says everything a client
// needs (path, fields, statuses, permission) and feeds routing, validation, the OpenAPI document and the
// tests; the operationId is the name of both, in code, logs and metrics.
import type { Static, TSchema } from '@sinclair/typebox';
import type { Code, Fault, FieldError } from '../fault.ts';
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
  /** Success status → schema of the reply, null where there is none. */
  readonly replies: Readonly<Record<number, TSchema | null>>;
  /**
   * Error codes it may answer, beside `notFound` and those of every operation of its kind
   * (`http/operation-errors.ts`).
   */
  readonly errors: readonly Code[];
  /** What a malformed, unknown or foreign id in the path is answered with. */
  readonly notFound?: Code;
}

/**
 * A wallet signs it: the first request is answered 202 with what to sign, and sent again with the two
 * headers. Neither that answer nor a wrong signature is stored under an idempotency key.
 */
interface SignedRetry {
  readonly signedRetry: true;
}

interface Unsigned {
  readonly signedRetry?: never;
}

/** Whose credential it takes. There is a permission exactly where a token or an agent asks. */
type Authentication =
  | {
      readonly auth?: 'token';
      readonly permission: Permission;
      /** Rejected with 403 for a production credential. */
      readonly sandboxOnly?: boolean;
      /** The limit its requests count against, beside that of all requests. */
      readonly rateClass?: RateClass;
    }
  | {
      /** The bearer token of an agent; its policy states more. */
      readonly auth: 'agent';
      readonly permission: Permission;
      readonly sandboxOnly?: never;
      readonly rateClass?: RateClass;
    }
  | ({
      /**
       * `hosted`: asked by a page of ours. The secret of its link, `{secret}` of the path, is the credential;
       * it is served beside the versioned base and left out of the document. `none`: no credential.
       */
      readonly auth: 'hosted' | 'none';
      readonly permission?: never;
      readonly sandboxOnly?: never;
      readonly rateClass?: never;
    } & Unsigned);

/** `quotes`: costs more than most, so that a token may ask for it less often. */
type RateClass = 'quotes';

/** What is stored under an idempotency key can be sealed or shortened. */
interface StoredReply {
  readonly method: 'POST';
  readonly auth?: 'token' | 'agent' | 'none';
  /** Absent: `optional`; see `idempotencyOf`. */
  readonly idempotency?: 'optional' | 'required';
  /** Top-level fields of the reply that are shown once: a replay of the stored reply lacks them. */
  readonly omitOnReplay?: readonly string[];
  /** The reply is personal, or has a secret that a replay shows again: it is stored sealed. */
  readonly sealed?: boolean;
}

interface NoStoredReply {
  readonly money?: never;
  readonly omitOnReplay?: never;
  readonly sealed?: never;
}

/** What an idempotency key means. */
type Replay =
  | (StoredReply & {
      /** Moves money: a second body under one idempotency key is `DUPLICATE_PAY_REQUEST`. */
      readonly money: true;
      readonly signedRetry?: true;
    })
  | (StoredReply & { readonly money?: never } & Unsigned)
  /** The id of the signed request identifies it. */
  | (NoStoredReply & { readonly idempotency?: never } & SignedRetry)
  /** Each request is a new one: a stored reply would be of no use. Absent where it is no POST. */
  | (NoStoredReply & { readonly idempotency?: 'none' } & Unsigned);

interface BodyRules {
  readonly body: TSchema;
  /** What the schema cannot say about a body; reported in one reply with what the schema says. */
  readonly bodyRules?: (body: unknown) => FieldError[];
}

interface NoBody {
  readonly body?: never;
  readonly bodyRules?: never;
  readonly maxBody?: never;
  readonly upload?: never;
}

/** What it reads, and whether it waits for the outside. */
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
  /** The body may be absent or empty, which then reads as `{}`. */
  readonly bodyOptional?: boolean;
  /** Absent: a JSON body has at most 64 KiB. The reason is part of the document. */
  readonly maxBody?: { readonly bytes: number; readonly reason: string };
  readonly upload?: never;
}

interface CallsExternal {
  readonly semanticValidation?: never;
  /** Calls the outside while the client waits, so a stored reply is looked for before it runs. */
  readonly callsExternal?: boolean;
}

interface ValidatesMeaning {
  /**
   * It finds bad fields that only the platform or the clock makes bad. Where the schema found some already,
   * the rest of the body is validated as well, so that one reply names them all. That run is discarded, so
   * it must not call the outside.
   */
  readonly semanticValidation: true;
  readonly callsExternal?: never;
}

/** Combinations of flags that mean nothing do not compile. */
export type Contract = ContractBase & Authentication & Replay & Payload;

/**
 * Whether an idempotency key is ignored, accepted or required. The path of a hosted operation holds a secret,
 * which must not become part of a stored key; a signed request has an id of its own, which identifies it
 * unless it moves money.
 */
export function idempotencyOf(contract: Contract): 'none' | 'optional' | 'required' {
  const { method, auth, idempotency, signedRetry, money } = contract;
  if (method !== 'POST' || auth === 'hosted' || (signedRetry && !money)) return 'none';
  return idempotency ?? 'optional';
}

/** Bytes of a JSON body, where the contract does not state more. */
export const DEFAULT_MAX_BODY = 65_536;

/** Maximum size of its JSON body. Bytes. */
export const maxBodyOf = ({ maxBody }: Pick<Contract, 'maxBody'>): number =>
  maxBody?.bytes ?? DEFAULT_MAX_BODY;

type Part<C, K extends string> = C extends Record<K, infer S extends TSchema> ? Static<S> : object;

/** The parts of a request that a contract has a schema for; of an unknown contract, any. */
export interface Input<C = object> {
  params: Part<C, 'params'>;
  query: Part<C, 'query'>;
  headers: Part<C, 'headers'>;
  body: Part<C, 'body'>;
}

type Body<S> = S extends TSchema ? Static<S> : undefined;

/** What a contract answers when it is good. */
export type ResponseBody<C extends Contract> = Body<C['replies'][keyof C['replies']]>;

export interface Reply {
  status: number;
  body: unknown;
}

/**
 * A refusal that changes something: what was staged is committed, and then the client gets the fault. A
 * fault that is thrown discards everything instead, which is what nearly all refusals want.
 */
export interface Rejected {
  rejected: Fault;
}

/** A contract with its function, ready to be bound to a route. */
export interface Bound<Ctx> {
  readonly contract: Contract;
  readonly run: (ctx: Ctx, input: Input) => Promise<Reply | Rejected>;
}

/** States a contract; the literal types of its schemas and statuses are kept. */
export const operation = <const C extends Contract>(contract: C): C => contract;

/** Makes the `handle` of a server whose operations take `Ctx`. */
export const handler =
  <Ctx>() =>
  // `S` stands by itself because a literal status would widen to number inside a mapped type of `C`.
  <C extends Contract, S extends keyof C['replies'] & number>(
    contract: C,
    run: (
      ctx: Ctx,
      input: Input<C>,
    ) => Promise<{ status: S; body: Body<C['replies'][S]> } | Rejected>,
    // The route has checked the input against this contract.
  ): Bound<Ctx> => ({ contract, run: run as Bound<Ctx>['run'] });
