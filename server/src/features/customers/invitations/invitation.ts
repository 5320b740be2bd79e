// Maps an invitation to the API resource, and checks that it can still be claimed or canceled.
// The functions are pure.
import type { Static } from '@sinclair/typebox';
import { moneyView } from '../../../catalog/currencies/money-format.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { UmaInvitation } from './contract.ts';
import type { InvitationRow } from './store.ts';

export type InvitationView = Static<typeof UmaInvitation>;

/** Path prefix of the hosted page. */
export const INVITATION_PATH = '/i';

/**
 * Whether a string has the format of a code: 20 hexadecimal digits, or 8 for codes of older
 * versions.
 */
export const isCode = (text: string): boolean => /^(?:[0-9a-f]{20}|[0-9a-f]{8})$/.test(text);

/** Current status. EXPIRED is derived from the time and not stored. */
export const statusOf = (row: InvitationRow, now: Time): InvitationView['status'] =>
  row.status === 'PENDING' && row.expires_at !== null && row.expires_at <= now
    ? 'EXPIRED'
    : row.status;

export function presentInvitation(row: InvitationRow, now: Time, origin: string): InvitationView {
  return {
    code: row.id,
    createdAt: iso(row.created_at),
    ...(row.claimed_at === null ? {} : { claimedAt: iso(row.claimed_at) }),
    url: `${origin}${INVITATION_PATH}/${row.id}`,
    ...(row.expires_at === null ? {} : { expiresAt: iso(row.expires_at) }),
    inviterUma: row.inviter_uma,
    ...(row.invitee_uma === null ? {} : { inviteeUma: row.invitee_uma }),
    status: statusOf(row, now),
    ...(row.first_name === null ? {} : { firstName: row.first_name }),
    ...(row.amount === null || row.currency === null
      ? {}
      : { amountToSend: moneyView({ amount: row.amount, currency: row.currency }) }),
  };
}

/** Throws unless the invitation is pending. */
export function assertPending(row: InvitationRow, now: Time): void {
  const status = statusOf(row, now);
  if (status === 'PENDING') return;
  if (status === 'CLAIMED') {
    const reason = 'The invitation was already claimed. Request a new invitation.';
    throw new Fault('INVITATION_ALREADY_CLAIMED', reason);
  }
  if (status === 'CANCELLED') {
    const reason = 'The invitation was canceled. Request a new invitation.';
    throw new Fault('INVITATION_CANCELLED', reason);
  }
  const expiredAt = iso(row.expires_at as Time);
  throw new Fault('INVALID_INPUT', 'The invitation has expired. Request a new invitation.', {
    expiredAt,
  });
}
