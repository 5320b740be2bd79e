// Examples of quotes, transfers and transactions.

import { describe } from 'vitest';
import { waitUntilEventsVisible } from '../kit/http/event-order.ts';
import {
  balanceOf,
  bankInGermany,
  bankInTheUs,
  createPerson,
  sparkWalletOf,
} from '../kit/http/example-people.ts';
import { examples, type Stage } from '../kit/http/examples.ts';

/** A customer with 5,000.00 USD, and the account that holds it. */
async function payer(stage: Stage) {
  const customer = await createPerson(stage);
  const account = await balanceOf(stage, customer.id, 'USD');
  const path = `/sandbox/internal-accounts/${account.id}/fund`;
  await stage.app.call('POST', path, { amount: 5_000_00 });
  return { customer, account };
}

const fromBalance = (accountId: string) => ({ sourceType: 'ACCOUNT', accountId });
const toAccount = (accountId: string) => ({ destinationType: 'ACCOUNT', accountId });

async function payout(stage: Stage) {
  const { customer, account } = await payer(stage);
  const bank = await bankInGermany(stage, customer.id);
  const quote = await stage.show('createQuote', 'balance-to-bank', {
    summary: 'From a balance in USD to a bank account in EUR',
    body: {
      source: fromBalance(account.id),
      destination: toAccount(bank.id),
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 250_00,
      description: 'Invoice 2026-014',
    },
  });
  await stage.show('executeQuote', 'balance', {
    summary: 'A quote that is paid from a balance',
    params: { quoteId: quote.id },
    headers: { 'Idempotency-Key': 'invoice-2026-014' },
    body: {},
  });
  await stage.show('getQuoteById', 'executed', {
    summary: 'After execution',
    params: { quoteId: quote.id },
  });
  await stage.app.advance(60_000);
  await stage.show('getTransactionById', 'payout-completed', {
    summary: 'A completed payout',
    params: { transactionId: quote.transactionId },
  });
  await stage.show('listTransactions', 'of-a-customer', {
    summary: 'Payments of a customer, newest first',
    query: { customerId: customer.id, limit: '2' },
  });
}

async function fundedByBank(stage: Stage) {
  const customer = await createPerson(stage);
  const { lookupId } = await stage.show('lookupUma', 'before-a-quote', {
    summary: 'Look up a UMA address before a quote',
    params: { receiverUmaAddress: '$success.eur@sandbox.uma.money' },
    query: { customerId: customer.id },
  });
  const quote = await stage.show('createQuote', 'bank-transfer-to-uma', {
    summary: 'Paid in by bank transfer, sent to a UMA address',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' },
      lookupId,
      destination: {
        destinationType: 'UMA_ADDRESS',
        umaAddress: '$success.eur@sandbox.uma.money',
        currency: 'EUR',
      },
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 100_00,
    },
  });
  await stage.show('sandboxSend', 'fund-a-quote', {
    summary: 'Simulate the bank transfer that a quote waits for',
    body: { quoteId: quote.id, currencyCode: 'USD' },
  });
  await stage.app.advance(60_000);
}

async function transfers(stage: Stage) {
  const { customer, account } = await payer(stage);
  const bank = await bankInTheUs(stage, customer.id);
  await stage.show('createTransferOut', 'balance-to-bank', {
    summary: 'From a balance to a bank account in the same currency',
    body: { source: { accountId: account.id }, destination: { accountId: bank.id }, amount: 75_00 },
  });
  await stage.show('createTransferIn', 'bank-to-balance', {
    summary: 'Pull from a bank account by ACH debit',
    body: {
      source: { accountId: bank.id },
      destination: { accountId: account.id },
      amount: 200_00,
    },
  });
  await stage.app.advance(60_000);
}

/** Quotes of the other sources and destinations. */
async function otherQuotes(stage: Stage) {
  const { customer, account } = await payer(stage);
  const wallet = await sparkWalletOf(stage, customer.id);
  const euros = await balanceOf(stage, customer.id, 'EUR');
  const locked = { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 50_00 };
  await stage.show('createQuote', 'balance-to-wallet', {
    summary: 'From a balance in USD to a Spark wallet',
    body: { source: fromBalance(account.id), destination: toAccount(wallet.id), ...locked },
  });
  await stage.show('createQuote', 'balance-to-balance', {
    summary: 'Convert USD to EUR between balances of a customer',
    body: { source: fromBalance(account.id), destination: toAccount(euros.id), ...locked },
  });
  await stage.show('createQuote', 'funded-to-balance', {
    summary: 'Paid in by bank transfer, sent to a balance',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' },
      destination: toAccount(account.id),
      ...locked,
    },
  });
  const mexico = await stage.show('createCustomerExternalAccount', 'bank-in-mexico', {
    summary: 'A bank account in Mexico',
    body: {
      customerId: customer.id,
      currency: 'MXN',
      accountInfo: {
        accountType: 'MXN_ACCOUNT',
        clabeNumber: '032180000118359719',
        beneficiary: {
          beneficiaryType: 'INDIVIDUAL',
          fullName: 'Sofía Herrera',
          countryOfResidence: 'MX',
        },
      },
    },
  });
  await stage.show('createQuote', 'balance-to-mexico', {
    summary: 'From a balance in USD to a bank account in Mexico, 2,000.00 MXN to arrive',
    body: {
      source: fromBalance(account.id),
      destination: toAccount(mexico.id),
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 2_000_00,
    },
  });
}

async function cancelled(stage: Stage) {
  const { customer, account } = await payer(stage);
  const bank = await bankInTheUs(stage, customer.id);
  const quote = await stage.show('createQuote', 'by-ach', {
    summary: 'To a bank account by ACH',
    body: {
      source: fromBalance(account.id),
      destination: { ...toAccount(bank.id), paymentRail: 'ACH' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 120_00,
    },
  });
  const params = { transactionId: quote.transactionId as string };
  await stage.app.call('POST', `/quotes/${quote.id}/execute`);
  await stage.show('confirmReceiptDelivery', 'now', {
    summary: 'The customer received the receipt',
    params,
    body: { receiptDeliveryConfirmedAt: '2026-01-05T09:00:00.000Z' },
  });
  await stage.show('cancelTransaction', 'requested', {
    summary: 'Cancel a payout by ACH that has not settled',
    params,
    body: { reason: 'The invoice was withdrawn' },
  });
  await stage.app.advance(60_000);
  await stage.show('getTransactionById', 'refunded', {
    summary: 'A cancelled payout; the amount was refunded to the balance',
    params,
  });
}

/** Payments from UMA addresses, which the platform decides later. */
async function incoming(stage: Stage) {
  const { app, show, receiver } = stage;
  const customer = await createPerson(stage);
  receiver.behave((response, { type }) => {
    response.writeHead(type === 'INCOMING_PAYMENT.PENDING' ? 202 : 200).end();
  });
  const receive = () =>
    show('sandboxReceive', 'to-a-customer', {
      summary: 'Simulate a payment of 250.00 USD from a UMA address',
      body: {
        senderUmaAddress: '$success.usd@sandbox.uma.money',
        customerId: customer.id,
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 250_00,
      },
    });
  const [accepted, declined] = [await receive(), await receive()];
  await app.settle();
  await show('approvePendingPayment', 'approved', {
    summary: 'Accept a payment',
    params: { transactionId: accepted.id },
    body: { receiverCustomerInfo: { FULL_NAME: 'Amara Okafor' } },
  });
  await show('rejectPendingPayment', 'rejected', {
    summary: 'Reject a payment',
    params: { transactionId: declined.id },
    body: { reason: 'UNKNOWN_SENDER' },
  });
  await app.advance(60_000);
  await show('getTransactionById', 'incoming', {
    summary: 'A completed incoming payment',
    params: { transactionId: accepted.id },
  });
  receiver.behave(200);
}

const CURSOR = '                    4711        1767603600000 ';

async function events({ app, show }: Stage) {
  await waitUntilEventsVisible(app);
  const page = await show('listEvents', 'newest', {
    summary: 'The newest event of one type, and a cursor to follow from here',
    query: { type: 'OUTGOING_PAYMENT.COMPLETED', limit: '1' },
  });
  // Cursors contain ids of transactions, which follow from the work of other tests.
  page.after = page.before = Buffer.from(CURSOR).toString('base64url');
  await show('getEventById', 'one', {
    summary: 'One event',
    params: { eventId: page.data[0].id },
  });
}

describe('examples of payments', () => {
  examples('payments', {
    payout,
    fundedByBank,
    transfers,
    otherQuotes,
    cancelled,
    incoming,
    events,
  });
});
