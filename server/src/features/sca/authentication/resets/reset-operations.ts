// Reset of a lost factor. A reset is possible during a lockout, because customers who lost a factor are often
// locked. The liveness service is polled when a client requests the status.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import { type AttemptRule, countAttempt } from '../../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import type { CustomerRow } from '../../../customers/records/index.ts';
import { setVerifiedPhone } from '../../../customers/registration/index.ts';
import { isPhoneTied } from '../../../wallets/index.ts';
import { revokeSession } from '../../lockout/index.ts';
import { notEnrolledFault, type ScaParty } from '../challenges.ts';
import type { ScaFactorName } from '../contract.ts';
import { type ScaDeps, scaCustomer } from '../deps.ts';
import { clearFactor, enrolledFactors } from '../factors/factors.ts';
import { type ResetRow, scaResets } from '../store.ts';
import {
  completeTwoFactorReset,
  getTwoFactorResetStatus,
  startTwoFactorReset,
} from './reset-contract.ts';
import { RESET_PATH } from './reset-page.ts';
import {
  applyLiveness,
  checkOf,
  expireIfDue,
  openReset,
  presentReset,
  transitionReset,
} from './resets.ts';

type Mobile = NonNullable<Static<(typeof completeTwoFactorReset)['body']>['mobile']>;

const START_LIMITS: readonly AttemptRule[] = [{ max: 5, withinMs: 24 * 3_600_000 }];

async function start(ctx: Ctx, deps: ScaDeps, customerId: string, factor: ScaFactorName) {
  const { customer } = await scaCustomer(ctx, customerId);
  if (!(await enrolledFactors(ctx, customer)).includes(factor)) {
    throw notEnrolledFault('factor', factor);
  }
  const reason = 'The limit of five resets in 24 hours is reached. Retry later.';
  await countAttempt(ctx, `sca reset ${customer.id}`, START_LIMITS, reason);
  const { row, token } = await openReset(
    ctx,
    deps.connectors(ctx.caller.environment),
    customer,
    factor,
  );
  const link = token && {
    livenessAccessToken: token,
    verificationLink: `${deps.origin()}${RESET_PATH}/${token}`,
  };
  const body = { resetId: row.id, ...link, expiresAt: iso(row.expires_at) };
  return { status: 201, body } as const;
}

/** A reset of this customer, with its expiry applied. */
async function resetOf(ctx: Ctx, customer: CustomerRow, id: string): Promise<ResetRow> {
  const row = isId(id, 'ScaReset') ? await ctx.read(scaResets, id) : undefined;
  if (row?.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'Reset not found.');
  return expireIfDue(ctx, customer, row);
}

async function show(ctx: Ctx, deps: ScaDeps, customerId: string, id: string) {
  const { customer } = await scaCustomer(ctx, customerId);
  const row = await resetOf(ctx, customer, id);
  const { liveness } = deps.connectors(ctx.caller.environment);
  if (row.status !== 'INITIATED' || !liveness) {
    return { status: 200, body: presentReset(row) } as const;
  }
  const polledReset = ctx.update(scaResets, row, { polls: row.polls + 1 });
  const updatedReset = applyLiveness(
    ctx,
    customer,
    polledReset,
    await liveness.check(checkOf(polledReset), ctx.now),
  );
  return { status: 200, body: presentReset(updatedReset) } as const;
}

/** Maximum number of digits in E.164, including the calling code. */
const MAX_DIGITS = 15;

/** The number in E.164 form. Throws INVALID_INPUT for an absent number or an invalid part. */
function numberOf(mobile: Mobile | undefined): string {
  if (!mobile) throw invalidField('mobile', 'is required for SMS_OTP');
  const { countryCode, number } = mobile;
  const errors: FieldError[] = [];
  if (!/^\+[1-9]\d{0,2}$/.test(countryCode)) {
    errors.push({ field: 'mobile.countryCode', message: 'must be a plus sign and 1 to 3 digits' });
  }
  if (!/^[1-9]\d{3,13}$/.test(number)) {
    const message = 'must be 4 to 14 digits without a leading zero';
    errors.push({ field: 'mobile.number', message });
  }
  if (!errors.length && `${countryCode}${number}`.length > MAX_DIGITS + 1) {
    const message = `must have at most ${MAX_DIGITS} digits including the calling code`;
    errors.push({ field: 'mobile.number', message });
  }
  if (errors.length) throw invalid(errors);
  return `${countryCode}${number}`;
}

/** Stages a new phone number. Codes sent to the previous number become invalid. */
async function changeNumber(
  ctx: Ctx,
  { customer, platform }: ScaParty,
  phone: string,
): Promise<void> {
  if (phone !== customer.phone && (await isPhoneTied(ctx, customer))) {
    const reason =
      'An embedded wallet uses this phone number. A change requires a signature of the wallet.';
    throw new Fault('CONFLICT', reason);
  }
  setVerifiedPhone(ctx, platform, customer, phone);
}

async function complete(ctx: Ctx, customerId: string, id: string, mobile: Mobile | undefined) {
  const party = await scaCustomer(ctx, customerId);
  const { customer } = party;
  const row = await resetOf(ctx, customer, id);
  if (row.status !== 'LIVENESS_PASSED') {
    throw invalidField('resetId', `must be LIVENESS_PASSED, but the reset is ${row.status}`);
  }
  const { factor } = row;
  if (factor === 'SMS_OTP') await changeNumber(ctx, party, numberOf(mobile));
  else await clearFactor(ctx, customer.id, factor);
  await revokeSession(ctx, customer.id);
  transitionReset(ctx, customer, row, 'complete', {
    completed_at: ctx.now,
    enrollment: factor === 'SMS_OTP' ? null : 'PENDING',
  });
  return { status: 204, body: undefined } as const;
}

export const resetOperations = (deps: ScaDeps) => [
  handle(startTwoFactorReset, (ctx, { query, body }) =>
    start(ctx, deps, query.customerId, body.factor),
  ),
  handle(getTwoFactorResetStatus, (ctx, { query, params }) =>
    show(ctx, deps, query.customerId, params.resetId),
  ),
  handle(completeTwoFactorReset, (ctx, { query, params, body }) =>
    complete(ctx, query.customerId, params.resetId, body.mobile),
  ),
];
