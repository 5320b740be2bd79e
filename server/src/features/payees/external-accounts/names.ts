// The name check of an external account by its institution. It runs during the request. If it is
// pending, a job repeats it. A late result emits an event only if the account does not exist,
// because other results do not affect the use of the account.

import { Type } from '@sinclair/typebox';
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import type {
  BeneficiaryVerificationPort,
  Connectors,
  NameCheck,
} from '../../../connectors/ports/index.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { hasInstitution } from './account.ts';
import { transitionExternalAccount } from './present.ts';
import { externalAccountStates } from './states.ts';
import { type BeneficiaryStatus, type ExternalAccountRow, externalAccounts } from './store.ts';

const CHECK_NAME = defineJob('external-account.name', Type.Object({ accountId: Type.String() }));

const RETRY_AFTER_MS = 60_000;

const UNSUPPORTED_CHECK = { status: 'UNSUPPORTED' } as const;

type NameCheckResult = Exclude<NameCheck, { status: 'INVALID_ACCOUNT' }>;

export const nameCheckColumns = (check: NameCheckResult) => ({
  beneficiary_status: check.status satisfies BeneficiaryStatus,
  verified_name: 'fullName' in check ? check.fullName : null,
});

/** The first check, or undefined for a wallet. Throws INVALID_BANK_ACCOUNT. */
export async function firstNameCheck(
  port: BeneficiaryVerificationPort | undefined,
  info: AccountInfo,
): Promise<NameCheckResult | undefined> {
  if (!hasInstitution(info)) return undefined;
  // If the check cannot be performed, the account is created and the check is repeated.
  const pendingCheck: NameCheck = { status: 'PENDING', checkAfterMs: RETRY_AFTER_MS };
  const check = port ? await port.verify(info, 0).catch(() => pendingCheck) : UNSUPPORTED_CHECK;
  if (check.status !== 'INVALID_ACCOUNT') return check;
  throw new Fault(
    'INVALID_BANK_ACCOUNT',
    'The account does not exist at the institution. Check the account details.',
  );
}

/** Schedules the next check if the result is pending. */
export function scheduleNameCheck(
  ctx: Ctx,
  row: ExternalAccountRow,
  check: NameCheckResult | undefined,
): void {
  if (check?.status !== 'PENDING') return;
  ctx.later(CHECK_NAME, { accountId: row.id }, ctx.now + check.checkAfterMs);
}

/** Applies the result of a repeated check. */
export function applyNameCheck(ctx: Ctx, row: ExternalAccountRow, check: NameCheck): void {
  if (row.deleted_at !== null || row.beneficiary_status !== 'PENDING') return;
  if (check.status === 'PENDING') {
    scheduleNameCheck(ctx, row, check);
    return;
  }
  const isInvalid = check.status === 'INVALID_ACCOUNT';
  const result = nameCheckColumns(isInvalid ? { status: 'NOT_MATCHED' } : check);
  const checkedAccount = ctx.update(externalAccounts, row, { ...result, updated_at: ctx.now });
  const canDisable = externalAccountStates.targetOf(checkedAccount.status, 'disable');
  if (isInvalid && canDisable) transitionExternalAccount(ctx, checkedAccount, 'disable');
}

/** The job that repeats a pending name check. */
export function nameJobs(options: { connectors: (environment: Mode) => Connectors }): JobHandler[] {
  const run = async (runtime: Runtime, job: JobOf<typeof CHECK_NAME>): Promise<Result> => {
    const row = await runtime.db.read(externalAccounts, job.input.accountId);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!platform) throw new Error(`job ${job.id} refers to no account`);
    const caller = systemCaller(platform.id, platform.environment);
    const { names } = options.connectors(platform.environment);
    const elapsedMs = (await runtime.clocks.nowOf(caller)) - row.created_at;
    const check = (await names?.verify(row.info, elapsedMs)) ?? UNSUPPORTED_CHECK;
    return {
      caller,
      async stage(ctx) {
        const currentRow = await ctx.read(externalAccounts, row.id);
        if (currentRow) applyNameCheck(ctx, currentRow, check);
      },
    };
  };
  return [jobHandler(CHECK_NAME, { run })];
}
