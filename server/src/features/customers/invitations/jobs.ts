// Emits the claim event to the platform that created the invitation, because another platform can
// claim the invitation. The event contains personal data and is encrypted with the data key of the
// inviter.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { dataKeyOf, readCustomer, requireCustomer } from '../records/index.ts';
import { invitationClaimed } from './contract.ts';
import { presentInvitation } from './invitation.ts';
import { invitations } from './store.ts';

export const NOTIFY_CLAIMED = defineJob(
  'invitations.notify-claimed',
  Type.Object({ code: Type.String(), platformId: Type.String() }),
);

export const invitationJobs = ({ origin }: { origin: () => string }): JobHandler[] => [
  jobHandler(NOTIFY_CLAIMED, {
    run: async (runtime, job) => {
      const { code, platformId } = job.input;
      const platform = await readPlatform(runtime.db, platformId);
      if (!platform) throw new Error(`platform ${platformId} not found`);
      return {
        caller: systemCaller(platform.id, platform.environment),
        stage: async (ctx) => {
          const row = await ctx.read(invitations, code);
          const inviter = row && (await readCustomer(ctx, row.customer_id));
          const key = inviter && dataKeyOf(inviter);
          // No event is emitted after the erasure of the inviter, because it cannot be encrypted
          // without a data key.
          if (!row || !key) return;
          requireCustomer(ctx, inviter);
          const view = presentInvitation(row, ctx.now, origin());
          ctx.emitSealed(key, invitationClaimed, row.id, view);
        },
      };
    },
  }),
];
