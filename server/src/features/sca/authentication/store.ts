// Tables of factors, enrollments, challenges and resets. A customer has at most one factor of a type and one
// pending challenge for an action.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Purpose, ScaFactorName } from './contract.ts';
import { type ChallengeStatus, challengeStates, type ResetStatus, resetStates } from './states.ts';

/** Enrolled factors. SMS_OTP has no row, because the verified phone number implies it. */
export const scaFactors = table(
  'sca_factors',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    type: col.enum<'TOTP' | 'PASSKEY'>(),
    /** Encrypted with the customer's data key. */
    facts: col.text.mut,
    /** Signature counter of a passkey, or the last used time step of TOTP. */
    sign_count: col.int8.mut,
    /** Keyed hashes of the unused recovery codes. */
    recovery: col.json<string[]>().mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['sca_factors_one'] },
);

export const scaEnrollments = table(
  'sca_enrollments',
  {
    /** `<customer ID> <factor type>`. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    facts: col.text.mut,
    wrong: col.int4.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['sca_enrollments_pkey'] },
);

export type ChallengeKind = 'LOGIN' | 'PAYMENT' | 'TRUST' | 'UNTRUST';

export const scaChallenges = table(
  'sca_challenges',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    kind: col.enum<ChallengeKind>(),
    subject: col.text,
    factor: col.enum<ScaFactorName>(),
    purpose: col.enum<Purpose>().null,
    /** Purposes of the following challenges, in order. */
    steps: col.json<Purpose[]>(),
    status: col.enum<ChallengeStatus>().mut,
    nonce: col.text,
    wrong: col.int4.mut,
    expires_at: col.time,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    contendedKeys: ['sca_challenges_pending'],
    lifecycles: [{ state: (row) => row.status, states: challengeStates }],
  },
);

export const scaResets = table(
  'sca_resets',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    factor: col.enum<ScaFactorName>(),
    status: col.enum<ResetStatus>().mut,
    enrollment: col.enum<'PENDING' | 'COMPLETED'>().null.mut,
    token_hash: col.text.null.mut,
    polls: col.int4.mut,
    expires_at: col.time.mut,
    completed_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: resetStates }] },
);

export type FactorRow = RowOf<typeof scaFactors>;
export type EnrollmentRow = RowOf<typeof scaEnrollments>;
export type ChallengeRow = RowOf<typeof scaChallenges>;
export type ResetRow = RowOf<typeof scaResets>;
