// Examples of quotes, transfers and transactions.

import { describe } from 'vitest';
import { waitUntilEventsVisible } from '../kit/http/event-order.ts';
import {
  balanceOf,
  createGermanAccount,
  createPerson,
  createSparkWallet,
  createUsAccount,
} from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

/** A customer with 5,000.00 USD, and the account that holds it. */
async function recordPayer(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const account = await balanceOf(recorder, customer.id, 'USD');
  const path = `/sandbox/internal-accounts/${account.id}/fund`;
  await recorder.app.call('POST', path, { amount: 5_000_00 });
  return { customer, account };
}

const fromBalance = (accountId: string) => ({ sourceType: 'ACCOUNT', accountId });
const toAccount = (accountId: string) => ({ destinationType: 'ACCOUNT', accountId });

async function recordPayout(recorder: ExampleRecorder) {
  const { customer, account } = await recordPayer(recorder);
  const bank = await createGermanAccount(recorder, customer.id);
  const quote = await recorder.record('createQuote', 'balance-to-bank', {
    summary: 'From a balance in USD to a bank account in EUR',
    body: {
      source: fromBalance(account.id),
      destination: toAccount(bank.id),
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 250_00,
      description: 'Invoice 2026-014',
    },
  });
  await recorder.record('executeQuote', 'balance', {
    summary: 'A quote that is paid from a balance',
    params: { quoteId: quote.id },
    headers: { 'Idempotency-Key': 'invoice-2026-014' },
    body: {},
  });
  await recorder.record('getQuoteById', 'executed', {
    summary: 'A quote after its execution',
    params: { quoteId: quote.id },
  });
  await recorder.app.advance(60_000);
  await recorder.record('getTransactionById', 'payout-completed', {
    summary: 'A completed payout',
    params: { transactionId: quote.transactionId },
  });
  await recorder.record('listTransactions', 'of-a-customer', {
    summary: 'Payments of a customer, newest first',
    query: { customerId: customer.id, limit: '2' },
  });
}

async function recordBankFunding(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const { lookupId } = await recorder.record('lookupUma', 'before-a-quote', {
    summary: 'Discover a payee by UMA address before a quote',
    params: { receiverUmaAddress: '$success.eur@sandbox.uma.money' },
    query: { customerId: customer.id },
  });
  const quote = await recorder.record('createQuote', 'bank-transfer-to-uma', {
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
  await recorder.record('sandboxSend', 'fund-a-quote', {
    summary: 'Simulate the bank transfer that funds a quote',
    body: { quoteId: quote.id, currencyCode: 'USD' },
  });
  await recorder.app.advance(60_000);
}

async function recordTransfers(recorder: ExampleRecorder) {
  const { customer, account } = await recordPayer(recorder);
  const bank = await createUsAccount(recorder, customer.id);
  await recorder.record('createTransferOut', 'balance-to-bank', {
    summary: 'From a balance to a bank account in the same currency',
    body: { source: { accountId: account.id }, destination: { accountId: bank.id }, amount: 75_00 },
  });
  await recorder.record('createTransferIn', 'bank-to-balance', {
    summary: 'Debit a bank account over ACH',
    body: {
      source: { accountId: bank.id },
      destination: { accountId: account.id },
      amount: 200_00,
    },
  });
  await recorder.app.advance(60_000);
}

/** Quotes to a wallet and to balances, from a bank transfer, and with a fixed receiving amount. */
async function recordOtherQuotes(recorder: ExampleRecorder) {
  const { customer, account } = await recordPayer(recorder);
  const wallet = await createSparkWallet(recorder, customer.id);
  const euroAccount = await balanceOf(recorder, customer.id, 'EUR');
  const lockedAmount = { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 50_00 };
  await recorder.record('createQuote', 'balance-to-wallet', {
    summary: 'From a balance in USD to a Spark wallet',
    body: { source: fromBalance(account.id), destination: toAccount(wallet.id), ...lockedAmount },
  });
  await recorder.record('createQuote', 'balance-to-balance', {
    summary: 'Convert USD to EUR between balances of a customer',
    body: {
      source: fromBalance(account.id),
      destination: toAccount(euroAccount.id),
      ...lockedAmount,
    },
  });
  await recorder.record('createQuote', 'funded-to-balance', {
    summary: 'Paid in by bank transfer, sent to a balance',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' },
      destination: toAccount(account.id),
      ...lockedAmount,
    },
  });
  const mexicanAccount = await recorder.record('createCustomerExternalAccount', 'bank-in-mexico', {
    summary: 'A bank account in Mexico',
    body: {
      customerId: customer.id,
      currency: 'MXN',
      accountInfo: {
        accountType: 'MXN_ACCOUNT',
        clabeNumber: '646180157000000428',
        beneficiary: {
          beneficiaryType: 'INDIVIDUAL',
          fullName: 'Sofía Herrera',
          countryOfResidence: 'MX',
        },
      },
    },
  });
  await recorder.record('createQuote', 'balance-to-mexico', {
    summary: 'From a balance in USD to a bank account in Mexico, which receives 2,000.00 MXN',
    body: {
      source: fromBalance(account.id),
      destination: toAccount(mexicanAccount.id),
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 2_000_00,
    },
  });
}

/** Quotes from sources that are not balances, and to a UMA address. */
async function recordOtherSources(recorder: ExampleRecorder) {
  const { customer, account } = await recordPayer(recorder);
  const customerId = customer.id as string;
  const payee = await createGermanAccount(recorder, customerId);
  const bank = await createUsAccount(recorder, customerId);
  const lockedAmount = { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 100_00 };
  await recorder.record('createQuote', 'debit-to-bank', {
    summary: 'Debit a bank account in the United States over ACH, pay to a bank account in EUR',
    body: { source: fromBalance(bank.id), destination: toAccount(payee.id), ...lockedAmount },
  });
  await recorder.record('createQuote', 'crypto-to-bank', {
    summary: 'Paid in by USDC on Solana, sent to a bank account in EUR',
    body: {
      source: {
        sourceType: 'REALTIME_FUNDING',
        customerId,
        currency: 'USDC',
        cryptoNetwork: 'SOLANA',
      },
      destination: toAccount(payee.id),
      ...lockedAmount,
    },
  });
  const umaAddress = '$success.eur@sandbox.uma.money';
  const { lookupId } = await recorder.record('lookupUma', 'before-a-payment-from-a-balance', {
    summary: 'Discover a payee by UMA address before a payment from a balance',
    params: { receiverUmaAddress: umaAddress },
    query: { customerId },
  });
  await recorder.record('createQuote', 'balance-to-uma', {
    summary: 'From a balance in USD to a UMA address',
    body: {
      source: fromBalance(account.id),
      lookupId,
      destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' },
      ...lockedAmount,
    },
  });
}

async function recordCancellation(recorder: ExampleRecorder) {
  const { customer, account } = await recordPayer(recorder);
  // A payout to this number settles after six minutes, so it can be canceled.
  const bank = await createUsAccount(recorder, customer.id, '000123456003');
  const quote = await recorder.record('createQuote', 'by-ach', {
    summary: 'To a bank account by ACH',
    body: {
      source: fromBalance(account.id),
      destination: { ...toAccount(bank.id), paymentRail: 'ACH' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 120_00,
    },
  });
  const params = { transactionId: quote.transactionId as string };
  await recorder.app.call('POST', `/quotes/${quote.id}/execute`);
  await recorder.app.advance(20_000);
  await recorder.record('confirmReceiptDelivery', 'now', {
    summary: 'The customer received the receipt',
    params,
    body: { receiptDeliveryConfirmedAt: new Date(recorder.app.effects.now()).toISOString() },
  });
  await recorder.record('cancelTransaction', 'requested', {
    summary: 'Cancel a payout by ACH that has not settled',
    params,
    body: { reason: 'The invoice was withdrawn' },
  });
  await recorder.app.advance(60_000);
  await recorder.record('getTransactionById', 'refunded', {
    summary: 'A canceled payout. The amount was refunded to the balance',
    params,
  });
}

/** Payments from UMA addresses, which the platform decides later. */
async function recordIncomingPayments(recorder: ExampleRecorder) {
  const { app, record, receiver } = recorder;
  const customer = await createPerson(recorder);
  receiver.behave((response, { type }) => {
    response.writeHead(type === 'INCOMING_PAYMENT.PENDING' ? 202 : 200).end();
  });
  const receive = () =>
    record('sandboxReceive', 'to-a-customer', {
      summary: 'Simulate a payment of 250.00 USD from a UMA address',
      body: {
        senderUmaAddress: '$success.usd@sandbox.uma.money',
        customerId: customer.id,
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 250_00,
      },
    });
  const [acceptedPayment, rejectedPayment] = [await receive(), await receive()];
  await app.settle();
  await record('approvePendingPayment', 'approved', {
    summary: 'Accept a payment',
    params: { transactionId: acceptedPayment.id },
    body: { receiverCustomerInfo: { FULL_NAME: 'Amara Okafor' } },
  });
  await record('rejectPendingPayment', 'rejected', {
    summary: 'Reject a payment',
    params: { transactionId: rejectedPayment.id },
    body: { reason: 'UNKNOWN_SENDER' },
  });
  await app.advance(60_000);
  await record('getTransactionById', 'incoming', {
    summary: 'A completed incoming payment',
    params: { transactionId: acceptedPayment.id },
  });
  receiver.behave(200);
}

const CURSOR = '                    4711        1767603600000 ';

async function recordEvents({ app, record }: ExampleRecorder) {
  await waitUntilEventsVisible(app);
  const page = await record('listEvents', 'newest', {
    summary: 'The newest event of one type, and a cursor for following later events',
    query: { type: 'OUTGOING_PAYMENT.COMPLETED', limit: '1' },
  });
  // Cursors contain transaction IDs, which differ between runs because other tests use the database.
  page.after = page.before = Buffer.from(CURSOR).toString('base64url');
  await record('getEventById', 'one', {
    summary: 'One event',
    params: { eventId: page.data[0].id },
  });
}

describe('examples of payments', () => {
  examples('payments', {
    recordPayout,
    recordBankFunding,
    recordTransfers,
    recordOtherQuotes,
    recordOtherSources,
    recordCancellation,
    recordIncomingPayments,
    recordEvents,
  });
});
