// Sends and confirms verification codes for e-mail address and telephone number. The channels
// differ in data only. A wrong code is rejected and counted in one change set. Sending requires
// that the customer is unchanged, so that no code is sent to a replaced address.

import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  type CodePurpose,
  type CodeRules,
  issueCode,
  verifyCode,
} from '../../notifications/codes/index.ts';
import {
  canSend,
  codeText,
  type MessageChannel,
  sendMessage,
} from '../../notifications/messages/index.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { isUnderSca } from '../eligibility/index.ts';
import { type CustomerRow, customerOf, requireCustomer, updateCustomer } from '../records/index.ts';
import { customerView } from '../registration/index.ts';
import {
  confirmCustomerEmailVerification,
  confirmCustomerPhoneVerification,
  sendCustomerEmailVerification,
  sendCustomerPhoneVerification,
} from './contract.ts';

interface ContactDeps {
  connectors: (environment: Mode) => Connectors;
}

interface Channel {
  /** Name in `contactVerification`, and the column of the contact. */
  name: 'email' | 'phone';
  /** Name of the contact in the API. */
  field: 'email' | 'phoneNumber';
  messageChannel: MessageChannel;
}

const EMAIL: Channel = { name: 'email', field: 'email', messageChannel: 'EMAIL' };
const PHONE: Channel = { name: 'phone', field: 'phoneNumber', messageChannel: 'SMS' };

const RULES: CodeRules = {
  length: 6,
  validityMs: 10 * 60_000,
  maxAttempts: 5,
  resendAfterMs: 30_000,
};
const SANDBOX_CODE = '123456';
const ALL_PENDING = { email: 'PENDING', phone: 'PENDING' } as const;

/** Reads a customer whose channel is pending. Throws if the channel needs no verification. */
async function requirePendingChannel(ctx: Ctx, { name, field }: Channel, customerId: string) {
  const [row, platform] = await Promise.all([
    customerOf(ctx, customerId, { rejectDeleted: true }),
    readOwnPlatform(ctx),
  ]);
  // Verification may have become mandatory since registration, by a setting of the operator.
  const requiredStates = isUnderSca(ctx.vault, platform, row) ? ALL_PENDING : null;
  const states = row.contact_verification ?? requiredStates;
  const state = states?.[name];
  if (!state)
    throw new Fault('CONFLICT', `The ${field} of this customer does not require verification.`);
  if (state === 'VERIFIED') {
    throw new Fault('CONFLICT', `The ${field} of this customer is already verified.`);
  }
  const address = row[name];
  if (address === null)
    throw invalidField(field, 'is missing. Add this contact to the customer first');
  return { row, platform, state: states, address };
}

const purposeOf = (ctx: Ctx, { name }: Channel, { id }: CustomerRow, binding: string) =>
  ({
    id: `contact ${name} ${id}`,
    binding,
    rules: RULES,
    fixedCode: ctx.caller.environment === 'sandbox' ? SANDBOX_CODE : undefined,
  }) satisfies CodePurpose;

async function send(ctx: Ctx, { connectors }: ContactDeps, channel: Channel, customerId: string) {
  const { row, platform, address } = await requirePendingChannel(ctx, channel, customerId);
  const { environment } = ctx.caller;
  if (!canSend(connectors(environment), channel.messageChannel, environment)) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `No provider for ${channel.messageChannel} messages is configured. The operator can add one.`,
    );
  }
  const code = await issueCode(ctx, purposeOf(ctx, channel, row, address));
  requireCustomer(ctx, row);
  sendMessage(ctx, {
    channel: channel.messageChannel,
    to: address,
    kind: 'CONTACT_CODE',
    customer: row,
    expiresAt: ctx.now + RULES.validityMs,
    ...codeText(platform.name, code, RULES.validityMs),
  });
  return { status: 204, body: undefined } as const;
}

async function confirm(ctx: Ctx, channel: Channel, customerId: string, code: string) {
  const { row, state, address } = await requirePendingChannel(ctx, channel, customerId);
  const verdict = await verifyCode(ctx, purposeOf(ctx, channel, row, address), code);
  if (verdict !== 'valid') {
    // One error for wrong and expired codes, so that the reply does not help an attacker to guess
    // codes.
    return {
      rejected: invalidField(
        'code',
        'is wrong or has expired. Check the code or request a new one',
      ),
    };
  }
  const contact_verification = state && { ...state, [channel.name]: 'VERIFIED' as const };
  const updatedCustomer = updateCustomer(ctx, row, { contact_verification });
  return { status: 200, body: await customerView(ctx, updatedCustomer) } as const;
}

export const contactOperations = (deps: ContactDeps) => [
  handle(sendCustomerEmailVerification, (ctx, { params }) =>
    send(ctx, deps, EMAIL, params.customerId),
  ),
  handle(confirmCustomerEmailVerification, (ctx, { params, body }) =>
    confirm(ctx, EMAIL, params.customerId, body.code),
  ),
  handle(sendCustomerPhoneVerification, (ctx, { params }) =>
    send(ctx, deps, PHONE, params.customerId),
  ),
  handle(confirmCustomerPhoneVerification, (ctx, { params, body }) =>
    confirm(ctx, PHONE, params.customerId, body.code),
  ),
];
