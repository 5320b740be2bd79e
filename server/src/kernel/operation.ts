// An operation is one value, its contract, and one function. The contract says everything a stranger
// needs (path, fields, statuses, permission) and feeds routing, validation, the OpenAPI document and the
// tests; the operationId is the name of both, in code, logs and metrics.
import type { Static, TSchema } from '@sinclair/typebox';
import type { Code, Fault, FieldError } from './fault.ts';
import type { UploadRules } from './upload.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type Permission = 'VIEW' | 'TRANSACT' | 'MANAGE';
export const PERMISSIONS: readonly Permission[] = ['VIEW', 'TRANSACT', 'MANAGE'];

export interface Contract {
  readonly operationId: string;
  readonly method: Method;
  /** Below the versioned base, parameters in braces: `/quotes/{quoteId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What a token must hold; null for an operation that needs no credential. */
  readonly permission: Permission | null;
  /** Asked by an agent with its bearer token, and by nobody else; its policy says more. */
  readonly forAgents?: boolean;
  /** Refused with 403 to a production credential. */
  readonly sandboxOnly?: boolean;
  readonly deprecated?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** Absent: a JSON body has at most 64 KiB. The reason is part of the document. */
  readonly maxBody?: { readonly bytes: number; readonly reason: string };
  /** The body may be absent or empty, which then reads as `{}`. */
  readonly bodyOptional?: boolean;
  /** The body is multipart/form-data, and its property `file` is a file. */
  readonly upload?: UploadRules;
  /** What the schema cannot say about a body; told in one reply with what the schema says. */
  readonly bodyRules?: (body: unknown) => FieldError[];
  /**
   * It finds bad fields that only the platform or the clock makes bad. Where the schema found some already,
   * the rest of the body is put to it as well, so that one reply names them all. Not for those that `talk`.
   */
  readonly judges?: boolean;
  /** Success status → schema of the reply, null where there is none. */
  readonly replies: Readonly<Record<number, TSchema | null>>;
  /** Error statuses it may answer beside 401 and 500. */
  readonly errors: readonly number[];
  /** What a malformed, unknown or foreign id in the path is answered with. */
  readonly notFound?: Code;
  /** Moves money: a second body under one idempotency key is `DUPLICATE_PAY_REQUEST`. */
  readonly money?: boolean;
  /** Is refused without an idempotency key. */
  readonly keyRequired?: boolean;
  /** Each request is a new one, whatever idempotency key it has: a stored reply would be of no use. */
  readonly keyless?: boolean;
  /** Talks to the outside while the client waits, so a stored reply is looked for before it runs. */
  readonly talks?: boolean;
  /** Costs us more than most, so that a token may ask for it less often. */
  readonly costly?: boolean;
  /** Top-level fields of the reply that are shown once: a replay of the stored reply lacks them. */
  readonly once?: readonly string[];
  /** What it answers is personal, or a secret that a replay shows again: it is stored sealed. */
  readonly sealed?: boolean;
  /**
   * A wallet signs it: the first request is answered 202 with what to sign, and sent again with the two
   * headers. Neither that answer nor a wrong signature is what an idempotency key stands for.
   */
  readonly signedRetry?: boolean;
  /**
   * Asked by a page of ours for whoever has its link. The link's secret, `{secret}` of the path, is the
   * credential. Served beside the versioned base and left out of the document.
   */
  readonly hosted?: boolean;
}

/**
 * Whether an idempotency key means anything to it. The path of a hosted operation holds a secret, which must
 * not become part of a stored key; a request that is signed is told from others by its own id, unless it
 * moves money.
 */
export const takesKey = ({ method, hosted, keyless, signedRetry, money }: Contract): boolean =>
  method === 'POST' && !hosted && !keyless && (!signedRetry || money === true);

/** Bytes of a JSON body, where the contract does not state more. */
export const DEFAULT_MAX_BODY = 65_536;

/** Maximum size of its JSON body. Bytes. */
export const maxBodyOf = ({ maxBody }: Pick<Contract, 'maxBody'>): number =>
  maxBody?.bytes ?? DEFAULT_MAX_BODY;

/** What we send to a platform's endpoint: the events of one kind of resource. */
export interface WebhookContract {
  /** Its name in the document: `outgoing-payment`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Every event type it carries. */
  readonly types: readonly string[];
  /** Schema of `data`: the resource as its GET answers it. */
  readonly data: TSchema;
}

type Part<C, K extends string> = C extends Record<K, infer S extends TSchema> ? Static<S> : object;

export interface Input<C extends Contract = Contract> {
  params: Part<C, 'params'>;
  query: Part<C, 'query'>;
  headers: Part<C, 'headers'>;
  body: Part<C, 'body'>;
}

type Body<S> = S extends TSchema ? Static<S> : undefined;

/** What a contract answers when it is good. */
export type Answered<C extends Contract> = Body<C['replies'][keyof C['replies']]>;

export interface Reply {
  status: number;
  body: unknown;
}

/**
 * A refusal that changes something: what was staged is committed, and then the client gets the fault. A
 * fault that is thrown discards everything instead, which is what nearly all refusals want.
 */
export interface Refused {
  refused: Fault;
}

/** A contract with its function, ready to be bound to a route. */
export interface Bound<Ctx> {
  readonly contract: Contract;
  readonly run: (ctx: Ctx, input: Input) => Promise<Reply | Refused>;
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
    ) => Promise<{ status: S; body: Body<C['replies'][S]> } | Refused>,
  ): Bound<Ctx> => ({ contract, run: run as unknown as Bound<Ctx>['run'] });
