// Who calls an operation, and in which mode.
import type { Permission } from './contract/operation.ts';
import type { Mode } from './mode.ts';

/** The caller of an operation: a token of a platform, an agent, or the server on a platform's behalf. */
export interface Caller {
  platformId: string;
  environment: Mode;
  /** Null when the server acts by itself (a job, an operator command). */
  tokenId: string | null;
  permissions: readonly Permission[];
  /** The agent that calls with its own token and within its policy. */
  agentId?: string;
  /** Address that a request without a credential comes from. */
  address?: string;
}
