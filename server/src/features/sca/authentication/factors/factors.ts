// Authentication factors: SMS codes to the verified phone number, TOTP codes, and a passkey. Secrets of
// enrolled factors are encrypted with the customer's data key. The row records the last used TOTP step and
// the unused recovery codes.

import { stepOf } from '../../../../kernel/crypto/totp.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { constantTimeEqual } from '../../../../runtime/security/crypto.ts';
import { type CustomerRow, dataKeyOf } from '../../../customers/records/index.ts';
import { readOwnPlatform } from '../../../tenancy/platform/index.ts';
import { SCA_FACTORS, type ScaFactorName } from '../contract.ts';
import { type FactorRow, scaEnrollments, scaFactors } from '../store.ts';
import { type PasskeyFacts, readAssertion, requestOptions, siteOf } from './passkey.ts';
import { recoveryDigest } from './recovery-codes.ts';

export type EnrolledType = FactorRow['type'];

export interface TotpFacts {
  /** Hexadecimal. */
  secret: string;
}

/** SMS and TOTP code that is always valid in the sandbox. */
export const SANDBOX_CODE = '123456';

export const isSandbox = (ctx: Ctx): boolean => ctx.caller.environment === 'sandbox';

function keyOf(customer: CustomerRow) {
  const key = dataKeyOf(customer);
  if (!key) throw new Error(`${customer.id} has no data key`);
  return key;
}

/** Encrypts the column `facts` of a row. */
export const sealFacts = (
  ctx: Ctx,
  customer: CustomerRow,
  table: 'sca_factors' | 'sca_enrollments',
  id: string,
  facts: object,
): string => ctx.vault.seal(keyOf(customer), JSON.stringify(facts), `${table} ${id} facts`);

export const openFacts = <T>(
  ctx: Ctx,
  customer: CustomerRow,
  table: 'sca_factors' | 'sca_enrollments',
  { id, facts }: { id: string; facts: string },
): T => JSON.parse(ctx.vault.open(keyOf(customer), facts, `${table} ${id} facts`).toString()) as T;

/** Enrolled factors of a customer, at most one of a type. */
export const enrolledRows = (ctx: Ctx, customerId: string): Promise<FactorRow[]> =>
  ctx.db.find(scaFactors, { customer_id: customerId });

/** Removes white space, because customers type codes in the groups in which they are displayed. */
export const normalizedCode = (code: string | null | undefined): string =>
  (code ?? '').replaceAll(/\s/g, '');

const hasVerifiedPhone = ({ phone, contact_verification: verification }: CustomerRow): boolean =>
  phone !== null && verification?.phone === 'VERIFIED';

/** Enrolled factors, in the order of `SCA_FACTORS`. */
export async function enrolledFactors(ctx: Ctx, customer: CustomerRow): Promise<ScaFactorName[]> {
  const rows = await enrolledRows(ctx, customer.id);
  const isEnrolled = (name: ScaFactorName) =>
    name === 'SMS_OTP' ? hasVerifiedPhone(customer) : rows.some(({ type }) => type === name);
  return SCA_FACTORS.filter(isEnrolled);
}

/** The enrolled factor of this type. */
export async function factorOf(
  ctx: Ctx,
  customerId: string,
  type: EnrolledType,
): Promise<FactorRow | undefined> {
  const [row] = await ctx.db.find(scaFactors, { customer_id: customerId, type });
  return row;
}

/**
 * Verifies a TOTP code and stages its use. With `recovery`, an unused recovery code is accepted as well.
 * Commit the result even if the request is rejected, so that each code can be used once.
 */
export async function verifyTotp(
  ctx: Ctx,
  customer: CustomerRow,
  code: string,
  { recovery = false }: { recovery?: boolean } = {},
): Promise<boolean> {
  const row = await factorOf(ctx, customer.id, 'TOTP');
  if (!row) return false;
  if (isSandbox(ctx) && code === SANDBOX_CODE) return true;
  const { secret } = openFacts<TotpFacts>(ctx, customer, 'sca_factors', row);
  const step = stepOf(secret, code, {
    // The authenticator app follows real time.
    now: ctx.effects.now(),
    after: Number(row.sign_count),
  });
  if (step !== undefined) {
    ctx.update(scaFactors, row, { sign_count: BigInt(step), updated_at: ctx.now });
    return true;
  }
  if (!recovery) return false;
  const digest = recoveryDigest(ctx.vault, row.id, code);
  const unusedCodes = row.recovery.filter((each) => !constantTimeEqual(each, digest));
  if (unusedCodes.length === row.recovery.length) return false;
  ctx.update(scaFactors, row, { recovery: unusedCodes, updated_at: ctx.now });
  return true;
}

/**
 * PublicKeyCredentialRequestOptionsJSON for an assertion over `challenge` (base64url).
 */
export async function assertionOptions(
  ctx: Ctx,
  customer: CustomerRow,
  challenge: string,
): Promise<{ options: object; allowedOrigins: string[]; relyingPartyId: string }> {
  const [platform, row] = await Promise.all([
    readOwnPlatform(ctx),
    factorOf(ctx, customer.id, 'PASSKEY'),
  ]);
  const site = siteOf(platform);
  const facts = row && openFacts<PasskeyFacts>(ctx, customer, 'sca_factors', row);
  return {
    options: requestOptions(site, challenge, facts),
    allowedOrigins: site.origins,
    relyingPartyId: site.rpId,
  };
}

/**
 * Verifies the passkey signature of the challenge (base64url) and stages the counter. Throws INVALID_INPUT
 * for fields of invalid form and for an origin that is not allowed.
 */
export async function verifyAssertion(
  ctx: Ctx,
  customer: CustomerRow,
  challenge: string,
  { passkeyAssertion, origin }: { passkeyAssertion: object; origin: string },
): Promise<boolean> {
  const [platform, row] = await Promise.all([
    readOwnPlatform(ctx),
    factorOf(ctx, customer.id, 'PASSKEY'),
  ]);
  if (!row) return false;
  const enrolledCredential = {
    facts: openFacts<PasskeyFacts>(ctx, customer, 'sca_factors', row),
    signCount: Number(row.sign_count),
  };
  const field = 'passkeyAssertion';
  const ceremony = {
    challenge,
    origin,
    json: passkeyAssertion,
    field,
    isSimulationAllowed: isSandbox(ctx),
  };
  const signCount = readAssertion({ site: siteOf(platform), ...ceremony }, enrolledCredential);
  if (signCount === undefined) return false;
  ctx.update(scaFactors, row, { sign_count: BigInt(signCount), updated_at: ctx.now });
  return true;
}

export const enrollmentId = (customerId: string, type: EnrolledType) => `${customerId} ${type}`;

/** Stages the removal of a factor and of its pending enrollment. */
export async function clearFactor(ctx: Ctx, customerId: string, type: EnrolledType): Promise<void> {
  const [row, pendingEnrollment] = await Promise.all([
    factorOf(ctx, customerId, type),
    ctx.read(scaEnrollments, enrollmentId(customerId, type)),
  ]);
  if (row) ctx.remove(scaFactors, row);
  if (pendingEnrollment) ctx.remove(scaEnrollments, pendingEnrollment);
}
