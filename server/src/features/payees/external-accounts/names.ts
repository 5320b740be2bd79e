// What the institution of an account says about its holder's name. It is asked while the client waits; one
// that takes its time is asked again by a job, and its answer then is read, not told, since a name changes
// nothing about how the account may be used. An account that turns out not to exist does, and is told.

import { Type } from '@sinclair/typebox';
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import type { Connectors, NameCheck, NamePort } from '../../../connectors/ports/index.ts';
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

const UNSUPPORTED = { status: 'UNSUPPORTED' } as const;

type NameCheckResult = Exclude<NameCheck, { status: 'INVALID_ACCOUNT' }>;

/** How an answer is kept. */
export const nameCheckColumns = (check: NameCheckResult) => ({
  beneficiary_status: check.status satisfies BeneficiaryStatus,
  verified_name: 'fullName' in check ? check.fullName : null,
});

/** The institution's first answer; none of a wallet. Throws where there is no such account. */
export async function firstNameCheck(
  port: NamePort | undefined,
  info: AccountInfo,
): Promise<NameCheckResult | undefined> {
  if (!hasInstitution(info)) return undefined;
  const check = (await port?.verify(info, 0)) ?? UNSUPPORTED;
  if (check.status !== 'INVALID_ACCOUNT') return check;
  throw new Fault('INVALID_BANK_ACCOUNT', 'The account does not exist at the institution.');
}

/** Has the institution asked again, if it said to. */
export function scheduleNameCheck(
  ctx: Ctx,
  row: ExternalAccountRow,
  check: NameCheckResult | undefined,
): void {
  if (check?.status !== 'PENDING') return;
  ctx.later(CHECK_NAME, { accountId: row.id }, ctx.now + check.checkAfterMs);
}

/** What a later answer means for the account. */
export function applyNameCheck(ctx: Ctx, row: ExternalAccountRow, check: NameCheck): void {
  if (row.deleted_at !== null || row.beneficiary_status !== 'PENDING') return;
  if (check.status === 'PENDING') {
    scheduleNameCheck(ctx, row, check);
    return;
  }
  const missing = check.status === 'INVALID_ACCOUNT';
  const verdict = nameCheckColumns(missing ? { status: 'NOT_MATCHED' } : check);
  const known = ctx.update(externalAccounts, row, { ...verdict, updated_at: ctx.now });
  const closed = externalAccountStates.peek(known.status, 'disable');
  if (missing && closed) transitionExternalAccount(ctx, known, 'disable');
}

/** Handlers of the jobs that ask again; list them where the worker is built. */
export function nameJobs(options: { connectors: (environment: Mode) => Connectors }): JobHandler[] {
  const run = async (runtime: Runtime, job: JobOf<typeof CHECK_NAME>): Promise<Result> => {
    const row = await runtime.db.read(externalAccounts, job.input.accountId);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!platform) throw new Error(`job ${job.id} refers to no account`);
    const caller = systemCaller(platform.id, platform.environment);
    const { names } = options.connectors(platform.environment);
    const elapsedMs = runtime.effects.now() - row.created_at;
    const check = (await names?.verify(row.info, elapsedMs)) ?? UNSUPPORTED;
    return {
      caller,
      async stage(ctx) {
        const current = await ctx.read(externalAccounts, row.id);
        if (current) applyNameCheck(ctx, current, check);
      },
    };
  };
  return [jobHandler(CHECK_NAME, { run })];
}
