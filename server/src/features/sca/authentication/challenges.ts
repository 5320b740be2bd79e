// What a customer is asked to prove, and whether it did. A challenge is about one thing, by one factor, for a
// short time and a few wrong tries; a wrong proof counts toward the lock as well. What it binding is said by
// the caller both times, so that a proof is good for this amount and this payee alone.

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
import { noteScaEvent, type ScaEventFacts, type ScaEventType } from '../events/index.ts';
import { checkLock, noteFailure } from '../lockout/index.ts';
import type { Purpose, ScaChallenge, ScaFactorName } from './contract.ts';
import {
  assertionOptions,
  enrolledFactors,
  isSandbox,
  SANDBOX_CODE,
  takeAssertion,
  takeTotp,
  typedCode,
} from './factors/factors.ts';
import type { ScaParts } from './parts.ts';
import { challengeStates } from './states.ts';
import { type ChallengeKind, type ChallengeRow, scaChallenges } from './store.ts';

export interface Who {
  customer: CustomerRow;
  platform: PlatformRow;
}

/** What a challenge is about. The same at its opening and at its proof. */
export interface About {
  kind: ChallengeKind;
  /** The customer, the quote or the external account. */
  subject: string;
  /** Everything that the proof is bound to, as one canonical text. */
  binding: string;
}

interface Ask extends About {
  /** As the client asked; the first of `PREFERRED` that will do where it did not. */
  factor: ScaFactorName | undefined;
  /** Field of the request that named the factor, to blame. */
  field: string;
  /** What it is for in words, shown beside a code that is sent: `100.00 EUR to DE89...`. */
  words?: string;
  /** Of a payment: what this step authorises, and those after it. */
  steps?: readonly Purpose[];
  /** It never works for longer. */
  until?: Time;
}

/** A code, or an assertion with the origin it was made at. */
export interface Proof {
  code?: string | null;
  passkeyAssertion?: object | null;
  origin?: string | null;
}

const MINUTE_MS = 60_000;

/** How long a challenge works, by what it is answered with. */
const LIVES_MS: Record<ScaFactorName, number> = {
  SMS_OTP: 5 * MINUTE_MS,
  TOTP: 10 * MINUTE_MS,
  PASSKEY: 10 * MINUTE_MS,
};

const WRONG_TRIES = 5;
const CODE_LENGTH = 6;
const AGAIN_AFTER_MS = 30_000;

/** How many codes one customer is sent, whatever they are for: each costs, and may be guessed. */
const SENDINGS: Record<Mode, readonly AttemptRule[]> = {
  production: [{ max: 10, withinMs: 15 * MINUTE_MS }],
  sandbox: [{ max: 60, withinMs: MINUTE_MS }],
};

const EVENTS: Record<ChallengeKind, { good: ScaEventType; bad: ScaEventType }> = {
  LOGIN: { good: 'LOGIN', bad: 'LOGIN_FAILED' },
  PAYMENT: { good: 'AUTHORIZED', bad: 'AUTHORIZE_FAILED' },
  TRUST: { good: 'TRUSTED', bad: 'TRUST_FAILED' },
  UNTRUST: { good: 'UNTRUSTED', bad: 'UNTRUST_FAILED' },
};

/** A code of an app is the same whatever it is typed for, so it cannot stand for one payment. */
const isTaken = (kind: ChallengeKind, factor: ScaFactorName) =>
  kind !== 'PAYMENT' || factor !== 'TOTP';

/** What a customer is asked for where nobody said by what. */
const PREFERRED: readonly ScaFactorName[] = ['SMS_OTP', 'PASSKEY', 'TOTP'];

/** What a passkey signs: nobody can make it fit another amount or payee. */
const signedText = ({ nonce }: ChallengeRow, { binding }: About): string =>
  createHash('sha256').update(`${nonce}\n${binding}`).digest('base64url');

const codeId = (challengeId: string) => `sca ${challengeId}`;

function purposeOf(ctx: Ctx, row: ChallengeRow, about: About, phone: string | null): CodePurpose {
  const validityMs = row.expires_at - ctx.now;
  return {
    id: codeId(row.id),
    binding: canonical([about.binding, phone]),
    rules: {
      length: CODE_LENGTH,
      validityMs,
      maxAttempts: WRONG_TRIES,
      resendAfterMs: AGAIN_AFTER_MS,
    },
    fixed: isSandbox(ctx) ? SANDBOX_CODE : undefined,
  };
}

/** Stages a code for the challenge and the message that carries it. */
async function sendCode(
  ctx: Ctx,
  { connectors }: ScaParts,
  { customer, platform }: Who,
  row: ChallengeRow,
  { about, words }: { about: About; words?: string | undefined },
): Promise<void> {
  const { environment } = ctx.caller;
  if (!canSend(connectors(environment), 'SMS', environment)) {
    throw new Fault('NOT_IMPLEMENTED', 'Text messages are not available.');
  }
  const { phone } = customer;
  if (phone === null) throw new Fault('CONFLICT', 'The customer has no phone number.');
  const code = await issueCode(ctx, purposeOf(ctx, row, about, phone));
  await countAttempt(ctx, `sca sms ${customer.id}`, SENDINGS[environment]);
  // So that it never goes to a number that was changed at this very moment.
  requireCustomer(ctx, customer);
  sendMessage(ctx, {
    channel: 'SMS',
    to: phone,
    kind: 'SCA_CODE',
    customer,
    expiresAt: row.expires_at,
    ...scaCodeText(platform.name, code, row.expires_at - ctx.now, words),
  });
}

/** 400 for a factor that the customer does not have. */
export const notEnrolled = (field: string, factor: ScaFactorName): Fault =>
  factor === 'SMS_OTP'
    ? invalidField(field, 'SMS_OTP requires a verified phone number of the customer')
    : invalidField(field, `the customer has not enrolled ${factor}`);

/** Throws 400 naming the field for a factor that the customer does not have. */
export async function checkEnrolled(
  ctx: Ctx,
  customer: CustomerRow,
  factor: ScaFactorName,
  field: string,
): Promise<void> {
  if ((await enrolledFactors(ctx, customer)).includes(factor)) return;
  throw notEnrolled(field, factor);
}

/** What the customer is asked for. Throws 400 for what is not enrolled or not taken here. */
async function factorFor(
  ctx: Ctx,
  customer: CustomerRow,
  { kind, factor, field }: Ask,
): Promise<ScaFactorName> {
  if (factor === undefined) {
    const enrolled = await enrolledFactors(ctx, customer);
    const will = PREFERRED.find((each) => isTaken(kind, each) && enrolled.includes(each));
    if (will) return will;
    throw invalidField(field, 'the customer has no enrolled factor for this action');
  }
  if (!isTaken(kind, factor)) {
    throw invalidField(field, `${factor} cannot authorize a payment; use SMS_OTP or PASSKEY`);
  }
  await checkEnrolled(ctx, customer, factor, field);
  return factor;
}

/** Ends the challenge that waits about the same thing, if there is one. */
async function supersede(ctx: Ctx, { kind, subject }: About): Promise<void> {
  const before = await pendingChallenge(ctx, kind, subject);
  if (!before) return;
  endChallenge(ctx, before, ctx.now >= before.expires_at ? 'expire' : 'replace');
  await revokeCode(ctx, codeId(before.id));
}

/**
 * Stages a challenge in place of one that waits about the same thing, and sends the code where it goes by
 * SMS. Throws 400 for a factor that is not enrolled or not taken here: TOTP cannot show what is authorised,
 * so it is none for payments. RATE_LIMITED after too many codes, NOT_IMPLEMENTED where nothing sends them.
 */
export async function openChallenge(
  ctx: Ctx,
  parts: ScaParts,
  who: Who,
  ask: Ask,
): Promise<ChallengeRow> {
  const { kind, subject, steps = [], until = Number.POSITIVE_INFINITY } = ask;
  const factor = await factorFor(ctx, who.customer, ask);
  await supersede(ctx, ask);
  const [purpose = null, ...later] = steps;
  const row = ctx.insert(scaChallenges, {
    id: ctx.id('ScaChallenge'),
    platform_id: who.platform.id,
    customer_id: who.customer.id,
    kind,
    subject,
    factor,
    purpose,
    steps: later,
    status: 'PENDING',
    nonce: Buffer.from(ctx.effects.random(16)).toString('base64url'),
    wrong: 0,
    expires_at: Math.min(ctx.now + LIVES_MS[factor], until),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  if (factor === 'SMS_OTP') await sendCode(ctx, parts, who, row, { about: ask, words: ask.words });
  return row;
}

/** The challenge that waits about this once the change set is in, whether or not it has run out. */
export async function pendingChallenge(
  ctx: Ctx,
  kind: ChallengeKind,
  subject: string,
): Promise<ChallengeRow | undefined> {
  const ofChallenge = ({ table }: { table: unknown }) => table === scaChallenges;
  const opened = ctx.set.inserts
    .filter(ofChallenge)
    .map(({ row }) => row as ChallengeRow)
    .find((row) => row.kind === kind && row.subject === subject);
  if (opened) return opened;
  const [row] = await ctx.db.find(scaChallenges, { kind, subject, status: 'PENDING' });
  const staged = ctx.set.updates.filter(ofChallenge).find(({ id }) => id === row?.id)?.row;
  return staged && staged.status !== 'PENDING' ? undefined : row;
}

/** What a browser is asked with to answer this challenge by a passkey. */
export const passkeyRequest = (ctx: Ctx, { customer }: Who, row: ChallengeRow, about: About) =>
  assertionOptions(ctx, customer, signedText(row, about));

/** As the API shows it. `about` is what it was opened with. */
export async function presentChallenge(
  ctx: Ctx,
  who: Who,
  row: ChallengeRow,
  about: About,
): Promise<Static<typeof ScaChallenge>> {
  const { id, kind, factor, purpose } = row;
  const enrolled = await enrolledFactors(ctx, who.customer);
  const shown = {
    id,
    expiresAt: iso(row.expires_at),
    factor,
    availableFactors: enrolled.filter((each) => isTaken(kind, each)),
    ...(purpose === null ? {} : { purpose }),
  };
  if (factor !== 'PASSKEY') return shown;
  const { options, allowedOrigins } = await passkeyRequest(ctx, who, row, about);
  // Whoever pays has logged in before, where the origins were told.
  const origins = kind === 'PAYMENT' ? {} : { passkeyAllowedOrigins: allowedOrigins };
  return { ...shown, passkeyAssertionOptions: options, ...origins };
}

/** The field in which a factor is answered, to blame. */
const proofField = (factor: ScaFactorName) =>
  factor === 'PASSKEY' ? ('passkeyAssertion' as const) : ('code' as const);

/** What is wrong with the shape of a proof for this factor; nothing where it can be tried. */
export function proofErrors(
  factor: ScaFactorName,
  { code, passkeyAssertion, origin }: Proof,
): FieldError[] {
  const isSigned = factor === 'PASSKEY';
  const by = isSigned ? 'PASSKEY requires an assertion' : `${factor} requires a code`;
  const errors: FieldError[] = [];
  const judge = (field: keyof Proof, value: unknown, isExpected: boolean) => {
    const isThere = value !== undefined && value !== null && value !== '';
    if (isExpected && !isThere) errors.push({ field, message: 'is required' });
    if (!isExpected && isThere) errors.push({ field, message: `must be absent: ${by}` });
  };
  judge('code', code, !isSigned);
  judge('passkeyAssertion', passkeyAssertion, isSigned);
  if (isSigned) judge('origin', origin, true);
  return errors;
}

/** Stages that a proof was wrong, which counts, and answers the refusal. */
export async function refuseProof(
  ctx: Ctx,
  customer: CustomerRow,
  type: ScaEventType,
  facts: ScaEventFacts & { factor: ScaFactorName },
): Promise<Rejected> {
  await noteFailure(ctx, customer.id);
  noteScaEvent(ctx, customer, type, facts);
  return { rejected: invalidField(proofField(facts.factor), 'is incorrect') };
}

function endChallenge(ctx: Ctx, row: ChallengeRow, move: 'satisfy' | 'replace' | 'expire'): void {
  const status = challengeStates.next(row.status, move);
  ctx.update(scaChallenges, row, { status, updated_at: ctx.now });
}

function checkTriesLeft(ctx: Ctx, row: ChallengeRow): void {
  if (row.wrong < WRONG_TRIES) return;
  const retryAfterS = Math.ceil((row.expires_at - ctx.now) / 1000);
  const reason = 'The challenge has ended after too many incorrect answers.';
  throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

const isOver = (ctx: Ctx, row: ChallengeRow) =>
  row.status !== 'PENDING' || ctx.now >= row.expires_at;

/** Whether the proof is right; stages what was used up of it. */
async function isRight(
  ctx: Ctx,
  { customer }: Who,
  row: ChallengeRow,
  about: About,
  { code, passkeyAssertion, origin }: Proof,
): Promise<boolean> {
  if (row.factor === 'PASSKEY') {
    const given = { passkeyAssertion: passkeyAssertion ?? {}, origin: origin ?? '' };
    return takeAssertion(ctx, customer, signedText(row, about), given);
  }
  const typed = typedCode(code);
  if (row.factor === 'TOTP') return takeTotp(ctx, customer, typed);
  const purpose = purposeOf(ctx, row, about, customer.phone);
  return (await verifyCode(ctx, purpose, typed)) === 'valid';
}

/**
 * Stages that a challenge was satisfied: undefined then. A wrong proof is a refusal that counts (400); one
 * that comes too late is a 400 that does not, because there is nothing to guess any more. Throws
 * ACCOUNT_LOCKED while the customer is shut out, RATE_LIMITED once the challenge has seen too many wrong
 * ones, 400 naming the fields of a proof that is none.
 */
export async function prove(
  ctx: Ctx,
  who: Who,
  row: ChallengeRow,
  { about, proof, ip }: { about: About; proof: Proof; ip?: string | null | undefined },
): Promise<Rejected | undefined> {
  const { customer } = who;
  const { kind, factor } = row;
  const field = proofField(factor);
  // Read after the challenge: whoever finds its tries gone finds the lock that they brought.
  await checkLock(ctx, customer.id);
  const errors = proofErrors(factor, proof);
  if (errors.length) throw invalid(errors);
  if (isOver(ctx, row)) throw invalidField(field, 'was submitted after the challenge ended');
  checkTriesLeft(ctx, row);
  await checkEnrolled(ctx, customer, factor, field);
  const { good, bad } = EVENTS[kind];
  // Of a payment or an account: the challenge goes with the customer, what was authorised stays.
  const facts = { factor, subject: kind === 'LOGIN' ? row.id : row.subject, ip };
  if (!(await isRight(ctx, who, row, about, proof))) {
    ctx.update(scaChallenges, row, { wrong: row.wrong + 1, updated_at: ctx.now });
    return refuseProof(ctx, customer, bad, facts);
  }
  endChallenge(ctx, row, 'satisfy');
  noteScaEvent(ctx, customer, good, facts);
  return undefined;
}

/**
 * Stages the code once more, to where the customer is reached; the challenge ends when it would have.
 * RATE_LIMITED within half a minute, CONFLICT where no code is waited for.
 */
export async function resendCode(
  ctx: Ctx,
  parts: ScaParts,
  who: Who,
  row: ChallengeRow,
  given: { about: About; words?: string },
): Promise<void> {
  const isEnrolled = (await enrolledFactors(ctx, who.customer)).includes('SMS_OTP');
  if (row.factor !== 'SMS_OTP' || isOver(ctx, row) || !isEnrolled) {
    throw new Fault('CONFLICT', 'No SMS code is pending.');
  }
  checkTriesLeft(ctx, row);
  // The code is one for this challenge alone: it must not end while the code is on its way.
  ctx.require(scaChallenges, row);
  await sendCode(ctx, parts, who, row, given);
}

/**
 * Ends a challenge that was not answered in time. ANSWERED covers one that another replaced; a challenge that
 * is gone was not answered.
 */
export async function expireChallenge(
  ctx: Ctx,
  id: string,
): Promise<{ state: 'WAITING'; until: Time } | { state: 'EXPIRED' } | { state: 'ANSWERED' }> {
  const row = await ctx.read(scaChallenges, id);
  if (row && row.status !== 'PENDING') return { state: 'ANSWERED' };
  if (row && ctx.now < row.expires_at) return { state: 'WAITING', until: row.expires_at };
  if (row) endChallenge(ctx, row, 'expire');
  return { state: 'EXPIRED' };
}
