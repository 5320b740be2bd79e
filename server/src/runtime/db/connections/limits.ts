// Limits of connections to the database, which are settings.

export interface ConnectionLimits {
  /** Maximum duration of a statement, which is then canceled. */
  statementTimeoutMs: number;
  /** Maximum time for which a statement waits for a lock. The statement is then canceled. */
  lockTimeoutMs: number;
  /** Approximate age at which a connection is replaced, so that connections follow a changed topology. */
  maxAgeMs: number;
  /** Maximum number of connections for reading. Defaults to 8. */
  poolSize?: number | undefined;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  statementTimeoutMs: 15_000,
  lockTimeoutMs: 3_000,
  maxAgeMs: 1_800_000,
};

/**
 * Maximum connections of one process, without short-lived connections such as those of exports. The
 * pool has 8, the reader 3, the committer 2, the recorder 1, and the readiness check 1.
 */
export const CONNECTIONS_PER_PROCESS = 15;

/**
 * Time in which a connection must respond after its statement timeout. A connection that does not respond
 * has lost its host, or its commit waits for a replica, where the statement timeout does not apply.
 */
export const RESPONSE_MARGIN_MS = 10_000;

/** Limits of a lane of the committer. */
export const laneLimits = (limits: ConnectionLimits = CONNECTION_LIMITS) => ({
  timeoutMs: limits.statementTimeoutMs + RESPONSE_MARGIN_MS,
  maxAgeMs: limits.maxAgeMs,
});

const GOLDEN_RATIO = 0.618_034;
/** Begins with the process ID, so that the sequences of several processes differ. */
let connectionNumber = process.pid;

/**
 * The age at which the next connection is replaced. The age differs for each connection, without
 * randomness.
 */
export function nextLifetime(maxAgeMs: number): number {
  connectionNumber += 1;
  return maxAgeMs * (0.8 + 0.2 * ((connectionNumber * GOLDEN_RATIO) % 1));
}
