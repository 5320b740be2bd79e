// The caller of an operation and the mode of its platform.
import type { Permission } from './contract/operation.ts';
import type { OperatorPermission } from './contract/operator-permissions.ts';
import type { Mode } from './mode.ts';

/** The caller of an operation: a token of a platform, an agent, or the server for a platform. */
export interface Caller {
  platformId: string;
  environment: Mode;
  /** Null for the server (a job, an operator command). */
  tokenId: string | null;
  /** Display name of the token. */
  tokenName?: string;
  permissions: readonly Permission[];
  /** The agent, which calls with an agent token within its policy. */
  agentId?: string;
  /** Time until which bodies of its production requests are recorded, set by the operator. */
  requestBodiesUntil?: number | null;
  /** IP address of a request without a credential. */
  address?: string;
  /** ID of a request by which an operator signs in. */
  requestId?: string;
  /** The operator of an operation of the operator API. `platformId` is then empty. */
  operator?: Operator;
}

/**
 * Kind of identification: a session of a user, a token, or the command on the machine. SYSTEM is the
 * server, for an automatic change by a rule of the operators.
 */
export type OperatorKind = 'USER' | 'TOKEN' | 'COMMAND' | 'SYSTEM';

/** An operator who uses the operator API or the command. */
export interface Operator {
  kind: OperatorKind;
  /** ID of the user or of the token, or `command`. */
  id: string;
  /**
   * The person who is compared for approvals. For a token, the user who created it, directly or by another
   * token.
   */
  personId: string;
  /** Session of a user. */
  sessionId?: string;
  name: string;
  roles: readonly string[];
  permissions: readonly OperatorPermission[];
  /** Accessible platforms, or null for all. */
  platformIds: readonly string[] | null;
  /** IP address of the request. */
  address?: string;
  requestId?: string;
}
