// Statements that must compile, and statements that must not compile. `tsc` checks this file as part of
// the tests. The file is never run.
import {
  type Client,
  createClient,
  type ErrorCode,
  type Item,
  isRailheadError,
  type Quote,
  type RailheadError,
  type StoredEvent,
} from '../src/index.ts';
import { generateKeys, signed } from '../src/wallets/index.ts';
import { isEvent, verify } from '../src/webhooks.ts';

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const expectType = <_Check extends true>(): void => undefined;

const client: Client = createClient({ baseUrl: 'http://localhost' });

export async function inputs(): Promise<void> {
  await client.quotes.getQuoteById({ quoteId: 'Quote:1' });
  // @ts-expect-error a required parameter is missing
  await client.quotes.getQuoteById({});
  // @ts-expect-error an operation with required inputs is not called without them
  await client.quotes.getQuoteById();
  // @ts-expect-error the parameter has another name
  await client.quotes.getQuoteById({ id: 'Quote:1' });
  // @ts-expect-error the operation does not exist
  await client.quotes.getQuote({ quoteId: 'Quote:1' });
  await client.config.getPlatformConfig();
  await client.customers.listCustomers();
  await client.customers.listCustomers({ limit: 10 });
  // @ts-expect-error the parameter is a number
  await client.customers.listCustomers({ limit: '10' });
  await client.transactions.cancelTransaction({ transactionId: 'Transaction:1' });
  const source = { sourceType: 'ACCOUNT', accountId: 'InternalAccount:1' } as const;
  await client.quotes.createQuote({
    source,
    destination: { destinationType: 'ACCOUNT', accountId: 'ExternalAccount:1' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100,
  });
  await client.quotes.createQuote({
    source,
    // @ts-expect-error the destination type does not exist
    destination: { destinationType: 'CASH' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100,
  });
  await client.customers.createCustomer({ customerType: 'INDIVIDUAL', fullName: 'Ada' });
  // @ts-expect-error the name of a business is another field
  await client.customers.createCustomer({ customerType: 'BUSINESS', fullName: 'Ada' });
  const options = { idempotencyKey: 'a', signal: AbortSignal.timeout(1), timeout: 1, deadline: 2 };
  await client.customers.updateCustomerById(
    { customerId: 'Customer:1', customerType: 'INDIVIDUAL', email: 'ada@example.com' },
    options,
  );
  // @ts-expect-error the option does not exist
  await client.config.getPlatformConfig({}, { retry: 1 });
}

export async function outputs(): Promise<void> {
  const quote = await client.quotes.getQuoteById({ quoteId: 'Quote:1' });
  expectType<Equal<typeof quote, Quote>>();
  const deletedReply = await client.tokens.deleteTokenById({ tokenId: 'Token:1' });
  expectType<Equal<typeof deletedReply, undefined>>();
  const executionReply = await client.quotes.executeQuote({ quoteId: 'Quote:1' });
  // @ts-expect-error a challenge has no amount
  executionReply.totalSendingAmount;
  const reply = await client.quotes.executeQuote({ quoteId: 'Quote:1' }).withResponse();
  if (reply.status === 200) expectType<Equal<typeof reply.data, Quote>>();
  else reply.data.payloadToSign.toUpperCase();
  for await (const transaction of client.transactions.listTransactions()) {
    expectType<Equal<typeof transaction, Item<'listTransactions'>>>();
    if (transaction.type === 'CARD') transaction.merchant?.toString();
    // @ts-expect-error the field exists for cards only
    else transaction.merchant;
  }
  // @ts-expect-error the operation returns no list
  for await (const _ of client.quotes.getQuoteById({ quoteId: 'Quote:1' })) return;
}

export function errors(error: unknown): void {
  if (isRailheadError(error, 'executeQuote')) {
    expectType<Equal<typeof error, RailheadError<ErrorCode<'executeQuote'>>>>();
    if (error.code === 'INSUFFICIENT_FUNDS') return;
    // @ts-expect-error the code belongs to another operation
    if (error.code === 'STABLECOIN_NOT_PROVISIONED') return;
  }
  // @ts-expect-error the code does not exist
  if (isRailheadError(error) && error.code === 'NONSENSE') return;
  // @ts-expect-error the operation does not exist
  isRailheadError(error, 'nonsense');
}

export async function events(body: string): Promise<void> {
  const event = await verify({ body, headers: {}, keys: 'whsec_' });
  if (event.type === 'OUTGOING_PAYMENT.COMPLETED') event.data.sentAmount.amount.toFixed();
  if (event.type === 'CUSTOMER.KYC_APPROVED') {
    // @ts-expect-error the field exists for payments only
    event.data.sentAmount;
  }
  if (isEvent(event, 'OUTGOING_PAYMENT.FAILED', 'OUTGOING_PAYMENT.COMPLETED')) event.data.status;
  // @ts-expect-error the type does not exist
  if (event.type === 'PAYMENT.DONE') return;
  // @ts-expect-error at least one key is required
  await verify({ body, headers: {} });
  for await (const event of client.events.follow({ types: ['CARD.STATE_CHANGE'] })) {
    expectType<Equal<typeof event, StoredEvent<'CARD.STATE_CHANGE'>>>();
    event.data?.state.toLowerCase();
    // @ts-expect-error the data of an erased customer is null
    event.data.state;
  }
}

export async function wallets(): Promise<void> {
  const keys = await generateKeys();
  const { data } = await signed(keys, (options) =>
    client.internalAccounts.exportInternalAccount({ id: '', clientPublicKey: '' }, options),
  );
  data.encryptedWalletCredentials.toUpperCase();
  // @ts-expect-error a signed result has no challenge
  data.payloadToSign;
}
