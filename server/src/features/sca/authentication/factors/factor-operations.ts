// Enrolling what a customer binding itself with. What was started waits sealed until it is shown to work: for
// ten minutes and a few wrong tries, which are counted in the row. Two who confirm at once find one row
// between them, so only one of them enrols.
import { Fault, type FieldError, invalid, invalidField } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import { constantTimeEqual } from '../../../../runtime/security/crypto.ts';
import { noteScaEvent } from '../../events/index.ts';
import type { Who } from '../challenges.ts';
import { scaCustomer } from '../parts.ts';
import {
  type EnrollmentRow,
  type FactorRow,
  scaEnrollments,
  scaFactors,
  scaResets,
} from '../store.ts';
import {
  confirmScaFactorEnrollment,
  deleteScaFactor,
  listScaFactors,
  startScaFactorEnrollment,
} from './factor-contract.ts';
import {
  type EnrolledType,
  enrolledFactors,
  enrolledRows,
  enrollmentId,
  factorOf,
  isSandbox,
  openFacts,
  SANDBOX_CODE,
  sealFacts,
  type TotpFacts,
  typedCode,
} from './factors.ts';
import { creationOptions, type PasskeyFacts, readRegistration, siteOf } from './passkey.ts';
import {
  drawRecoveryCodes,
  drawSecret,
  inBase32,
  recoveryDigest,
  stepOf,
  totpUri,
} from './totp.ts';

const WAITS_MS = 10 * 60_000;
const MAX_WRONG = 5;
const CHALLENGE_BYTES = 32;

interface PasskeyAsked {
  challenge: string;
}

/** Stages what waits to be confirmed, in place of what was started before. */
async function wait(ctx: Ctx, { customer }: Who, type: EnrolledType, facts: object): Promise<void> {
  const id = enrollmentId(customer.id, type);
  const before = await ctx.read(scaEnrollments, id);
  const fresh = {
    facts: sealFacts(ctx, customer, 'sca_enrollments', id, facts),
    wrong: 0,
    expires_at: ctx.now + WAITS_MS,
  };
  if (before) ctx.update(scaEnrollments, before, fresh);
  else {
    const of = { platform_id: customer.platform_id, customer_id: customer.id };
    ctx.insert(scaEnrollments, { id, ...of, ...fresh });
  }
}

/** What the customer is called where it signs in. */
const accountOf = ({ customer }: Who) => customer.email ?? customer.platform_customer_id;

async function startTotp(ctx: Ctx, who: Who) {
  const secret = drawSecret(ctx.effects);
  await wait(ctx, who, 'TOTP', { secret } satisfies TotpFacts);
  const uri = totpUri(secret, { issuer: who.platform.name, account: accountOf(who) });
  const shown = { secret, secretBase32Encoded: inBase32(secret), totpUri: uri };
  return { status: 200, body: { type: 'TOTP', ...shown } } as const;
}

async function refuseSecondPasskey(ctx: Ctx, { customer }: Who): Promise<void> {
  if (await factorOf(ctx, customer.id, 'PASSKEY')) {
    throw new Fault(
      'PASSKEY_ALREADY_ENROLLED',
      'The customer already has a passkey. Remove it first.',
    );
  }
}

async function startPasskey(ctx: Ctx, who: Who) {
  const site = siteOf(who.platform);
  await refuseSecondPasskey(ctx, who);
  const challenge = Buffer.from(ctx.effects.random(CHALLENGE_BYTES)).toString('base64url');
  await wait(ctx, who, 'PASSKEY', { challenge } satisfies PasskeyAsked);
  const options = creationOptions(site, challenge, {
    rpName: who.platform.name,
    user: { id: who.customer.id, name: accountOf(who) },
  });
  const shown = { options, allowedOrigins: site.origins, relyingPartyId: site.rpId };
  return { status: 200, body: { type: 'PASSKEY', ...shown } } as const;
}

/** What waits to be confirmed; 400 where nothing does any more. */
async function waiting(ctx: Ctx, { customer }: Who, type: EnrolledType): Promise<EnrollmentRow> {
  const row = await ctx.read(scaEnrollments, enrollmentId(customer.id, type));
  if (row && row.wrong < MAX_WRONG && ctx.now < row.expires_at) return row;
  throw invalidField('type', 'has no pending enrollment; start a new one');
}

/** The refusal of a wrong try, which counts. */
function wrong(ctx: Ctx, row: EnrollmentRow, errors: FieldError[]) {
  ctx.update(scaEnrollments, row, { wrong: row.wrong + 1 });
  return { rejected: invalid(errors) };
}

/** Stages what goes with every factor that was enrolled: what waited is done, and a reset with it. */
async function enrolled(
  ctx: Ctx,
  { customer }: Who,
  row: EnrollmentRow,
  factor: Pick<FactorRow, 'id' | 'type'>,
): Promise<void> {
  ctx.remove(scaEnrollments, row);
  const lost = { customer_id: customer.id, factor: factor.type, enrollment: 'PENDING' } as const;
  for (const reset of await ctx.db.find(scaResets, lost)) {
    ctx.update(scaResets, reset, { enrollment: 'COMPLETED', updated_at: ctx.now });
  }
  noteScaEvent(ctx, customer, 'FACTOR_ENROLLED', { factor: factor.type, subject: factor.id });
}

/** Stages the factor itself, in the place of one of its type. */
async function keep(
  ctx: Ctx,
  { customer }: Who,
  type: EnrolledType,
  factsOf: (id: string) => { facts: object; signCount: number; recovery: string[] },
): Promise<FactorRow> {
  const before = await factorOf(ctx, customer.id, type);
  const id = before?.id ?? ctx.id('ScaFactor');
  const { facts, signCount, recovery } = factsOf(id);
  const fresh = {
    facts: sealFacts(ctx, customer, 'sca_factors', id, facts),
    sign_count: BigInt(signCount),
    recovery,
    updated_at: ctx.now,
  };
  if (before) return ctx.update(scaFactors, before, fresh);
  const of = { platform_id: customer.platform_id, customer_id: customer.id, type };
  return ctx.insert(scaFactors, { id, ...of, ...fresh, created_at: ctx.now });
}

async function confirmTotp(ctx: Ctx, who: Who, given: { secret: string; code: string }) {
  const row = await waiting(ctx, who, 'TOTP');
  const { secret } = openFacts<TotpFacts>(ctx, who.customer, 'sca_enrollments', row);
  if (!constantTimeEqual(given.secret, secret)) {
    const message = 'does not match the pending enrollment';
    return wrong(ctx, row, [{ field: 'secret', message }]);
  }
  const code = typedCode(given.code);
  const isPlayed = isSandbox(ctx) && code === SANDBOX_CODE;
  const step = isPlayed ? 0 : stepOf(secret, code, { now: ctx.now, after: 0 });
  if (step === undefined) return wrong(ctx, row, [{ field: 'code', message: 'is incorrect' }]);
  const recoveryCodes = drawRecoveryCodes(ctx.effects);
  const factor = await keep(ctx, who, 'TOTP', (id) => ({
    facts: { secret } satisfies TotpFacts,
    // The code that enrolled it is used up.
    signCount: step,
    recovery: recoveryCodes.map((each) => recoveryDigest(ctx.vault, id, each)),
  }));
  await enrolled(ctx, who, row, factor);
  return { status: 200, body: { type: 'TOTP', recoveryCodes } } as const;
}

const passkeyView = ({ id }: FactorRow, { name }: PasskeyFacts) =>
  ({ factor: 'PASSKEY', credentialId: id, name }) as const;

async function confirmPasskey(ctx: Ctx, who: Who, given: { origin: string; credential: object }) {
  const site = siteOf(who.platform);
  await refuseSecondPasskey(ctx, who);
  const row = await waiting(ctx, who, 'PASSKEY');
  const { challenge } = openFacts<PasskeyAsked>(ctx, who.customer, 'sca_enrollments', row);
  const { origin, credential: json } = given;
  const asked = { site, challenge, origin, json, field: 'credential', lenient: isSandbox(ctx) };
  const made = readRegistration(asked);
  if ('errors' in made) return wrong(ctx, row, made.errors);
  const { facts, signCount } = made;
  const factor = await keep(ctx, who, 'PASSKEY', () => ({ facts, signCount, recovery: [] }));
  await enrolled(ctx, who, row, factor);
  return { status: 200, body: { type: 'PASSKEY', factor: passkeyView(factor, facts) } } as const;
}

async function list(ctx: Ctx, who: Who) {
  const { customer } = who;
  const [names, rows] = await Promise.all([
    enrolledFactors(ctx, customer),
    enrolledRows(ctx, customer.id),
  ]);
  const factors = names.map((factor) => {
    const row = rows.find(({ type }) => type === factor);
    if (row?.type !== 'PASSKEY') return { factor };
    return passkeyView(row, openFacts<PasskeyFacts>(ctx, customer, 'sca_factors', row));
  });
  return { status: 200, body: { factors } } as const;
}

async function remove(ctx: Ctx, { customer }: Who, credentialId: string) {
  const row = isId(credentialId, 'ScaFactor')
    ? await ctx.read(scaFactors, credentialId)
    : undefined;
  if (row?.customer_id !== customer.id || row.type !== 'PASSKEY') {
    throw new Fault('AUTH_METHOD_NOT_FOUND', 'Passkey not found.');
  }
  ctx.remove(scaFactors, row);
  noteScaEvent(ctx, customer, 'FACTOR_REMOVED', { factor: row.type, subject: row.id });
  return { status: 204, body: undefined } as const;
}

/** The operations on factors; listed with the others of strong customer authentication. */
export const scaFactorOperations = [
  handle(listScaFactors, async (ctx, { query }) =>
    list(ctx, await scaCustomer(ctx, query.customerId)),
  ),
  handle(startScaFactorEnrollment, async (ctx, { query, body }) => {
    const who = await scaCustomer(ctx, query.customerId);
    return body.type === 'TOTP' ? startTotp(ctx, who) : startPasskey(ctx, who);
  }),
  handle(confirmScaFactorEnrollment, async (ctx, { query, body }) => {
    const who = await scaCustomer(ctx, query.customerId);
    return body.type === 'TOTP' ? confirmTotp(ctx, who, body) : confirmPasskey(ctx, who, body);
  }),
  handle(deleteScaFactor, async (ctx, { params, query }) =>
    remove(ctx, await scaCustomer(ctx, query.customerId), params.credentialId),
  ),
];
