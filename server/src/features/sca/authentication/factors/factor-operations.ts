// Enrollment of factors. A pending enrollment is stored encrypted and valid for ten minutes. Its
// row counts failed attempts, whose number is limited. One of two concurrent confirmations
// succeeds.
import { generateSecret, stepOf, toBase32, totpUri } from '../../../../kernel/crypto/totp.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import { constantTimeEqual } from '../../../../runtime/security/crypto.ts';
import { recordScaEvent } from '../../events/index.ts';
import type { ScaParty } from '../challenges.ts';
import { scaCustomer } from '../deps.ts';
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
  normalizedCode,
  openFacts,
  SANDBOX_CODE,
  sealFacts,
  type TotpFacts,
} from './factors.ts';
import { creationOptions, type PasskeyFacts, readRegistration, siteOf } from './passkey.ts';
import { generateRecoveryCodes, recoveryDigest } from './recovery-codes.ts';

const ENROLLMENT_MS = 10 * 60_000;
const MAX_FAILED_ATTEMPTS = 5;
const CHALLENGE_BYTES = 32;

interface PendingPasskey {
  challenge: string;
}

/** Stages a pending enrollment, which replaces the previous one. */
async function stageEnrollment(
  ctx: Ctx,
  { customer }: ScaParty,
  type: EnrolledType,
  facts: object,
): Promise<void> {
  const id = enrollmentId(customer.id, type);
  const enrollmentBefore = await ctx.read(scaEnrollments, id);
  const values = {
    facts: sealFacts(ctx, customer, 'sca_enrollments', id, facts),
    wrong: 0,
    expires_at: ctx.now + ENROLLMENT_MS,
  };
  if (enrollmentBefore) ctx.update(scaEnrollments, enrollmentBefore, values);
  else {
    const ownerColumns = { platform_id: customer.platform_id, customer_id: customer.id };
    ctx.insert(scaEnrollments, { id, ...ownerColumns, ...values });
  }
}

/** Account name shown in the authenticator. */
const accountOf = ({ customer }: ScaParty) => customer.email ?? customer.platform_customer_id;

async function startTotp(ctx: Ctx, party: ScaParty) {
  const secret = generateSecret(ctx.effects);
  await stageEnrollment(ctx, party, 'TOTP', { secret } satisfies TotpFacts);
  const uri = totpUri(secret, { issuer: party.platform.name, account: accountOf(party) });
  const enrollment = { secret, secretBase32Encoded: toBase32(secret), totpUri: uri };
  return { status: 200, body: { type: 'TOTP', ...enrollment } } as const;
}

async function rejectSecondPasskey(ctx: Ctx, { customer }: ScaParty): Promise<void> {
  if (await factorOf(ctx, customer.id, 'PASSKEY')) {
    throw new Fault(
      'PASSKEY_ALREADY_ENROLLED',
      'The customer already has a passkey. Remove it first.',
    );
  }
}

async function startPasskey(ctx: Ctx, party: ScaParty) {
  const site = siteOf(party.platform);
  await rejectSecondPasskey(ctx, party);
  const challenge = Buffer.from(ctx.effects.random(CHALLENGE_BYTES)).toString('base64url');
  await stageEnrollment(ctx, party, 'PASSKEY', { challenge } satisfies PendingPasskey);
  const options = creationOptions(site, challenge, {
    rpName: party.platform.name,
    user: { id: party.customer.id, name: accountOf(party) },
  });
  const enrollment = { options, allowedOrigins: site.origins, relyingPartyId: site.rpId };
  return { status: 200, body: { type: 'PASSKEY', ...enrollment } } as const;
}

/** The pending enrollment. Throws INVALID_INPUT if no enrollment is pending. */
async function requirePendingEnrollment(
  ctx: Ctx,
  { customer }: ScaParty,
  type: EnrolledType,
): Promise<EnrollmentRow> {
  const row = await ctx.read(scaEnrollments, enrollmentId(customer.id, type));
  if (row && row.wrong < MAX_FAILED_ATTEMPTS && ctx.now < row.expires_at) return row;
  throw invalidField('type', 'has no pending enrollment. Start a new one');
}

/** Stages a failed attempt and returns the rejection. */
function rejectAttempt(ctx: Ctx, row: EnrollmentRow, errors: FieldError[]) {
  ctx.update(scaEnrollments, row, { wrong: row.wrong + 1 });
  return { rejected: invalid(errors) };
}

/** Stages the completion of the enrollment, and of a reset that required the enrollment. */
async function completeEnrollment(
  ctx: Ctx,
  { customer }: ScaParty,
  row: EnrollmentRow,
  factor: Pick<FactorRow, 'id' | 'type'>,
): Promise<void> {
  ctx.remove(scaEnrollments, row);
  const filter = {
    customer_id: customer.id,
    factor: factor.type,
    enrollment: 'PENDING',
  } as const;
  for (const reset of await ctx.db.find(scaResets, filter)) {
    ctx.update(scaResets, reset, { enrollment: 'COMPLETED', updated_at: ctx.now });
  }
  recordScaEvent(ctx, customer, 'FACTOR_ENROLLED', { factor: factor.type, subject: factor.id });
}

/** Stages the factor. Replaces an enrolled factor of the same type. */
async function storeFactor(
  ctx: Ctx,
  { customer }: ScaParty,
  type: EnrolledType,
  factsOf: (id: string) => { facts: object; signCount: number; recovery: string[] },
): Promise<FactorRow> {
  const factorBefore = await factorOf(ctx, customer.id, type);
  const id = factorBefore?.id ?? ctx.id('ScaFactor');
  const { facts, signCount, recovery } = factsOf(id);
  const values = {
    facts: sealFacts(ctx, customer, 'sca_factors', id, facts),
    sign_count: BigInt(signCount),
    recovery,
    updated_at: ctx.now,
  };
  if (factorBefore) return ctx.update(scaFactors, factorBefore, values);
  const ownerColumns = { platform_id: customer.platform_id, customer_id: customer.id };
  return ctx.insert(scaFactors, { id, type, ...ownerColumns, ...values, created_at: ctx.now });
}

async function confirmTotp(ctx: Ctx, party: ScaParty, input: { secret: string; code: string }) {
  const row = await requirePendingEnrollment(ctx, party, 'TOTP');
  const { secret } = openFacts<TotpFacts>(ctx, party.customer, 'sca_enrollments', row);
  if (!constantTimeEqual(input.secret, secret)) {
    const message = 'must be the secret of the pending enrollment';
    return rejectAttempt(ctx, row, [{ field: 'secret', message }]);
  }
  const code = normalizedCode(input.code);
  const isSimulated = isSandbox(ctx) && code === SANDBOX_CODE;
  const step = isSimulated ? 0 : stepOf(secret, code, { now: ctx.effects.now(), after: 0 });
  if (step === undefined)
    return rejectAttempt(ctx, row, [
      { field: 'code', message: 'must be the current code of the authenticator app' },
    ]);
  const recoveryCodes = generateRecoveryCodes(ctx.effects);
  const factor = await storeFactor(ctx, party, 'TOTP', (id) => ({
    facts: { secret } satisfies TotpFacts,
    // The code of the confirmation cannot be used again.
    signCount: step,
    recovery: recoveryCodes.map((each) => recoveryDigest(ctx.vault, id, each)),
  }));
  await completeEnrollment(ctx, party, row, factor);
  return { status: 200, body: { type: 'TOTP', recoveryCodes } } as const;
}

const passkeyView = ({ id }: FactorRow, { name }: PasskeyFacts) =>
  ({ factor: 'PASSKEY', credentialId: id, name }) as const;

async function confirmPasskey(
  ctx: Ctx,
  party: ScaParty,
  input: { origin: string; credential: object },
) {
  const site = siteOf(party.platform);
  await rejectSecondPasskey(ctx, party);
  const row = await requirePendingEnrollment(ctx, party, 'PASSKEY');
  const { challenge } = openFacts<PendingPasskey>(ctx, party.customer, 'sca_enrollments', row);
  const { origin, credential: json } = input;
  const ceremony = {
    site,
    challenge,
    origin,
    json,
    field: 'credential',
    isSimulationAllowed: isSandbox(ctx),
  };
  const registration = readRegistration(ceremony);
  if ('errors' in registration) return rejectAttempt(ctx, row, registration.errors);
  const { facts, signCount } = registration;
  const factor = await storeFactor(ctx, party, 'PASSKEY', () => ({
    facts,
    signCount,
    recovery: [],
  }));
  await completeEnrollment(ctx, party, row, factor);
  return { status: 200, body: { type: 'PASSKEY', factor: passkeyView(factor, facts) } } as const;
}

async function list(ctx: Ctx, party: ScaParty) {
  const { customer } = party;
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

async function remove(ctx: Ctx, { customer }: ScaParty, credentialId: string) {
  const row = isId(credentialId, 'ScaFactor')
    ? await ctx.read(scaFactors, credentialId)
    : undefined;
  if (row?.customer_id !== customer.id || row.type !== 'PASSKEY') {
    throw new Fault('AUTH_METHOD_NOT_FOUND', 'Passkey not found.');
  }
  ctx.remove(scaFactors, row);
  recordScaEvent(ctx, customer, 'FACTOR_REMOVED', { factor: row.type, subject: row.id });
  return { status: 204, body: undefined } as const;
}

export const scaFactorOperations = [
  handle(listScaFactors, async (ctx, { query }) =>
    list(ctx, await scaCustomer(ctx, query.customerId)),
  ),
  handle(startScaFactorEnrollment, async (ctx, { query, body }) => {
    const party = await scaCustomer(ctx, query.customerId);
    return body.type === 'TOTP' ? startTotp(ctx, party) : startPasskey(ctx, party);
  }),
  handle(confirmScaFactorEnrollment, async (ctx, { query, body }) => {
    const party = await scaCustomer(ctx, query.customerId);
    return body.type === 'TOTP' ? confirmTotp(ctx, party, body) : confirmPasskey(ctx, party, body);
  }),
  handle(deleteScaFactor, async (ctx, { params, query }) =>
    remove(ctx, await scaCustomer(ctx, query.customerId), params.credentialId),
  ),
];
