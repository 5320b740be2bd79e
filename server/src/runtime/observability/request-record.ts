// The record of a completed request, with the fields of its log line and of its row. The record
// contains no values of the request except IDs, the token name and the address. Bodies are passed
// separately from the record and are masked before they are stored.
import type { Caller } from '../../kernel/caller.ts';
import type { Contract } from '../../kernel/contract/operation.ts';
import type { Time } from '../../kernel/effects.ts';

/** Credential of a request: an API token, an agent's token, the link of a hosted page, or none. */
export type CallerType = 'TOKEN' | 'AGENT' | 'LINK' | 'NONE';

/** Operation IDs of requests with an unknown path or a wrong method. */
export const UNKNOWN_PATH = 'unknownPath';
export const UNSUPPORTED_METHOD = 'unsupportedMethod';

export interface RequestRecord {
  /** The value of `X-Request-Id`, a version 7 UUID whose time is `createdAt`. */
  requestId: string;
  createdAt: Time;
  /** Empty without a valid credential of a platform. */
  platformId: string;
  operationId: string;
  method: string;
  /** Template of the path, with parameters in braces. */
  path: string;
  status: number;
  ms: number;
  /** Code of an error reply, under its neutral name (`Naming`). */
  errorCode: string | undefined;
  callerType: CallerType;
  tokenId: string | undefined;
  tokenName: string | undefined;
  agentId: string | undefined;
  /**
   * IP address of a request with an API token. Absent for other requests, which may be from a person's
   * device.
   */
  address: string | undefined;
  /** Keyed hash of the idempotency key. */
  idempotencyKeyHash: string | undefined;
  isReplayed: boolean;
  /** The created or affected resource, or undefined for a successful read. */
  resourceId: string | undefined;
}

/** A completed request with the data that a recorder may store after masking. */
export interface CompletedRequest {
  record: RequestRecord;
  contract: Contract;
  caller: Caller;
  params: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  /** JSON body. Undefined if there was none or it was not read. */
  body: unknown;
  reply: unknown;
}

/** Receives each completed request of a platform. Never waits, and never throws. */
export type RecordRequest = (request: CompletedRequest) => void;
