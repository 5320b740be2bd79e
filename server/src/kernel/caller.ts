// The caller of an operation, and its mode.
import type { Permission } from './contract/operation.ts';
import type { OperatorPermission } from './contract/operator-permissions.ts';
import type { Mode } from './mode.ts';

/**
 * The caller of an operation: a token of a platform, an agent, or the server on a platform's
 * behalf.
 */
export interface Caller {
  platformId: string;
  environment: Mode;
  /** Null for the server itself (a job, an operator command). */
  tokenId: string | null;
  /** Display name of the token. */
  tokenName?: string;
  permissions: readonly Permission[];
  /** The agent that calls with its own token and within its policy. */
  agentId?: string;
  /** Until when bodies of its requests are kept in production, by a setting of the operator. */
  requestBodiesUntil?: number | null;
  /** IP address of a request without a credential. */
  address?: string;
  /** Of a request by which an operator signs in. */
  requestId?: string;
  /** The operator that calls an operation of the operator API; `platformId` is then empty. */
  operator?: Operator;
}

/**
 * How an operator is identified: a session of a user, a token, or the machine's command. SYSTEM is the
 * server, for a change that it makes by a rule of operators.
 */
export type OperatorKind = 'USER' | 'TOKEN' | 'COMMAND' | 'SYSTEM';

/** An operator who uses the operator API or the command. */
export interface Operator {
  kind: OperatorKind;
  /** The user, the token, or `command`. */
  id: string;
  /** The user who created a token, directly or by another token, and who cannot approve its requests. */
  personId: string;
  /** Of a user. */
  sessionId?: string;
  name: string;
  roles: readonly string[];
  permissions: readonly OperatorPermission[];
  /** Platforms that it may access; null for all of them. */
  platformIds: readonly string[] | null;
  /** IP address of the request. */
  address?: string;
  requestId?: string;
}
