// The lives of what belongs to a wallet, as tables.
import { stateTable } from '../../kernel/states.ts';

export type CredentialStatus = 'ACTIVE' | 'REVOKED';
export const credentialStates = stateTable<CredentialStatus, 'revoke'>('credential', {
  ACTIVE: { revoke: 'REVOKED' },
  REVOKED: {},
});

/** That a session has run out is told by the clock. */
export type SessionStatus = 'ACTIVE' | 'REVOKED';
export const sessionStates = stateTable<SessionStatus, 'revoke'>('session', {
  ACTIVE: { revoke: 'REVOKED' },
  REVOKED: {},
});

export type RequestStatus = 'PENDING' | 'PROCESSING' | 'SETTLED' | 'DONE' | 'DROPPED';
type RequestEvent = 'accept' | 'settle' | 'deliver' | 'drop';

/** A request to sign. It is delivered once; what goes on for longer is settled without being asked again. */
export const requestStates = stateTable<RequestStatus, RequestEvent>('request to sign', {
  PENDING: { accept: 'PROCESSING', deliver: 'DONE', drop: 'DROPPED' },
  PROCESSING: { settle: 'SETTLED', deliver: 'DONE' },
  SETTLED: { deliver: 'DONE' },
  DONE: {},
  DROPPED: {},
});

export type RecoveryStatus = 'WAITING' | 'DONE' | 'CANCELLED';

/** A way back for somebody who can prove no credential of a wallet. It is over once. */
export const recoveryStates = stateTable<RecoveryStatus, 'finish' | 'cancel'>('wallet recovery', {
  WAITING: { finish: 'DONE', cancel: 'CANCELLED' },
  DONE: {},
  CANCELLED: {},
});
