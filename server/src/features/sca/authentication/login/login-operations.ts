// Logging in with a second factor. Codes by SMS and passkeys answer a challenge; a code of an app has none,
// so that nothing but the lock and the step of time it belongs to stands between it and who guesses.
import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../../kernel/contract/operation.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { iso } from '../../../../kernel/effects.ts';
import { invalidField } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import type { CustomerRow } from '../../../customers/records/index.ts';
import { noteScaEvent } from '../../events/index.ts';
import {
  absolve,
  checkLock,
  noteFailure,
  openSession,
  presentLockout,
} from '../../lockout/index.ts';
import {
  type About,
  checkEnrolled,
  openChallenge,
  passkeyRequest,
  pendingChallenge,
  prove,
  refuseProof,
  type Who,
} from '../challenges.ts';
import type { ScaFactorName } from '../contract.ts';
import { takeTotp, typedCode } from '../factors/factors.ts';
import { type ScaParts, scaCustomer } from '../parts.ts';
import { type ChallengeRow, scaChallenges } from '../store.ts';
import { completeScaLogin, recordSecurityEvent, startScaLogin } from './login-contract.ts';

type CompleteRequest = Static<(typeof completeScaLogin)['body']>;
type SecurityEvent = Static<(typeof recordSecurityEvent)['body']>['eventType'];

const aboutLogin = ({ id }: CustomerRow): About => ({
  kind: 'LOGIN',
  subject: id,
  binding: canonical({ login: id }),
});

async function start(ctx: Ctx, parts: ScaParts, who: Who, factor: ScaFactorName) {
  if (factor === 'TOTP') {
    await checkEnrolled(ctx, who.customer, factor, 'factor');
    return { status: 200, body: { factor } } as const;
  }
  const about = aboutLogin(who.customer);
  const row = await openChallenge(ctx, parts, who, { ...about, factor, field: 'factor' });
  if (factor === 'SMS_OTP') {
    const body = { factor, challengeId: row.id, expiresAt: iso(row.expires_at) };
    return { status: 200, body } as const;
  }
  const { options: passkeyOptions, ...site } = await passkeyRequest(ctx, who, row, about);
  return { status: 200, body: { factor, passkeyOptions, ...site } } as const;
}

/** The challenge that a login answers; throws 400 where it is none of this customer's. */
async function challengeOf(
  ctx: Ctx,
  { id }: CustomerRow,
  { factor, challengeId }: CompleteRequest,
): Promise<ChallengeRow> {
  const given = challengeId ?? null;
  const found =
    given === null
      ? await pendingChallenge(ctx, 'LOGIN', id)
      : isId(given, 'ScaChallenge') && (await ctx.read(scaChallenges, given));
  if (found && found.kind === 'LOGIN' && found.customer_id === id && found.factor === factor) {
    return found;
  }
  throw given === null
    ? invalidField('passkeyAssertion', 'has no pending passkey login; call startScaLogin first')
    : invalidField('challengeId', `must be a pending ${factor} login of this customer`);
}

/** Stages the login's proof; a refusal where it is wrong. */
async function proveLogin(
  ctx: Ctx,
  who: Who,
  body: CompleteRequest,
): Promise<Rejected | undefined> {
  const { factor, endUserIpAddress: ip, ...proof } = body;
  const { customer } = who;
  if (factor !== 'TOTP') {
    const row = await challengeOf(ctx, customer, body);
    return prove(ctx, who, row, { about: aboutLogin(customer), proof, ip });
  }
  if (!(await takeTotp(ctx, customer, typedCode(proof.code), { recovery: true }))) {
    return refuseProof(ctx, customer, 'LOGIN_FAILED', { factor, ip });
  }
  noteScaEvent(ctx, customer, 'LOGIN', { factor, ip });
  return undefined;
}

async function complete(ctx: Ctx, who: Who, body: CompleteRequest) {
  const { customer } = who;
  await checkLock(ctx, customer.id);
  await checkEnrolled(ctx, customer, body.factor, 'factor');
  const refused = await proveLogin(ctx, who, body);
  if (refused) return refused;
  const until = await openSession(ctx, customer.id);
  return { status: 200, body: { status: 'SUCCESS', sessionExpiresAt: iso(until) } } as const;
}

async function record(ctx: Ctx, { customer }: Who, eventType: SecurityEvent) {
  const isFailure = eventType === 'FAILED_LOGIN_ATTEMPT';
  if (isFailure) await checkLock(ctx, customer.id);
  const row = await (isFailure ? noteFailure : absolve)(ctx, customer.id);
  noteScaEvent(ctx, customer, eventType);
  return { status: 200, body: { eventType, ...presentLockout(row, ctx.now) } } as const;
}

/** The operations; list them where those of the feature are put together. */
export const loginOperations = (parts: ScaParts) => [
  handle(startScaLogin, async (ctx, { query, body }) =>
    start(ctx, parts, await scaCustomer(ctx, query.customerId), body.factor),
  ),
  handle(completeScaLogin, async (ctx, { query, body }) =>
    complete(ctx, await scaCustomer(ctx, query.customerId), body),
  ),
  handle(recordSecurityEvent, async (ctx, { query, body }) =>
    record(ctx, await scaCustomer(ctx, query.customerId), body.eventType),
  ),
];
