// The caller of an operation and the mode of its platform.
import type { Permission } from './contract/operation.ts';
import type { OperatorPermission } from './contract/operator-permissions.ts';
import type { Mode } from './mode.ts';

/**
 * The caller of an operation: a token or link of a platform, an agent, an operator, or a client
 * without a credential. The server can also be the caller, on behalf of a platform.
 */
export interface Caller {
  platformId: string;
  environment: Mode;
  /**
   * ID of the token, link or operator. Null for the server, an agent and a client without a
   * credential.
   */
  tokenId: string | null;
  /** Display name of the token. */
  tokenName?: string;
  permissions: readonly Permission[];
  /** The agent, which calls with an agent token within its policy. */
  agentId?: string;
  /** Time until which bodies of production requests of the platform are recorded. */
  requestBodiesUntil?: number | null;
  /** IP address of a request without a credential. For IPv6, its /64 network. */
  address?: string;
  /** ID of a request without a credential, such as the sign-in of an operator. */
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
  /** ID of the user or of the token, or `command` or `system`. */
  id: string;
  /**
   * The person who is compared for approvals. For a token, the user who created it, directly or by another
   * token. A token that the command created has its own ID.
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
