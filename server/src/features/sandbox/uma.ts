// Simulated UMA payments to a customer. Only the sender is simulated. The platform approves the payment like
// a real payment.

import { type Static, Type } from '@sinclair/typebox';
import type { Connectors, UmaPort } from '../../connectors/ports/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { named } from '../../kernel/schema.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { handle } from '../../runtime/operation/handle.ts';
import { type CustomerRow, customerOf, findCustomers } from '../customers/records/index.ts';
import { receiveUmaPayment } from '../payments/pay-ins/index.ts';
import { IncomingTransaction, presentTransaction } from '../payments/presentation/index.ts';
import { readOwnPlatform } from '../tenancy/platform/index.ts';

type Request = Static<(typeof sandboxReceive)['body']>;

const sandboxReceive = operation({
  operationId: 'sandboxReceive',
  method: 'POST',
  path: '/sandbox/uma/receive',
  tag: 'Sandbox',
  summary: 'Receive a UMA payment',
  description:
    'Simulates an incoming payment from a UMA address of the sandbox to a customer. Identify the ' +
    'customer by UMA address or by ID. The platform receives a webhook to approve the payment, ' +
    'as with a real payment. If the platform approves, the funds are credited to the customer. ' +
    'If not, the payment is rejected.',
  permission: 'TRANSACT',
  sandboxOnly: true,
  body: named(
    'SandboxUmaReceiveRequest',
    Type.Object(
      {
        senderUmaAddress: Type.String({
          description: 'UMA address of the payer. Must be one of the UMA addresses of the sandbox.',
        }),
        receiverUmaAddress: Type.Optional(
          Type.String({
            description:
              'UMA address of the customer who receives the payment. Required unless ' +
              '`customerId` is present.',
          }),
        ),
        customerId: Type.Optional(
          Type.String({
            description:
              'ID of the customer who receives the payment. Must be the ID of the customer with ' +
              '`receiverUmaAddress` if both are present.',
          }),
        ),
        receivingCurrencyCode: Type.String({ description: 'Currency that the customer receives.' }),
        receivingCurrencyAmount: Type.Integer({
          format: 'int64',
          exclusiveMinimum: 0,
          maximum: 9_000_000_000_000_000,
          description:
            'Amount that the customer receives, in minor units of `receivingCurrencyCode`.',
        }),
      },
      { description: 'The simulated UMA payment.' },
    ),
  ),
  bodyRules: (body) => {
    const { receiverUmaAddress, customerId } = (body ?? {}) as Partial<Request>;
    if (receiverUmaAddress !== undefined || customerId !== undefined) return [];
    return [{ field: 'receiverUmaAddress', message: 'is required unless customerId is present' }];
  },
  replies: { 200: IncomingTransaction },
  errors: [
    'INVALID_UMA_ADDRESS',
    'SENDER_NOT_ACCEPTED',
    'AMOUNT_OUT_OF_RANGE',
    'INVALID_CURRENCY',
    'WEBHOOK_ENDPOINT_NOT_SET',
    'USER_NOT_READY',
    'COUNTERPARTY_NOT_ALLOWED',
    'UMA_NOT_FOUND',
    'CUSTOMER_NOT_FOUND',
    'CUSTOMER_DELETED',
  ],
  money: true,
  callsExternal: true,
});

/** Payer data of every sandbox sender. */
const SENDER = {
  FULL_NAME: 'Sandbox Sender',
  BIRTH_DATE: '1985-06-15',
  NATIONALITY: 'US',
  COUNTRY_OF_RESIDENCE: 'US',
  EMAIL: 'sender@example.com',
  USER_TYPE: 'INDIVIDUAL',
};

const UMA_FORM = /^\$[a-z0-9\-_.+]+@[a-z0-9.-]+$/;

/**
 * The address of the sender in lower case. Throws INVALID_UMA_ADDRESS, UMA_NOT_FOUND and SENDER_NOT_ACCEPTED.
 */
async function senderOf(ctx: Ctx, uma: UmaPort, input: string, receiver: string): Promise<string> {
  const sender = input.toLowerCase();
  if (!UMA_FORM.test(sender))
    throw new Fault(
      'INVALID_UMA_ADDRESS',
      'The sender is not a valid UMA address. Use the form $name@domain.',
    );
  const notFoundFault = new Fault(
    'UMA_NOT_FOUND',
    'The sender was not found. Use one of the UMA addresses of the sandbox.',
  );
  if (!uma.reaches(sender)) throw notFoundFault;
  const discovery = await uma.discoverPayee({ receiver: sender, sender: receiver, at: ctx.now });
  if (discovery.state === 'found') return sender;
  throw discovery.code === 'UMA_NOT_FOUND'
    ? notFoundFault
    : new Fault('SENDER_NOT_ACCEPTED', discovery.reason);
}

/**
 * The customer with this address, ID or both. Throws UMA_NOT_FOUND, CUSTOMER_NOT_FOUND and CUSTOMER_DELETED.
 */
async function receiverOf(ctx: Ctx, { receiverUmaAddress, customerId }: Request) {
  const requestedCustomer =
    customerId === undefined ? undefined : await customerOf(ctx, customerId);
  let row: CustomerRow | undefined = requestedCustomer;
  if (receiverUmaAddress !== undefined) {
    const address = { uma_address: receiverUmaAddress.toLowerCase() };
    [row] = await findCustomers(ctx.db, { platform_id: ctx.caller.platformId, ...address });
  }
  if (!row || (requestedCustomer && requestedCustomer.id !== row.id)) {
    const reason = requestedCustomer
      ? 'The customer does not have this UMA address.'
      : 'No customer of the platform has this UMA address.';
    throw new Fault('UMA_NOT_FOUND', reason);
  }
  return customerOf(ctx, row.id, { rejectDeleted: true });
}

export const sandboxUmaOperations = (connectors: (environment: Mode) => Connectors) => [
  handle(sandboxReceive, async (ctx, { body }) => {
    const currentConnectors = connectors(ctx.caller.environment);
    if (!currentConnectors.uma?.collect) {
      throw new Fault('NOT_IMPLEMENTED', 'No UMA provider is connected.');
    }
    const platform = await readOwnPlatform(ctx);
    const customer = await receiverOf(ctx, body);
    const sender = await senderOf(
      ctx,
      currentConnectors.uma,
      body.senderUmaAddress,
      customer.uma_address,
    );
    const row = await receiveUmaPayment(ctx, currentConnectors, {
      platform,
      customer,
      sender,
      currency: body.receivingCurrencyCode,
      amount: BigInt(body.receivingCurrencyAmount),
      payerData: SENDER,
    });
    const transaction = presentTransaction(row) as Static<typeof IncomingTransaction>;
    return { status: 200, body: transaction };
  }),
];
