// Making, showing, claiming and cancelling invitations. A code is known to whoever was told it, so another
// platform of the same environment may look at an invitation and claim it; sandbox and production know
// nothing of each other. The platform that made it is told by a job, because it is not the one that asks.

import type { Static } from '@sinclair/typebox';
import { type UmaAddress, umaAddresses } from '../../../catalog/rails/uma-address.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { ownPlatform, platformOfUmaDomain } from '../../tenancy/platform/index.ts';
import { type CustomerRow, findCustomers, requireCustomer } from '../records/index.ts';
import { type Complaint, customerView, refuse } from '../registration/index.ts';
import { cancelInvitation, claimInvitation, createInvitation, getInvitation } from './contract.ts';
import { type InvitationView, isCode, presentInvitation, refuseEnded } from './invitation.ts';
import { NOTIFY_CLAIMED } from './jobs.ts';
import { invitationStates } from './states.ts';
import { type InvitationRow, invitations } from './store.ts';

interface InvitationParts {
  /** What links to pages of this server begin with. */
  origin: () => string;
}

type CreateBody = Static<(typeof createInvitation)['body']>;

/** 80 bits, so that no code is found by trying. */
const CODE_BYTES = 10;

/** A code that no invitation has. */
async function drawCode(ctx: Ctx): Promise<string> {
  for (;;) {
    const code = Buffer.from(ctx.world.random(CODE_BYTES)).toString('hex');
    if (!(await ctx.read(invitations, code))) return code;
  }
}

/** The living customer of the calling platform with this address. */
async function inviterOf(ctx: Ctx, address: string): Promise<CustomerRow | undefined> {
  const [row] = await findCustomers(ctx.db, {
    uma_address: address,
    platform_id: ctx.caller.platformId,
    deleted_at: null,
  });
  return row;
}

/** The customer who invites. Throws everything that stands against the invitation. */
async function checked(ctx: Ctx, body: CreateBody): Promise<CustomerRow> {
  const complaints: Complaint[] = [];
  const inviter = await inviterOf(ctx, String(body.inviterUma).toLowerCase());
  if (!inviter) {
    const message = 'is not the UMA address of a customer of this platform';
    complaints.push({ field: 'inviterUma', message, code: 'INVALID_UMA_ADDRESS' });
  }
  if (body.expiresAt !== undefined && Date.parse(body.expiresAt) <= ctx.now) {
    complaints.push({
      field: 'expiresAt',
      message: 'must be in the future',
      code: 'INVALID_INPUT',
    });
  }
  refuse(complaints);
  return inviter as CustomerRow;
}

/** The first currency that the API shows of the customer. */
async function firstCurrency(ctx: Ctx, inviter: CustomerRow): Promise<string> {
  const [currency] = (await customerView(ctx, inviter)).currencies;
  if (currency === undefined) {
    throw invalidField('amountToSend', 'the inviter has no currency to send in');
  }
  return currency;
}

async function create(ctx: Ctx, body: CreateBody): Promise<InvitationRow> {
  const platform = await ownPlatform(ctx);
  if (!platform.invitations) {
    const reason = 'The operator has switched invitations off for this platform.';
    throw new Fault('INVITATIONS_NOT_CONFIGURED', reason);
  }
  const inviter = await checked(ctx, body);
  const { amountToSend, expiresAt } = body;
  const currency = amountToSend === undefined ? null : await firstCurrency(ctx, inviter);
  requireCustomer(ctx, inviter);
  return ctx.insert(invitations, {
    id: await drawCode(ctx),
    platform_id: platform.id,
    environment: platform.environment,
    customer_id: inviter.id,
    status: 'PENDING',
    inviter_uma: inviter.uma_address,
    first_name: body.firstName ?? null,
    amount: amountToSend === undefined ? null : BigInt(amountToSend),
    currency,
    expires_at: expiresAt === undefined ? null : Date.parse(expiresAt),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** The invitation with this code in the caller's environment; INVITATION_NOT_FOUND for every other. */
async function invitationOf(ctx: Ctx, code: string): Promise<InvitationRow> {
  const row = isCode(code) ? await ctx.read(invitations, code) : undefined;
  if (row?.environment !== ctx.caller.environment) {
    throw new Fault('INVITATION_NOT_FOUND', 'No such invitation.');
  }
  return row;
}

/**
 * The customer behind an address. Throws unless the caller may claim for it: for anybody at a provider
 * elsewhere, and of the addresses that are given out here for those of its own customers.
 */
async function inviteeOf(
  ctx: Ctx,
  { address, host }: UmaAddress,
): Promise<CustomerRow | undefined> {
  const [[customer], platform] = await Promise.all([
    findCustomers(ctx.db, { uma_address: address }),
    platformOfUmaDomain(ctx.db, host),
  ]);
  if (!customer && !platform) return undefined;
  if (customer?.platform_id === ctx.caller.platformId && !customer.deleted_at) return customer;
  const message = 'is not the UMA address of a customer of this platform';
  throw invalidField('inviteeUma', message, 'INVALID_UMA_ADDRESS');
}

async function claim(ctx: Ctx, code: string, inviteeUma: string): Promise<InvitationRow> {
  const row = await invitationOf(ctx, code);
  const invitee = umaAddresses({ inviteeUma }).inviteeUma;
  refuseEnded(row, ctx.now);
  if (!invitee || invitee.address === row.inviter_uma) {
    throw invalidField('inviteeUma', 'nobody can accept an invitation of their own');
  }
  const customer = await inviteeOf(ctx, invitee);
  if (customer) requireCustomer(ctx, customer);
  const claimed = ctx.update(invitations, row, {
    status: invitationStates.next(row.status, 'claim'),
    invitee_uma: invitee.address,
    invitee_customer_id: customer?.id ?? null,
    claimed_at: ctx.now,
    updated_at: ctx.now,
  });
  ctx.later(NOTIFY_CLAIMED, { code, platformId: row.platform_id });
  return claimed;
}

async function cancel(ctx: Ctx, code: string): Promise<InvitationRow> {
  const row = await invitationOf(ctx, code);
  if (row.platform_id !== ctx.caller.platformId) {
    throw new Fault('FORBIDDEN', 'Only the platform that made an invitation may cancel it.');
  }
  refuseEnded(row, ctx.now);
  return ctx.update(invitations, row, {
    status: invitationStates.next(row.status, 'cancel'),
    updated_at: ctx.now,
  });
}

export const invitationOperations = ({ origin }: InvitationParts) => {
  const shown = (ctx: Ctx, row: InvitationRow): InvitationView =>
    presentInvitation(row, ctx.now, origin());
  return [
    handle(createInvitation, async (ctx, { body }) => ({
      status: 201,
      body: shown(ctx, await create(ctx, body)),
    })),
    handle(getInvitation, async (ctx, { params }) => ({
      status: 200,
      body: shown(ctx, await invitationOf(ctx, params.invitationCode)),
    })),
    handle(claimInvitation, async (ctx, { params, body }) => ({
      status: 200,
      body: shown(ctx, await claim(ctx, params.invitationCode, body.inviteeUma)),
    })),
    handle(cancelInvitation, async (ctx, { params }) => ({
      status: 200,
      body: shown(ctx, await cancel(ctx, params.invitationCode)),
    })),
  ];
};
