// Operations on invitations: create, get, claim and cancel. The code is the credential with which
// other platforms of the same environment read and claim an invitation. Sandbox and production are
// separate. A job emits the event to the creating platform, because another platform can be the
// caller.

import type { Static } from '@sinclair/typebox';
import { parseUmaAddresses, type UmaAddress } from '../../../catalog/rails/uma-address.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { platformOfUmaDomain, readOwnPlatform } from '../../tenancy/platform/index.ts';
import { type CustomerRow, findCustomers, requireCustomer } from '../records/index.ts';
import { customerView, rejectViolations, type Violation } from '../registration/index.ts';
import { cancelInvitation, claimInvitation, createInvitation, getInvitation } from './contract.ts';
import { assertPending, type InvitationView, isCode, presentInvitation } from './invitation.ts';
import { NOTIFY_CLAIMED } from './jobs.ts';
import { invitationStates } from './states.ts';
import { type InvitationRow, invitations } from './store.ts';

interface InvitationDeps {
  /** Origin of links to hosted pages. */
  origin: () => string;
}

type CreateBody = Static<(typeof createInvitation)['body']>;

/** 80 bits, so that codes cannot be guessed. */
const CODE_BYTES = 10;

/** Generates an unused code. */
async function generateCode(ctx: Ctx): Promise<string> {
  for (;;) {
    const code = Buffer.from(ctx.effects.random(CODE_BYTES)).toString('hex');
    if (!(await ctx.read(invitations, code))) return code;
  }
}

/** Customer of the calling platform with this UMA address. Deleted customers are excluded. */
async function inviterOf(ctx: Ctx, address: string): Promise<CustomerRow | undefined> {
  const [row] = await findCustomers(ctx.db, {
    uma_address: address,
    platform_id: ctx.caller.platformId,
    deleted_at: null,
  });
  return row;
}

/** Validates the request and returns the inviter. */
async function validateInviter(ctx: Ctx, body: CreateBody): Promise<CustomerRow> {
  const violations: Violation[] = [];
  const inviter = await inviterOf(ctx, String(body.inviterUma).toLowerCase());
  if (!inviter) {
    const message = 'must be the UMA address of a customer of the platform';
    violations.push({ field: 'inviterUma', message, code: 'INVALID_UMA_ADDRESS' });
  }
  if (body.expiresAt !== undefined && Date.parse(body.expiresAt) <= ctx.now) {
    violations.push({
      field: 'expiresAt',
      message: 'must be in the future',
      code: 'INVALID_INPUT',
    });
  }
  rejectViolations(violations);
  return inviter as CustomerRow;
}

/** First currency of the customer in the API resource. */
async function readFirstCurrency(ctx: Ctx, inviter: CustomerRow): Promise<string> {
  const [currency] = (await customerView(ctx, inviter)).currencies;
  if (currency === undefined) {
    throw invalidField('amountToSend', 'must be absent, because the inviter has no currency');
  }
  return currency;
}

async function create(ctx: Ctx, body: CreateBody): Promise<InvitationRow> {
  const platform = await readOwnPlatform(ctx);
  if (!platform.invitations) {
    const reason = 'Invitations are disabled for this platform. The operator can enable them.';
    throw new Fault('INVITATIONS_NOT_CONFIGURED', reason);
  }
  const inviter = await validateInviter(ctx, body);
  const { amountToSend, expiresAt } = body;
  const currency = amountToSend === undefined ? null : await readFirstCurrency(ctx, inviter);
  requireCustomer(ctx, inviter);
  return ctx.insert(invitations, {
    id: await generateCode(ctx),
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

/** The invitation with this code in the caller's environment. Throws INVITATION_NOT_FOUND. */
async function invitationOf(ctx: Ctx, code: string): Promise<InvitationRow> {
  const row = isCode(code) ? await ctx.read(invitations, code) : undefined;
  if (row?.environment !== ctx.caller.environment) {
    throw new Fault('INVITATION_NOT_FOUND', 'Invitation not found.');
  }
  return row;
}

/**
 * Customer with the address, or undefined for an address of an external provider. Throws
 * INVALID_UMA_ADDRESS for an address of this service that no customer of the caller has.
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
  const message = 'must be the UMA address of a customer of the platform';
  throw invalidField('inviteeUma', message, 'INVALID_UMA_ADDRESS');
}

async function claim(ctx: Ctx, code: string, inviteeUma: string): Promise<InvitationRow> {
  const row = await invitationOf(ctx, code);
  const invitee = parseUmaAddresses({ inviteeUma }).inviteeUma;
  assertPending(row, ctx.now);
  if (!invitee || invitee.address === row.inviter_uma) {
    throw invalidField('inviteeUma', 'must not be the inviter');
  }
  const customer = await inviteeOf(ctx, invitee);
  if (customer) requireCustomer(ctx, customer);
  const claimedInvitation = ctx.update(invitations, row, {
    status: invitationStates.next(row.status, 'claim'),
    invitee_uma: invitee.address,
    invitee_customer_id: customer?.id ?? null,
    claimed_at: ctx.now,
    updated_at: ctx.now,
  });
  ctx.later(NOTIFY_CLAIMED, { code, platformId: row.platform_id });
  return claimedInvitation;
}

async function cancel(ctx: Ctx, code: string): Promise<InvitationRow> {
  const row = await invitationOf(ctx, code);
  if (row.platform_id !== ctx.caller.platformId) {
    throw new Fault('FORBIDDEN', 'Only the platform that created an invitation can cancel it.');
  }
  assertPending(row, ctx.now);
  return ctx.update(invitations, row, {
    status: invitationStates.next(row.status, 'cancel'),
    updated_at: ctx.now,
  });
}

export const invitationOperations = ({ origin }: InvitationDeps) => {
  const viewOf = (ctx: Ctx, row: InvitationRow): InvitationView =>
    presentInvitation(row, ctx.now, origin());
  return [
    handle(createInvitation, async (ctx, { body }) => ({
      status: 201,
      body: viewOf(ctx, await create(ctx, body)),
    })),
    handle(getInvitation, async (ctx, { params }) => ({
      status: 200,
      body: viewOf(ctx, await invitationOf(ctx, params.invitationCode)),
    })),
    handle(claimInvitation, async (ctx, { params, body }) => ({
      status: 200,
      body: viewOf(ctx, await claim(ctx, params.invitationCode, body.inviteeUma)),
    })),
    handle(cancelInvitation, async (ctx, { params }) => ({
      status: 200,
      body: viewOf(ctx, await cancel(ctx, params.invitationCode)),
    })),
  ];
};
