// What a customer can prove itself with: codes by SMS to its verified number, codes of an app, a passkey.
// What was enrolled lies sealed under the customer's key; the row says how far its codes were used up.
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { constantTimeEqual } from '../../../../runtime/security/crypto.ts';
import { type CustomerRow, dataKeyOf } from '../../../customers/records/index.ts';
import { ownPlatform } from '../../../tenancy/platform/index.ts';
import { SCA_FACTORS, type ScaFactorName } from '../contract.ts';
import { type FactorRow, scaEnrollments, scaFactors } from '../store.ts';
import { type PasskeyFacts, readAssertion, requestOptions, siteOf } from './passkey.ts';
import { recoveryDigest, stepOf } from './totp.ts';

export type EnrolledType = FactorRow['type'];

export interface TotpFacts {
  /** Hexadecimal. */
  secret: string;
}

/** In the sandbox this code of the app is always right. */
export const SANDBOX_CODE = '123456';

export const isSandbox = (ctx: Ctx): boolean => ctx.caller.environment === 'sandbox';

function keyOf(customer: CustomerRow) {
  const key = dataKeyOf(customer);
  if (!key) throw new Error(`${customer.id} has no data key`);
  return key;
}

/** Seals what is kept in `facts` of a row of this table. */
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

/** What was enrolled, at most one of a type. */
export const enrolledRows = (ctx: Ctx, customerId: string): Promise<FactorRow[]> =>
  ctx.db.find(scaFactors, { customer_id: customerId });

/** A code as it was meant: people type it in the groups that it is shown in. */
export const typedCode = (code: string | null | undefined): string =>
  (code ?? '').replaceAll(/\s/g, '');

/** Whether codes can be sent to a number that is known to be the customer's. */
const getsCodes = ({ phone, contact_verification: proved }: CustomerRow): boolean =>
  phone !== null && proved?.phone === 'VERIFIED';

/** Factors that the customer has, in the order of `SCA_FACTORS`. */
export async function enrolledFactors(ctx: Ctx, customer: CustomerRow): Promise<ScaFactorName[]> {
  const rows = await enrolledRows(ctx, customer.id);
  const has = (name: ScaFactorName) =>
    name === 'SMS_OTP' ? getsCodes(customer) : rows.some(({ type }) => type === name);
  return SCA_FACTORS.filter(has);
}

/** What was enrolled of this type. */
export async function factorOf(
  ctx: Ctx,
  customerId: string,
  type: EnrolledType,
): Promise<FactorRow | undefined> {
  const [row] = await ctx.db.find(scaFactors, { customer_id: customerId, type });
  return row;
}

/**
 * Whether this is a code of the app now; stages that it was used. With `recovery` a recovery code will do,
 * once. Commit it whatever else is decided: a code is not to be taken a second time.
 */
export async function takeTotp(
  ctx: Ctx,
  customer: CustomerRow,
  code: string,
  { recovery = false }: { recovery?: boolean } = {},
): Promise<boolean> {
  const row = await factorOf(ctx, customer.id, 'TOTP');
  if (!row) return false;
  if (isSandbox(ctx) && code === SANDBOX_CODE) return true;
  const { secret } = openFacts<TotpFacts>(ctx, customer, 'sca_factors', row);
  const step = stepOf(secret, code, { now: ctx.now, after: Number(row.sign_count) });
  if (step !== undefined) {
    ctx.update(scaFactors, row, { sign_count: BigInt(step), updated_at: ctx.now });
    return true;
  }
  if (!recovery) return false;
  const given = recoveryDigest(ctx.vault, row.id, code);
  const left = row.recovery.filter((each) => !constantTimeEqual(each, given));
  if (left.length === row.recovery.length) return false;
  ctx.update(scaFactors, row, { recovery: left, updated_at: ctx.now });
  return true;
}

/**
 * What the browser is asked with for an assertion over `challenge` (base64url):
 * PublicKeyCredentialRequestOptionsJSON.
 */
export async function assertionOptions(
  ctx: Ctx,
  customer: CustomerRow,
  challenge: string,
): Promise<{ options: object; allowedOrigins: string[]; relyingPartyId: string }> {
  const [platform, row] = await Promise.all([
    ownPlatform(ctx),
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
 * Whether the customer's passkey signed the challenge (base64url); stages its counter. Throws 400 naming
 * fields that cannot be read, and an origin where the platform uses no passkeys.
 */
export async function takeAssertion(
  ctx: Ctx,
  customer: CustomerRow,
  challenge: string,
  { passkeyAssertion, origin }: { passkeyAssertion: object; origin: string },
): Promise<boolean> {
  const [platform, row] = await Promise.all([
    ownPlatform(ctx),
    factorOf(ctx, customer.id, 'PASSKEY'),
  ]);
  if (!row) return false;
  const held = {
    facts: openFacts<PasskeyFacts>(ctx, customer, 'sca_factors', row),
    signCount: Number(row.sign_count),
  };
  const field = 'passkeyAssertion';
  const ceremony = { challenge, origin, json: passkeyAssertion, field, lenient: isSandbox(ctx) };
  const signCount = readAssertion({ site: siteOf(platform), ...ceremony }, held);
  if (signCount === undefined) return false;
  ctx.update(scaFactors, row, { sign_count: BigInt(signCount), updated_at: ctx.now });
  return true;
}

export const enrollmentId = (customerId: string, type: EnrolledType) => `${customerId} ${type}`;

/** Stages that a factor is gone, with what waits to be enrolled of it. */
export async function clearFactor(ctx: Ctx, customerId: string, type: EnrolledType): Promise<void> {
  const [row, waiting] = await Promise.all([
    factorOf(ctx, customerId, type),
    ctx.read(scaEnrollments, enrollmentId(customerId, type)),
  ]);
  if (row) ctx.remove(scaFactors, row);
  if (waiting) ctx.remove(scaEnrollments, waiting);
}
