// What is recorded of an answered request: the fields of its log line, and of its row if a platform
// sent it. The values of a request are not among them; bodies are passed beside the record and are
// masked before they are stored.
import type { Caller } from '../../kernel/caller.ts';
import type { Contract } from '../../kernel/contract/operation.ts';
import type { Time } from '../../kernel/effects.ts';

/** Credential of a request: an API token, an agent's token, the link of a hosted page, or none. */
export type CallerType = 'TOKEN' | 'AGENT' | 'LINK' | 'NONE';

/** Instead of an operation, of requests of an unknown path and with a wrong method. */
export const UNKNOWN_PATH = 'unknownPath';
export const UNSUPPORTED_METHOD = 'unsupportedMethod';

export interface RequestRecord {
  /** As `X-Request-Id`: a version 7 uuid, whose time is `createdAt`. */
  requestId: string;
  createdAt: Time;
  /** Empty without a valid credential. */
  platformId: string;
  operationId: string;
  method: string;
  /** Template of the path: parameters stay in braces. */
  path: string;
  status: number;
  ms: number;
  /** Neutral code of an error reply. */
  errorCode: string | undefined;
  callerType: CallerType;
  tokenId: string | undefined;
  tokenName: string | undefined;
  agentId: string | undefined;
  /** IP address of a request with an API token; others may come from a person's device. */
  address: string | undefined;
  /** Keyed hash of the idempotency key. */
  idempotencyKeyHash: string | undefined;
  isReplayed: boolean;
  /** The created or affected resource; undefined for a successful read. */
  resourceId: string | undefined;
}

/** A request with what a recorder may keep of it after masking. */
export interface AnsweredRequest {
  record: RequestRecord;
  contract: Contract;
  caller: Caller;
  params: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  /** JSON body; undefined if there was none, or it was not read. */
  body: unknown;
  reply: unknown;
}

/** Receives each answered request of a platform. Never waits, and never throws. */
export type RecordRequest = (request: AnsweredRequest) => void;
