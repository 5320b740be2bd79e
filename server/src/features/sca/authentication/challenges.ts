// SCA challenges: each authorizes one action with one factor, for a short time and a limited number
// of failed attempts. Failed attempts also count toward the lockout. The caller passes the same
// binding at the creation and at the proof. The proof of a payment is therefore valid for one
// amount and payee (dynamic linking).

import { createHash } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { canonical } from '../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { type AttemptRule, countAttempt } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type CustomerRow, requireCustomer } from '../../customers/records/index.ts';
import {
  type CodePurpose,
  issueCode,
  revokeCode,
  verifyCode,
} from '../../notifications/codes/index.ts';
import { canSend, scaCodeText, sendMessage } from '../../notifications/messages/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { recordScaEvent, type ScaEventDetails, type ScaEventType } from '../events/index.ts';
import { checkLock, recordScaFailure } from '../lockout/index.ts';
import type { Purpose, ScaChallenge, ScaFactorName } from './contract.ts';
import type { ScaDeps } from './deps.ts';
import {
  assertionOptions,
  enrolledFactors,
  isSandbox,
  normalizedCode,
  SANDBOX_CODE,
  verifyAssertion,
  verifyTotp,
} from './factors/factors.ts';
import { challengeStates } from './states.ts';
import { type ChallengeKind, type ChallengeRow, scaChallenges } from './store.ts';

export interface ScaParty {
  customer: CustomerRow;
  platform: PlatformRow;
}

/** The action that a challenge authorizes. The action must be identical at the creation and at the proof. */
export interface ScaAction {
  kind: ChallengeKind;
  /** The customer, the quote or the external account. */
  subject: string;
  /** Canonical text of all data that the proof is bound to. */
  binding: string;
}

interface ChallengeRequest extends ScaAction {
  /** Requested factor. Defaults to the first enrolled and accepted factor of `PREFERRED_FACTORS`. */
  factor: ScaFactorName | undefined;
  /** Request field with the factor, for error messages. */
  field: string;
  /** Description of the action in the message with the code: `100.00 EUR to DE89...`. */
  description?: string;
  /** Purposes of this step and the following steps of a payment. */
  steps?: readonly Purpose[];
  /** Latest expiry. */
  until?: Time;
}

/** A code, or an assertion with its origin. */
export interface Proof {
  code?: string | null;
  passkeyAssertion?: object | null;
  origin?: string | null;
}

const MINUTE_MS = 60_000;

/** Validity of a challenge by factor. */
const VALIDITY_MS: Record<ScaFactorName, number> = {
  SMS_OTP: 5 * MINUTE_MS,
  TOTP: 10 * MINUTE_MS,
  PASSKEY: 10 * MINUTE_MS,
};

const MAX_FAILED_ATTEMPTS = 5;
const CODE_LENGTH = 6;
const RESEND_AFTER_MS = 30_000;

/**
 * Limits of the challenge codes that a customer receives by SMS, for all actions together. Each
 * code has a cost and can be guessed.
 */
const SMS_LIMITS: Record<Mode, readonly AttemptRule[]> = {
  production: [{ max: 10, withinMs: 15 * MINUTE_MS }],
  sandbox: [{ max: 60, withinMs: MINUTE_MS }],
};

const EVENTS: Record<ChallengeKind, { success: ScaEventType; failure: ScaEventType }> = {
  LOGIN: { success: 'LOGIN', failure: 'LOGIN_FAILED' },
  PAYMENT: { success: 'AUTHORIZED', failure: 'AUTHORIZE_FAILED' },
  TRUST: { success: 'TRUSTED', failure: 'TRUST_FAILED' },
  UNTRUST: { success: 'UNTRUSTED', failure: 'UNTRUST_FAILED' },
};

/** A TOTP code cannot be bound to one payment, so it is not accepted for payments. */
const isAccepted = (kind: ChallengeKind, factor: ScaFactorName) =>
  kind !== 'PAYMENT' || factor !== 'TOTP';

/** Default factors, in order. */
const PREFERRED_FACTORS: readonly ScaFactorName[] = ['SMS_OTP', 'PASSKEY', 'TOTP'];

/** The WebAuthn challenge that a passkey signs, bound to the data of the action. */
const signedText = ({ nonce }: ChallengeRow, { binding }: ScaAction): string =>
  createHash('sha256').update(`${nonce}\n${binding}`).digest('base64url');

const codeId = (challengeId: string) => `sca ${challengeId}`;

function purposeOf(
  ctx: Ctx,
  row: ChallengeRow,
  action: ScaAction,
  phone: string | null,
): CodePurpose {
  const validityMs = row.expires_at - ctx.now;
  return {
    id: codeId(row.id),
    binding: canonical([action.binding, phone]),
    rules: {
      length: CODE_LENGTH,
      validityMs,
      maxAttempts: MAX_FAILED_ATTEMPTS,
      resendAfterMs: RESEND_AFTER_MS,
    },
    fixedCode: isSandbox(ctx) ? SANDBOX_CODE : undefined,
  };
}

/** Stages a code for the challenge and its message. */
async function sendCode(
  ctx: Ctx,
  { connectors }: ScaDeps,
  { customer, platform }: ScaParty,
  row: ChallengeRow,
  { action, description }: { action: ScaAction; description?: string | undefined },
): Promise<void> {
  const { environment } = ctx.caller;
  if (!canSend(connectors(environment), 'SMS', environment)) {
    throw new Fault('NOT_IMPLEMENTED', 'Text messages are not available. Use another factor.');
  }
  const { phone } = customer;
  if (phone === null) {
    throw new Fault('CONFLICT', 'The customer has no phone number. Add a phone number first.');
  }
  const code = await issueCode(ctx, purposeOf(ctx, row, action, phone));
  await countAttempt(ctx, `sca sms ${customer.id}`, SMS_LIMITS[environment]);
  // After a concurrent change of the phone number, the operation is retried.
  requireCustomer(ctx, customer);
  sendMessage(ctx, {
    channel: 'SMS',
    to: phone,
    kind: 'SCA_CODE',
    customer,
    expiresAt: row.expires_at,
    ...scaCodeText(platform.name, code, row.expires_at - ctx.now, description),
  });
}

/** INVALID_INPUT for a factor that the customer has not enrolled. */
export const notEnrolledFault = (field: string, factor: ScaFactorName): Fault =>
  factor === 'SMS_OTP'
    ? invalidField(field, 'SMS_OTP requires a verified phone number of the customer')
    : invalidField(
        field,
        `the customer has not enrolled ${factor}. Enroll it with \`startScaFactorEnrollment\``,
      );

/** Throws INVALID_INPUT for `field` if the customer has not enrolled the factor. */
export async function checkEnrolled(
  ctx: Ctx,
  customer: CustomerRow,
  factor: ScaFactorName,
  field: string,
): Promise<void> {
  if ((await enrolledFactors(ctx, customer)).includes(factor)) return;
  throw notEnrolledFault(field, factor);
}

/** The factor of the challenge. Throws INVALID_INPUT if it is not enrolled or not accepted. */
async function factorFor(
  ctx: Ctx,
  customer: CustomerRow,
  { kind, factor, field }: ChallengeRequest,
): Promise<ScaFactorName> {
  if (factor === undefined) {
    const enrolledTypes = await enrolledFactors(ctx, customer);
    const preferredFactor = PREFERRED_FACTORS.find(
      (each) => isAccepted(kind, each) && enrolledTypes.includes(each),
    );
    if (preferredFactor) return preferredFactor;
    throw invalidField(
      field,
      'the customer has no enrolled factor for this action. Verify a phone number, or enroll a ' +
        'factor with `startScaFactorEnrollment`',
    );
  }
  if (!isAccepted(kind, factor)) {
    throw invalidField(field, `${factor} cannot authorize a payment. Use SMS_OTP or PASSKEY`);
  }
  await checkEnrolled(ctx, customer, factor, field);
  return factor;
}

/** Closes the pending challenge for the same action, if any. */
async function supersede(ctx: Ctx, { kind, subject }: ScaAction): Promise<void> {
  const challengeBefore = await findPendingChallenge(ctx, kind, subject);
  if (!challengeBefore) return;
  closeChallenge(
    ctx,
    challengeBefore,
    ctx.now >= challengeBefore.expires_at ? 'expire' : 'replace',
  );
  await revokeCode(ctx, codeId(challengeBefore.id));
}

/**
 * Stages a challenge and sends the code for SMS_OTP. A pending challenge for the same action is
 * replaced. Throws INVALID_INPUT for a factor that is not enrolled or not accepted, RATE_LIMITED
 * after too many codes, and NOT_IMPLEMENTED without an SMS provider.
 */
export async function openChallenge(
  ctx: Ctx,
  deps: ScaDeps,
  party: ScaParty,
  request: ChallengeRequest,
): Promise<ChallengeRow> {
  const { kind, subject, steps = [], until = Number.POSITIVE_INFINITY } = request;
  const factor = await factorFor(ctx, party.customer, request);
  await supersede(ctx, request);
  const [purpose = null, ...remainingSteps] = steps;
  const row = ctx.insert(scaChallenges, {
    id: ctx.id('ScaChallenge'),
    platform_id: party.platform.id,
    customer_id: party.customer.id,
    kind,
    subject,
    factor,
    purpose,
    steps: remainingSteps,
    status: 'PENDING',
    nonce: Buffer.from(ctx.effects.random(16)).toString('base64url'),
    wrong: 0,
    expires_at: Math.min(ctx.now + VALIDITY_MS[factor], until),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  if (factor === 'SMS_OTP')
    await sendCode(ctx, deps, party, row, { action: request, description: request.description });
  return row;
}

/** The pending challenge for this action, including staged changes and challenges that have expired. */
export async function findPendingChallenge(
  ctx: Ctx,
  kind: ChallengeKind,
  subject: string,
): Promise<ChallengeRow | undefined> {
  const isChallengeChange = ({ table }: { table: unknown }) => table === scaChallenges;
  const openedChallenge = ctx.set.inserts
    .filter(isChallengeChange)
    .map(({ row }) => row as ChallengeRow)
    .find((row) => row.kind === kind && row.subject === subject);
  if (openedChallenge) return openedChallenge;
  const [row] = await ctx.db.find(scaChallenges, { kind, subject, status: 'PENDING' });
  const stagedRow = ctx.set.updates.filter(isChallengeChange).find(({ id }) => id === row?.id)?.row;
  return stagedRow && stagedRow.status !== 'PENDING' ? undefined : row;
}

/** WebAuthn request options for this challenge. */
export const passkeyRequestFor = (
  ctx: Ctx,
  { customer }: ScaParty,
  row: ChallengeRow,
  action: ScaAction,
) => assertionOptions(ctx, customer, signedText(row, action));

/** The resource `ScaChallenge`. `action` is the same as at creation. */
export async function presentChallenge(
  ctx: Ctx,
  party: ScaParty,
  row: ChallengeRow,
  action: ScaAction,
): Promise<Static<typeof ScaChallenge>> {
  const { id, kind, factor, purpose } = row;
  const enrolledTypes = await enrolledFactors(ctx, party.customer);
  const view = {
    id,
    expiresAt: iso(row.expires_at),
    factor,
    availableFactors: enrolledTypes.filter((each) => isAccepted(kind, each)),
    ...(purpose === null ? {} : { purpose }),
  };
  if (factor !== 'PASSKEY') return view;
  const { options, allowedOrigins } = await passkeyRequestFor(ctx, party, row, action);
  // The enrollment of the passkey has already returned the origins.
  const origins = kind === 'PAYMENT' ? {} : { passkeyAllowedOrigins: allowedOrigins };
  return { ...view, passkeyAssertionOptions: options, ...origins };
}

/** Request field of the proof, for error messages. */
const proofField = (factor: ScaFactorName) =>
  factor === 'PASSKEY' ? ('passkeyAssertion' as const) : ('code' as const);

/** Errors in the form of a proof for this factor. */
export function proofErrors(
  factor: ScaFactorName,
  { code, passkeyAssertion, origin }: Proof,
): FieldError[] {
  const isSigned = factor === 'PASSKEY';
  const requirement = isSigned ? 'PASSKEY requires an assertion' : `${factor} requires a code`;
  const errors: FieldError[] = [];
  const check = (field: keyof Proof, value: unknown, isExpected: boolean) => {
    const isPresent = value !== undefined && value !== null && value !== '';
    if (isExpected && !isPresent) errors.push({ field, message: 'is required' });
    if (!isExpected && isPresent)
      errors.push({ field, message: `must be absent, because ${requirement}` });
  };
  check('code', code, !isSigned);
  check('passkeyAssertion', passkeyAssertion, isSigned);
  if (isSigned) check('origin', origin, true);
  return errors;
}

/** Stages a failed attempt and returns the rejection. */
export async function rejectProof(
  ctx: Ctx,
  customer: CustomerRow,
  type: ScaEventType,
  facts: ScaEventDetails & { factor: ScaFactorName },
): Promise<Rejected> {
  await recordScaFailure(ctx, customer.id);
  recordScaEvent(ctx, customer, type, facts);
  return { rejected: invalidField(proofField(facts.factor), 'is incorrect') };
}

function closeChallenge(
  ctx: Ctx,
  row: ChallengeRow,
  event: 'satisfy' | 'replace' | 'expire',
): void {
  const status = challengeStates.next(row.status, event);
  ctx.update(scaChallenges, row, { status, updated_at: ctx.now });
}

function checkAttemptsLeft(ctx: Ctx, row: ChallengeRow): void {
  if (row.wrong < MAX_FAILED_ATTEMPTS) return;
  const retryAfterS = Math.ceil((row.expires_at - ctx.now) / 1000);
  const reason = 'The challenge is closed after too many failed attempts. Start a new challenge.';
  throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

const isClosed = (ctx: Ctx, row: ChallengeRow) =>
  row.status !== 'PENDING' || ctx.now >= row.expires_at;

/** Checks the proof. Stages the use of a code or the passkey counter. */
async function isValidProof(
  ctx: Ctx,
  { customer }: ScaParty,
  row: ChallengeRow,
  action: ScaAction,
  { code, passkeyAssertion, origin }: Proof,
): Promise<boolean> {
  if (row.factor === 'PASSKEY') {
    const assertion = { passkeyAssertion: passkeyAssertion ?? {}, origin: origin ?? '' };
    return verifyAssertion(ctx, customer, signedText(row, action), assertion);
  }
  const typedCode = normalizedCode(code);
  if (row.factor === 'TOTP') return verifyTotp(ctx, customer, typedCode);
  const purpose = purposeOf(ctx, row, action, customer.phone);
  return (await verifyCode(ctx, purpose, typedCode)) === 'valid';
}

/**
 * Stages the satisfaction of a challenge and returns undefined. A wrong proof is returned as a
 * rejection and counts as a failed attempt. Throws INVALID_INPUT for a closed or expired challenge,
 * a factor that is not enrolled, and a proof of invalid form. Throws ACCOUNT_LOCKED while the
 * customer is locked, and RATE_LIMITED after too many failed attempts. A thrown error counts as no
 * failed attempt.
 */
export async function prove(
  ctx: Ctx,
  party: ScaParty,
  row: ChallengeRow,
  { action, proof, ip }: { action: ScaAction; proof: Proof; ip?: string | null | undefined },
): Promise<Rejected | undefined> {
  const { customer } = party;
  const { kind, factor } = row;
  const field = proofField(factor);
  // Read after the challenge, so that a lockout by its last attempt is included.
  await checkLock(ctx, customer.id);
  const errors = proofErrors(factor, proof);
  if (errors.length) throw invalid(errors);
  if (isClosed(ctx, row))
    throw invalidField(field, 'was submitted after the challenge was closed or expired');
  checkAttemptsLeft(ctx, row);
  await checkEnrolled(ctx, customer, factor, field);
  const { success, failure } = EVENTS[kind];
  // Challenges are deleted earlier than events, so events reference the quote or account if there
  // is one.
  const details = { factor, subject: kind === 'LOGIN' ? row.id : row.subject, ip };
  if (!(await isValidProof(ctx, party, row, action, proof))) {
    ctx.update(scaChallenges, row, { wrong: row.wrong + 1, updated_at: ctx.now });
    return rejectProof(ctx, customer, failure, details);
  }
  closeChallenge(ctx, row, 'satisfy');
  recordScaEvent(ctx, customer, success, details);
  return undefined;
}

/**
 * Stages a new code for the challenge. The expiry of the challenge does not change. Throws CONFLICT
 * if no SMS code is pending. Throws RATE_LIMITED within 30 seconds of the previous code, and after
 * too many codes or failed attempts.
 */
export async function resendCode(
  ctx: Ctx,
  deps: ScaDeps,
  party: ScaParty,
  row: ChallengeRow,
  request: { action: ScaAction; description?: string },
): Promise<void> {
  const isEnrolled = (await enrolledFactors(ctx, party.customer)).includes('SMS_OTP');
  if (row.factor !== 'SMS_OTP' || isClosed(ctx, row) || !isEnrolled) {
    throw new Fault('CONFLICT', 'No SMS code is pending. Start a new challenge.');
  }
  checkAttemptsLeft(ctx, row);
  // If the challenge is closed concurrently, the operation is retried.
  ctx.require(scaChallenges, row);
  await sendCode(ctx, deps, party, row, request);
}

/**
 * Expires a challenge that was not answered in time. ANSWERED: the challenge was closed before,
 * also if it was replaced or had expired. A deleted challenge counts as EXPIRED.
 */
export async function expireChallenge(
  ctx: Ctx,
  id: string,
): Promise<{ state: 'WAITING'; until: Time } | { state: 'EXPIRED' } | { state: 'ANSWERED' }> {
  const row = await ctx.read(scaChallenges, id);
  if (row && row.status !== 'PENDING') return { state: 'ANSWERED' };
  if (row && ctx.now < row.expires_at) return { state: 'WAITING', until: row.expires_at };
  if (row) closeChallenge(ctx, row, 'expire');
  return { state: 'EXPIRED' };
}
