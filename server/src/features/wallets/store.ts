// Tables of embedded wallets. The custodian encrypts the seed. Personal data and payloads are
// encrypted with the customer's data key. Signatures are stored permanently.
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import {
  type CredentialStatus,
  credentialStates,
  type RecoveryStatus,
  type RequestStatus,
  recoveryStates,
  requestStates,
  type SessionStatus,
  sessionStates,
} from './states.ts';

export const CREDENTIAL_TYPES = ['OAUTH', 'EMAIL_OTP', 'SMS_OTP', 'PASSKEY'] as const;
export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

export const wallets = table('wallets', {
  /** ID of the internal account. */
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  organization_id: col.text,
  user_id: col.text,
  wallet_id: col.text,
  /** Opaque, encrypted by the custodian, or null after an erasure. */
  seed: col.text.null.mut,
  created_at: col.time,
  version: col.int4,
});
export type WalletRow = RowOf<typeof wallets>;

export const credentials = table(
  'credentials',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    type: col.enum<CredentialType>(),
    status: col.enum<CredentialStatus>().mut,
    /** Unique in the account, or null after revocation. */
    uniqueness_key: col.text.null.mut,
    /** Encrypted, or null for one-time codes, which use the contact of the customer. */
    nickname: col.text.null.mut,
    /** Data of the credential type as encrypted JSON. */
    facts: col.text.null.mut,
    sign_count: col.int8.mut,
    /** Hash of the registration challenge of a passkey. Unique in the platform, permanently. */
    challenge_hash: col.text.null,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    // Callers check first, so these faults occur for concurrent requests only.
    unique: {
      credentials_uniqueness_key: () =>
        new Fault('CONFLICT', 'The wallet already has this credential.'),
      credentials_challenge: () => new Fault('CONFLICT', 'The challenge was already used.'),
    },
    contendedKeys: ['credentials_uniqueness_key', 'credentials_challenge'],
    lifecycles: [{ state: (row) => row.status, states: credentialStates }],
  },
);
export type CredentialRow = RowOf<typeof credentials>;

export const walletSessions = table(
  'wallet_sessions',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    credential_id: col.text,
    status: col.enum<SessionStatus>().mut,
    /** Compressed, lower-case hex: the key of the session, and the key that the client sent. */
    public_key: col.text,
    client_key: col.text,
    api_key_id: col.text,
    /** Time of the last verification of the credential. A refresh does not change it. */
    authenticated_at: col.time,
    expires_at: col.time,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: sessionStates }] },
);
export type SessionRow = RowOf<typeof walletSessions>;

/** Permitted signers of a request. */
export type Signer =
  /**
   * A session of these accounts: any session, only the session `only`, or any session except the
   * sessions of the credential `except`.
   */
  | { by: 'session'; accounts: readonly string[]; only?: string; except?: string }
  /** The holder of this private key. `publicKey` is compressed, lower-case hex. */
  | { by: 'key'; publicKey: string }
  /** No signer, because the request awaits a passkey assertion. */
  | { by: 'nobody' };

export const walletRequests = table(
  'wallet_requests',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    /** Operation and resource: `revokeAuthCredential AuthMethod:...`. */
    subject: col.text,
    status: col.enum<RequestStatus>().mut,
    /** The exact text to sign. Encrypted, like all JSON in this table except `signer`. */
    payload: col.text,
    /** The first request: `{ params, body }`. */
    input: col.text,
    /** Data that the first request passes to the retry. Empty after delivery. */
    bound: col.text.mut,
    /** `Signer` as JSON, unencrypted. */
    signer: col.text,
    /** Number of invalid signatures. */
    wrong: col.int4.mut,
    /** Hash of the accepted stamp. */
    stamp_hash: col.text.null.mut,
    /** Remaining PROCESSING replies. */
    polls: col.int4.mut,
    reply: col.text.null.mut,
    expires_at: col.time,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: requestStates }] },
);
export type RequestRow = RowOf<typeof walletRequests>;

/** Encryption key for the one-time code of a credential. */
export const otpTargets = table(
  'otp_targets',
  {
    /** ID of the credential. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    /** Unique ID of the code. */
    code_id: col.text.mut,
    target: col.text.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['otp_targets_pkey'] },
);

/** Accepted signatures. Append-only. */
export const walletAuthorizations = table('wallet_authorizations', {
  id: col.text,
  platform_id: col.text,
  account_id: col.text,
  customer_id: col.text,
  operation: col.text,
  subject: col.text,
  session_id: col.text.null,
  public_key: col.text,
  stamp: col.text,
  /** Encrypted. */
  payload: col.text,
  created_at: col.time,
});

/** Reasons for the cancellation of a recovery. */
export type RecoveryCancelReason =
  | 'OPERATOR'
  /** A credential of the wallet was verified. */
  | 'SIGNED_IN'
  | 'CONTACT_CHANGED'
  /** The account was closed, or its customer deleted or erased. */
  | 'WALLET_GONE'
  | 'CREDENTIAL_THERE'
  /** No announcement could be sent. */
  | 'NOT_ANNOUNCED'
  | 'SWITCHED_OFF';

export const walletRecoveries = table(
  'wallet_recoveries',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    type: col.enum<'EMAIL_OTP' | 'SMS_OTP'>(),
    status: col.enum<RecoveryStatus>().mut,
    /**
     * Keyed hash of the contact at the time of the request, or null after completion or
     * cancellation.
     */
    contact_digest: col.text.null.mut,
    /** Requester and reason. */
    actor: col.text,
    reason: col.text,
    cancelled_for: col.enum<RecoveryCancelReason>().null.mut,
    cancelled_by: col.text.null.mut,
    due_at: col.time.mut,
    created_at: col.time,
    ended_at: col.time.null.mut,
    version: col.int4,
  },
  {
    // Callers check first. Concurrent requests are retried.
    contendedKeys: ['wallet_recoveries_waiting'],
    lifecycles: [{ state: (row) => row.status, states: recoveryStates }],
  },
);
export type RecoveryRow = RowOf<typeof walletRecoveries>;
