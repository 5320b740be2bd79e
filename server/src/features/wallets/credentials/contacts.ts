// Changes of a contact that receives one-time codes of a wallet. A new contact gives access to the wallet, so
// the holder signs the change with a session of any wallet that uses the contact. Contact and credentials
// change in one commit. Codes sent to the previous contact become invalid, and sessions remain valid.

import { Fault, invalidField } from '../../../kernel/fault.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { claim } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { digestOf } from '../../customers/digests/index.ts';
import type { CustomerRow } from '../../customers/records/index.ts';
import {
  type AuthorizeContactChange,
  type ContactChange,
  updateCustomerById,
} from '../../customers/registration/index.ts';
import { findWallet, type WalletDeps } from '../accounts/wallet.ts';
import {
  issueChallenge,
  isUnsigned,
  markDelivered,
  matchesKnownRequest,
  type SignableRequest,
  verifyRetry,
} from '../signing/requests.ts';
import { credentials } from '../store.ts';
import type { WalletCredential } from './kinds.ts';
import { contactActivityOf, dropOtp } from './otp.ts';

const CONTACTS = {
  email: {
    type: 'EMAIL_OTP',
    column: 'email',
    name: 'e-mail address',
    conflictCode: 'EMAIL_OTP_EMAIL_ALREADY_EXISTS',
    changed: 'EMAIL_OTP_CREDENTIAL_SET_CHANGED',
  },
  phoneNumber: {
    type: 'SMS_OTP',
    column: 'phone',
    name: 'telephone number',
    conflictCode: 'SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS',
    changed: 'SMS_OTP_CREDENTIAL_SET_CHANGED',
  },
} as const;

type Contact = (typeof CONTACTS)[keyof typeof CONTACTS];

/** Credentials that used the contact at the first request. */
interface BoundCredentials {
  credentialIds: string[];
}

/** Credentials that use the contact, with their wallets, oldest first. */
async function findContactCredentials(
  ctx: Ctx,
  { id }: CustomerRow,
  { type }: Contact,
): Promise<WalletCredential[]> {
  const rows = await ctx.db.find(
    credentials,
    { customer_id: id, type, status: 'ACTIVE' },
    { ...UNPAGED, orderBy: 'created_at' },
  );
  const walletsOfRows = await Promise.all(rows.map((row) => findWallet(ctx, row.account_id)));
  return rows.flatMap((row, index) => {
    const wallet = walletsOfRows[index];
    return wallet ? [{ wallet, row }] : [];
  });
}

/** Whether a wallet sends one-time codes to the phone number of the customer. */
export const isPhoneUsedForOtp = async (ctx: Ctx, customer: CustomerRow): Promise<boolean> =>
  (await findContactCredentials(ctx, customer, CONTACTS.phoneNumber)).length > 0;

const contactInUseSql = (column: Contact['column']) => `select 1 from customers c
  join credentials k on k.customer_id = c.id and k.type = $4 and k.status = 'ACTIVE'
  where c.${column}_digest = $3 and c.platform_id = $1 and c.id <> $2 and c.deleted_at is null
  limit 1`;

/** Throws if the new contact is empty or receives codes of another customer. */
async function validateContact(
  ctx: Ctx,
  { customer, channel, value }: ContactChange,
): Promise<string> {
  const { type, column, name, conflictCode } = CONTACTS[channel];
  if (value === null) {
    throw invalidField(channel, 'cannot be removed while a wallet sends one-time codes to it');
  }
  const digest = digestOf(ctx.vault, column, value);
  const values = [ctx.caller.platformId, customer.id, digest, type];
  if ((await ctx.db.query(contactInUseSql(column), values)).length) {
    throw new Fault(conflictCode, `This ${name} receives one-time codes of another customer.`);
  }
  return value;
}

/** Of two concurrent changes to one contact, the second is retried. */
function claimContact(ctx: Ctx, { column, type }: Contact, value: string): Promise<void> {
  const digest = digestOf(ctx.vault, column, value);
  return claim(ctx, `${type} of ${ctx.caller.platformId} ${digest}`);
}

const idsOf = (contactCredentials: readonly WalletCredential[]) =>
  contactCredentials.map(({ row }) => row.id).sort();

/** Requests a signature. Returns undefined if no credential uses the contact. */
async function requestSignature(
  ctx: Ctx,
  request: SignableRequest,
  change: ContactChange,
  contactCredentials: readonly WalletCredential[],
) {
  const { type } = CONTACTS[change.channel];
  const [firstCredential] = contactCredentials;
  if (!firstCredential) return undefined;
  const value = await validateContact(ctx, change);
  const boundCredentials: BoundCredentials = { credentialIds: idsOf(contactCredentials) };
  return issueChallenge(ctx, request, {
    wallet: firstCredential.wallet,
    payload: contactActivityOf(type, value, firstCredential.wallet.row.user_id),
    boundData: boundCredentials,
    signer: {
      by: 'session',
      accounts: [...new Set(contactCredentials.map(({ row }) => row.account_id))],
    },
  });
}

/** Simulates a partial failure, which external custodians can have. Here all changes are atomic. */
function simulateSyncFailure(ctx: Ctx, deps: WalletDeps, { channel, value }: ContactChange): void {
  const { walletScript } = deps.connectors(ctx.caller.environment);
  if (channel !== 'email' || !value || !walletScript?.rejectsEmail(value)) return;
  const reason = 'A credential could not be changed to this e-mail address. No change was made.';
  throw new Fault('EMAIL_OTP_CREDENTIAL_SYNC_FAILED', reason);
}

/** Stages a signed change for the credentials. */
async function applySignedChange(
  ctx: Ctx,
  deps: WalletDeps,
  request: SignableRequest,
  change: ContactChange,
  contactCredentials: readonly WalletCredential[],
) {
  const retry = await verifyRetry(ctx, deps, request);
  if ('rejected' in retry) return retry;
  const { changed, name } = CONTACTS[change.channel];
  const { credentialIds } = retry.boundData as BoundCredentials;
  if (credentialIds.join() !== idsOf(contactCredentials).join()) {
    const reason =
      `The credentials that use the ${name} have changed since the signature was requested. ` +
      'Send the first request again.';
    throw new Fault(changed, reason);
  }
  // The contact is claimed before it is validated. In the reverse order, a claim that commits in
  // between would be read as the current one, and both changes would succeed.
  if (change.value !== null) await claimContact(ctx, CONTACTS[change.channel], change.value);
  await validateContact(ctx, change);
  simulateSyncFailure(ctx, deps, change);
  for (const { row } of contactCredentials) {
    ctx.update(credentials, row, { updated_at: ctx.now });
    await dropOtp(ctx, row.id);
  }
  markDelivered(ctx, retry.row);
  return undefined;
}

/** Authorizes a change of contact that affects wallets of the customer. */
export const authorizeContactChange =
  (deps: WalletDeps): AuthorizeContactChange =>
  async (ctx, change) => {
    const { customer, channel, body, headers } = change;
    const contactCredentials = await findContactCredentials(ctx, customer, CONTACTS[channel]);
    const request: SignableRequest = {
      operationId: updateCustomerById.operationId,
      resourceId: customer.id,
      input: { params: { customerId: customer.id }, body },
      headers,
    };
    const isChange = change.value !== customer[CONTACTS[channel].column];
    if (isUnsigned(headers))
      return isChange ? requestSignature(ctx, request, change, contactCredentials) : undefined;
    // Signature headers are ignored if no signature is needed, unless they belong to this request.
    const isSignedRetry =
      (isChange && contactCredentials.length > 0) || (await matchesKnownRequest(ctx, request));
    return isSignedRetry
      ? applySignedChange(ctx, deps, request, change, contactCredentials)
      : undefined;
  };
