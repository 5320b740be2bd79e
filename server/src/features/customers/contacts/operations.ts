// Sending a code and handing it in, the same for both channels: what tells e-mail and telephone apart is
// data. A wrong code is refused and counted all the same, in one change set. Sending leans on the customer
// as it was read, so that a code never goes to an address that was changed at that very moment.

import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  type CodePurpose,
  type CodeRules,
  issueCode,
  takeCode,
} from '../../notifications/codes/index.ts';
import {
  canSend,
  codeText,
  type MessageChannel,
  sendMessage,
} from '../../notifications/messages/index.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import { isUnderSca } from '../eligibility/index.ts';
import { type CustomerRow, customerOf, requireCustomer, updateCustomer } from '../records/index.ts';
import { customerView } from '../registration/index.ts';
import {
  confirmCustomerEmailVerification,
  confirmCustomerPhoneVerification,
  sendCustomerEmailVerification,
  sendCustomerPhoneVerification,
} from './contract.ts';

interface ContactParts {
  connectors: (environment: Mode) => Connectors;
}

interface Channel {
  /** In `contactVerification`, and the column that has what is to be proved. */
  name: 'email' | 'phone';
  /** What is to be proved, as the API calls it. */
  field: 'email' | 'phoneNumber';
  via: MessageChannel;
}

const EMAIL: Channel = { name: 'email', field: 'email', via: 'EMAIL' };
const PHONE: Channel = { name: 'phone', field: 'phoneNumber', via: 'SMS' };

const RULES: CodeRules = { length: 6, livesMs: 10 * 60_000, tries: 5, againAfterMs: 30_000 };
const SANDBOX_CODE = '123456';
const NOTHING_PROVED = { email: 'PENDING', phone: 'PENDING' } as const;

/** The customer with what it has to prove; throws where there is nothing to prove. */
async function provable(ctx: Ctx, { name, field }: Channel, customerId: string) {
  const [row, platform] = await Promise.all([
    customerOf(ctx, customerId, { alive: true }),
    ownPlatform(ctx),
  ]);
  // What was not asked for when the customer came may be asked for since: the operator's setting can change.
  const asked = isUnderSca(ctx.vault, platform, row) ? NOTHING_PROVED : null;
  const states = row.contact_verification ?? asked;
  const state = states?.[name];
  if (!state) throw new Fault('CONFLICT', `The ${field} of this customer need not be verified.`);
  if (state === 'VERIFIED') {
    throw new Fault('CONFLICT', `The ${field} of this customer is verified already.`);
  }
  const address = row[name];
  if (address === null) throw invalidField(field, 'the customer has none');
  return { row, platform, state: states, address };
}

const purposeOf = (ctx: Ctx, { name }: Channel, { id }: CustomerRow, proves: string) =>
  ({
    id: `contact ${name} ${id}`,
    proves,
    rules: RULES,
    fixed: ctx.caller.environment === 'sandbox' ? SANDBOX_CODE : undefined,
  }) satisfies CodePurpose;

async function send(ctx: Ctx, { connectors }: ContactParts, channel: Channel, customerId: string) {
  const { row, platform, address } = await provable(ctx, channel, customerId);
  const { environment } = ctx.caller;
  if (!canSend(connectors(environment), channel.via, environment)) {
    throw new Fault('NOT_IMPLEMENTED', `Nothing is connected here that sends by ${channel.via}.`);
  }
  const code = await issueCode(ctx, purposeOf(ctx, channel, row, address));
  requireCustomer(ctx, row);
  sendMessage(ctx, {
    channel: channel.via,
    to: address,
    kind: 'CONTACT_CODE',
    customer: row,
    expiresAt: ctx.now + RULES.livesMs,
    ...codeText(platform.name, code, RULES.livesMs),
  });
  return { status: 204, body: undefined } as const;
}

async function confirm(ctx: Ctx, channel: Channel, customerId: string, code: string) {
  const { row, state, address } = await provable(ctx, channel, customerId);
  const verdict = await takeCode(ctx, purposeOf(ctx, channel, row, address), code);
  if (verdict !== 'right') {
    // One answer for all of it: which it was would help nobody but somebody who guesses.
    return { refused: invalidField('code', 'is wrong, or does not work any more') };
  }
  const contact_verification = state && { ...state, [channel.name]: 'VERIFIED' as const };
  const now = updateCustomer(ctx, row, { contact_verification });
  return { status: 200, body: await customerView(ctx, now) } as const;
}

/** The operations; list them where the server is put together. */
export const contactOperations = (parts: ContactParts) => [
  handle(sendCustomerEmailVerification, (ctx, { params }) =>
    send(ctx, parts, EMAIL, params.customerId),
  ),
  handle(confirmCustomerEmailVerification, (ctx, { params, body }) =>
    confirm(ctx, EMAIL, params.customerId, body.code),
  ),
  handle(sendCustomerPhoneVerification, (ctx, { params }) =>
    send(ctx, parts, PHONE, params.customerId),
  ),
  handle(confirmCustomerPhoneVerification, (ctx, { params, body }) =>
    confirm(ctx, PHONE, params.customerId, body.code),
  ),
];
