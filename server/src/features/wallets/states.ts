// Lifecycles of credentials, sessions, signature requests and recoveries.
import { stateTable } from '../../kernel/states.ts';

export type CredentialStatus = 'ACTIVE' | 'REVOKED';
export const credentialStates = stateTable<CredentialStatus, 'revoke'>('credential', {
  ACTIVE: { revoke: 'REVOKED' },
  REVOKED: {},
});

/** Expiry has no state, because `expires_at` is compared with the clock. */
export type SessionStatus = 'ACTIVE' | 'REVOKED';
export const sessionStates = stateTable<SessionStatus, 'revoke'>('session', {
  ACTIVE: { revoke: 'REVOKED' },
  REVOKED: {},
});

export type RequestStatus = 'PENDING' | 'PROCESSING' | 'SETTLED' | 'DONE' | 'DROPPED';
type RequestEvent = 'accept' | 'settle' | 'deliver' | 'drop';

/** A signature request, whose result is delivered once. Background processing ends in SETTLED. */
export const requestStates = stateTable<RequestStatus, RequestEvent>('request to sign', {
  PENDING: { accept: 'PROCESSING', deliver: 'DONE', drop: 'DROPPED' },
  PROCESSING: { settle: 'SETTLED', deliver: 'DONE' },
  SETTLED: { deliver: 'DONE' },
  DONE: {},
  DROPPED: {},
});

export type RecoveryStatus = 'WAITING' | 'DONE' | 'CANCELLED';

/** Account recovery for a user who has lost every credential of a wallet. */
export const recoveryStates = stateTable<RecoveryStatus, 'finish' | 'cancel'>('wallet recovery', {
  WAITING: { finish: 'DONE', cancel: 'CANCELLED' },
  DONE: {},
  CANCELLED: {},
});
