// Embedded wallets at rest. A wallet is one row beside its internal account, under the same id. What could
// move its money or say who somebody is lies sealed: the seed as its custodian sealed it, everything else
// under the customer's data key. What was signed is written down for good.
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
  /** The id of its internal account. */
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  organization_id: col.text,
  user_id: col.text,
  wallet_id: col.text,
  /** Means something to the custodian alone; null once it was erased. */
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
    type: col.word<CredentialType>(),
    status: col.word<CredentialStatus>().mut,
    /** What no other credential of the account may have; null once it was revoked. */
    uniqueness_key: col.text.null.mut,
    /** Sealed; null for one-time codes, which go by the customer's own contact. */
    nickname: col.text.null.mut,
    /** What its type keeps: JSON, sealed. */
    facts: col.text.null.mut,
    sign_count: col.int8.mut,
    /** Of what a passkey was registered with: no other one of the platform may have it, ever. */
    challenge_hash: col.text.null,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    // Whoever adds one looks first, so this is met by two who added the same in one instant.
    unique: {
      credentials_uniqueness_key: () =>
        new Fault('CONFLICT', 'The wallet has this credential already.'),
      credentials_challenge: () => new Fault('CONFLICT', 'The challenge was used before.'),
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
    status: col.word<SessionStatus>().mut,
    /** Compressed, lower-case hex: what proves the session, and what its client drew for it. */
    public_key: col.text,
    client_key: col.text,
    api_key_id: col.text,
    /** When somebody last proved the credential itself; refreshing does not. */
    authenticated_at: col.time,
    expires_at: col.time,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: sessionStates }] },
);
export type SessionRow = RowOf<typeof walletSessions>;

/** Who may sign what a request asks to be signed. */
export type Signer =
  /** A session of one of these accounts: any, only this one, or any but those of one credential. */
  | { by: 'session'; accounts: readonly string[]; only?: string; except?: string }
  /** Whoever has the private half of this key: compressed, lower-case hex. */
  | { by: 'key'; publicKey: string }
  /** Nobody: it waits for something else than a signature. */
  | { by: 'nobody' };

export const walletRequests = table(
  'wallet_requests',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    /** The operation and what it is asked of: `revokeAuthCredential AuthMethod:...`. */
    subject: col.text,
    status: col.word<RequestStatus>().mut,
    /** The exact text to sign; sealed, like all JSON here. */
    payload: col.text,
    /** The request it was asked with: `{ params, body }`. */
    input: col.text,
    /** What the first leg found out and the second goes on with; empty once it was answered. */
    bound: col.text.mut,
    /** `Signer` as JSON, in clear. */
    signer: col.text,
    /** Signatures that were wrong. */
    wrong: col.int4.mut,
    /** Of the stamp that was accepted. */
    stamp_hash: col.text.null.mut,
    /** How often it is still answered that the work goes on. */
    polls: col.int4.mut,
    reply: col.text.null.mut,
    expires_at: col.time,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: requestStates }] },
);
export type RequestRow = RowOf<typeof walletRequests>;

/** The key that a credential's one-time code is to be encrypted to. */
export const otpTargets = table(
  'otp_targets',
  {
    /** The id of the credential. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    /** What this one code is called, and no other. */
    code_id: col.text.mut,
    target: col.text.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['otp_targets_pkey'] },
);

/** What was signed, by whom and for what. Rows are never changed. */
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
  /** Sealed. */
  payload: col.text,
  created_at: col.time,
});

/** What stopped a recovery. */
export type RecoveryCancelReason =
  | 'OPERATOR'
  /** Somebody proved a credential after all. */
  | 'SIGNED_IN'
  | 'CONTACT_CHANGED'
  /** The account was closed, or its customer deleted or erased. */
  | 'WALLET_GONE'
  | 'CREDENTIAL_THERE'
  /** No message about it reached anybody. */
  | 'NOT_ANNOUNCED'
  | 'SWITCHED_OFF';

export const walletRecoveries = table(
  'wallet_recoveries',
  {
    id: col.text,
    platform_id: col.text,
    account_id: col.text,
    customer_id: col.text,
    type: col.word<'EMAIL_OTP' | 'SMS_OTP'>(),
    status: col.word<RecoveryStatus>().mut,
    /** Keyed hash of the contact as it was when this was asked for; null once it is over. */
    contact_digest: col.text.null.mut,
    /** Who asked for it, and why. */
    actor: col.text,
    reason: col.text,
    cancelled_for: col.word<RecoveryCancelReason>().null.mut,
    cancelled_by: col.text.null.mut,
    due_at: col.time.mut,
    created_at: col.time,
    ended_at: col.time.null.mut,
    version: col.int4,
  },
  {
    // Whoever asks looks first, so this is met by two who asked in one instant: they decide anew.
    contendedKeys: ['wallet_recoveries_waiting'],
    lifecycles: [{ state: (row) => row.status, states: recoveryStates }],
  },
);
export type RecoveryRow = RowOf<typeof walletRecoveries>;
