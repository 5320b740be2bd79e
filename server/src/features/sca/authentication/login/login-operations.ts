// Login with a second factor. SMS codes and passkeys answer a challenge. TOTP codes have no challenge, so
// guessing is limited by the lockout and the time step only.
import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../../kernel/contract/operation.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { iso } from '../../../../kernel/effects.ts';
import { invalidField } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import type { CustomerRow } from '../../../customers/records/index.ts';
import { recordScaEvent } from '../../events/index.ts';
import {
  checkLock,
  openSession,
  presentLockout,
  recordScaFailure,
  resetLockout,
} from '../../lockout/index.ts';
import {
  checkEnrolled,
  findPendingChallenge,
  openChallenge,
  passkeyRequestFor,
  prove,
  rejectProof,
  type ScaAction,
  type ScaParty,
} from '../challenges.ts';
import type { ScaFactorName } from '../contract.ts';
import { type ScaDeps, scaCustomer } from '../deps.ts';
import { normalizedCode, verifyTotp } from '../factors/factors.ts';
import { type ChallengeRow, scaChallenges } from '../store.ts';
import { completeScaLogin, recordSecurityEvent, startScaLogin } from './login-contract.ts';

type CompleteRequest = Static<(typeof completeScaLogin)['body']>;
type SecurityEvent = Static<(typeof recordSecurityEvent)['body']>['eventType'];

const loginActionOf = ({ id }: CustomerRow): ScaAction => ({
  kind: 'LOGIN',
  subject: id,
  binding: canonical({ login: id }),
});

async function start(ctx: Ctx, deps: ScaDeps, party: ScaParty, factor: ScaFactorName) {
  if (factor === 'TOTP') {
    await checkEnrolled(ctx, party.customer, factor, 'factor');
    return { status: 200, body: { factor } } as const;
  }
  const action = loginActionOf(party.customer);
  const row = await openChallenge(ctx, deps, party, { ...action, factor, field: 'factor' });
  if (factor === 'SMS_OTP') {
    const body = { factor, challengeId: row.id, expiresAt: iso(row.expires_at) };
    return { status: 200, body } as const;
  }
  const { options: passkeyOptions, ...site } = await passkeyRequestFor(ctx, party, row, action);
  return { status: 200, body: { factor, passkeyOptions, ...site } } as const;
}

/** The login challenge of a customer for a factor. Throws INVALID_INPUT if it does not exist. */
async function challengeOf(
  ctx: Ctx,
  { id }: CustomerRow,
  { factor, challengeId }: CompleteRequest,
): Promise<ChallengeRow> {
  const requestedChallengeId = challengeId ?? null;
  const challenge =
    requestedChallengeId === null
      ? await findPendingChallenge(ctx, 'LOGIN', id)
      : isId(requestedChallengeId, 'ScaChallenge') &&
        (await ctx.read(scaChallenges, requestedChallengeId));
  if (
    challenge &&
    challenge.kind === 'LOGIN' &&
    challenge.customer_id === id &&
    challenge.factor === factor
  ) {
    return challenge;
  }
  throw requestedChallengeId === null
    ? invalidField('passkeyAssertion', 'has no pending passkey login. Call startScaLogin first')
    : invalidField('challengeId', `must be a pending ${factor} login of this customer`);
}

/** Stages the result of the proof. Returns a rejection for a wrong proof. */
async function proveLogin(
  ctx: Ctx,
  party: ScaParty,
  body: CompleteRequest,
): Promise<Rejected | undefined> {
  const { factor, endUserIpAddress: ip, ...proof } = body;
  const { customer } = party;
  if (factor !== 'TOTP') {
    const row = await challengeOf(ctx, customer, body);
    return prove(ctx, party, row, { action: loginActionOf(customer), proof, ip });
  }
  if (!(await verifyTotp(ctx, customer, normalizedCode(proof.code), { recovery: true }))) {
    return rejectProof(ctx, customer, 'LOGIN_FAILED', { factor, ip });
  }
  recordScaEvent(ctx, customer, 'LOGIN', { factor, ip });
  return undefined;
}

async function complete(ctx: Ctx, party: ScaParty, body: CompleteRequest) {
  const { customer } = party;
  await checkLock(ctx, customer.id);
  await checkEnrolled(ctx, customer, body.factor, 'factor');
  const rejection = await proveLogin(ctx, party, body);
  if (rejection) return rejection;
  const sessionExpiresAt = await openSession(ctx, customer.id);
  return {
    status: 200,
    body: { status: 'SUCCESS', sessionExpiresAt: iso(sessionExpiresAt) },
  } as const;
}

async function record(ctx: Ctx, { customer }: ScaParty, eventType: SecurityEvent) {
  const isFailure = eventType === 'FAILED_LOGIN_ATTEMPT';
  if (isFailure) await checkLock(ctx, customer.id);
  const row = await (isFailure ? recordScaFailure : resetLockout)(ctx, customer.id);
  recordScaEvent(ctx, customer, eventType);
  return { status: 200, body: { eventType, ...presentLockout(row, ctx.now) } } as const;
}

export const loginOperations = (deps: ScaDeps) => [
  handle(startScaLogin, async (ctx, { query, body }) =>
    start(ctx, deps, await scaCustomer(ctx, query.customerId), body.factor),
  ),
  handle(completeScaLogin, async (ctx, { query, body }) =>
    complete(ctx, await scaCustomer(ctx, query.customerId), body),
  ),
  handle(recordSecurityEvent, async (ctx, { query, body }) =>
    record(ctx, await scaCustomer(ctx, query.customerId), body.eventType),
  ),
];
