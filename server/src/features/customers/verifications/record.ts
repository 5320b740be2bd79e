// Verifications as rows and as API resources. Findings are encrypted with the data key of the
// customer, because the text of a reviewer can contain personal data.

import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../records/index.ts';
import { type Verification, type VerificationError, verificationEvents } from './contract.ts';
import type { VerificationStatus } from './states.ts';
import { type VerificationRow, verifications } from './store.ts';

type KeyOwner = Pick<CustomerRow, 'id' | 'data_key'>;

const contextOf = (id: string) => `verifications ${id} findings`;

function sealFindings(
  vault: Vault,
  customer: KeyOwner,
  id: string,
  errors: readonly VerificationError[],
): string | null {
  const key = dataKeyOf(customer);
  return key && errors.length ? vault.seal(key, JSON.stringify(errors), contextOf(id)) : null;
}

/** Findings of a verification, empty if the customer was erased. */
export function findingsOf(
  vault: Vault,
  customer: KeyOwner,
  row: VerificationRow,
): VerificationError[] {
  const key = dataKeyOf(customer);
  if (!key || row.findings === null) return [];
  return JSON.parse(vault.open(key, row.findings, contextOf(row.id)).toString());
}

/** API resource of a verification. */
export const presentVerification = (
  vault: Vault,
  customer: KeyOwner,
  row: VerificationRow,
): Static<typeof Verification> => ({
  id: row.id,
  customerId: row.customer_id,
  verificationStatus: row.status,
  errors: findingsOf(vault, customer, row),
  ...timestamps(row),
});

/** Latest verification of a customer, if any. */
export async function latestOf(
  { db }: Pick<Ctx, 'db'>,
  customerId: string,
): Promise<VerificationRow | undefined> {
  const [row] = await db.find(verifications, { customer_id: customerId, latest: true });
  return row;
}

/** Verification of the calling platform, with its customer. Throws VERIFICATION_NOT_FOUND. */
export async function verificationOf(ctx: Ctx, id: string) {
  const row = isId(id, 'Verification') ? await ctx.read(verifications, id) : undefined;
  const customer = row && (await readCustomer(ctx, row.customer_id));
  if (!row || !customer || row.platform_id !== ctx.caller.platformId) {
    throw new Fault('VERIFICATION_NOT_FOUND', 'Verification not found.');
  }
  return { row, customer };
}

function emitStatus(ctx: Ctx, customer: CustomerRow, row: VerificationRow): VerificationRow {
  const data = presentVerification(ctx.vault, customer, row);
  ctx.emitSealed(dataKeyOf(customer), verificationEvents[row.status], row.id, data);
  return row;
}

export interface VerificationOutcome {
  status: VerificationStatus;
  errors: readonly VerificationError[];
  decidedBy?: 'operator' | 'connector' | undefined;
}

/** Stages a new verification that replaces the latest verification, and emits its event. */
export async function addVerification(
  ctx: Ctx,
  customer: CustomerRow,
  id: string,
  { status, errors, decidedBy }: VerificationOutcome,
): Promise<VerificationRow> {
  const latestVerification = await latestOf(ctx, customer.id);
  if (latestVerification) ctx.update(verifications, latestVerification, { latest: false });
  const row = ctx.insert(verifications, {
    id,
    platform_id: customer.platform_id,
    customer_id: customer.id,
    status,
    latest: true,
    findings: sealFindings(ctx.vault, customer, id, errors),
    decided_by: decidedBy ?? null,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  return emitStatus(ctx, customer, row);
}

/** Stages the outcome of a pending verification and emits its event. */
export function changeVerification(
  ctx: Ctx,
  customer: CustomerRow,
  row: VerificationRow,
  { status, errors, decidedBy }: VerificationOutcome,
): VerificationRow {
  const updatedVerification = ctx.update(verifications, row, {
    status,
    findings: sealFindings(ctx.vault, customer, row.id, errors),
    decided_by: decidedBy ?? null,
    updated_at: ctx.now,
  });
  return emitStatus(ctx, customer, updatedVerification);
}
