// The steps of the demonstration. Each prints the reply of the API, waits for the expected webhooks in their
// order, and compares the balance with the quote.
import { balanceChange, printPostings } from './books.mjs';
import { money, printCheck, printFact, printHeading, printLine } from './print.mjs';

const USD = { code: 'USD', decimals: 2 };
const FUNDS = 5_000_00;

const payee = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
/**
 * External accounts. In the sandbox, the suffix of the number selects the outcome. Payments to the
 * suffix 005 are returned.
 */
const euroAccount = (iban) => ({
  currency: 'EUR',
  accountInfo: {
    accountType: 'EUR_ACCOUNT',
    iban,
    beneficiary: { ...payee, countryOfResidence: 'DE' },
  },
});
const pesoAccount = (clabeNumber) => ({
  currency: 'MXN',
  accountInfo: { accountType: 'MXN_ACCOUNT', clabeNumber, beneficiary: payee },
});

const EURO_ACCOUNT = euroAccount('DE89370400440532013000');
const PESO_ACCOUNT = pesoAccount('032180001183500000');
const RETURNING_ACCOUNT = euroAccount('DE51370400440532013005');

const lockSending = (amount) => ({ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: amount });
const lockReceiving = (amount) => ({
  lockedCurrencySide: 'RECEIVING',
  lockedCurrencyAmount: amount,
});

const formatDollars = (amount) => money(amount, USD);
const outgoingEvents = (...names) => names.map((name) => `OUTGOING_PAYMENT.${name}`);
/** The expected balance webhook: available and total balance. */
const balanceEvent = (available, total) =>
  `INTERNAL_ACCOUNT.BALANCE_UPDATED ${formatDollars(available)} available, ${formatDollars(total)} in total`;

function assertThat(isMet, message) {
  if (!isMet) throw new Error(message);
}

async function createCustomer({ call, webhooks, customerRecord }) {
  const customer = await call('POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: customerRecord.name,
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  });
  customerRecord.id = customer.id;
  printFact('Customer', `${customer.fullName}, ${customer.kycStatus}`);
  assertThat(
    customer.kycStatus === 'APPROVED',
    `The customer is ${customer.kycStatus}. Use a platform that verifies its customers itself.`,
  );
  await webhooks.expect({ [customer.id]: ['CUSTOMER.KYC_APPROVED'] });
  return customer;
}

/** A customer with a funded US dollar account. */
async function createOwner(demo) {
  const { call, webhooks } = demo;
  await call('PATCH', '/config', { webhookEndpoint: webhooks.url });
  printFact('Webhooks', `to ${webhooks.url}`);
  await webhooks.expect({ TEST: ['TEST'] });
  const customer = await createCustomer(demo);
  const query = `customerId=${customer.id}`;
  const accounts = await call('GET', `/customers/internal-accounts?${query}&currency=USD`);
  const account = accounts.data[0];
  await call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: FUNDS });
  printFact('Funded', formatDollars(FUNDS));
  const deposits = await call('GET', `/transactions?${query}&type=INCOMING`);
  await webhooks.expect({
    [deposits.data[0].id]: ['INCOMING_PAYMENT.COMPLETED'],
    [account.id]: [balanceEvent(FUNDS, FUNDS)],
  });
  return { customer, account };
}

async function checkBalance({ call }, { account }, expectedAmount) {
  const currentAccount = await call('GET', `/internal-accounts/${account.id}`);
  for (const { amount } of [currentAccount.balance, currentAccount.totalBalance]) {
    const message = `The balance is ${formatDollars(amount)} and should be ${formatDollars(expectedAmount)}.`;
    assertThat(amount === expectedAmount, message);
  }
  printFact('Balance', `${formatDollars(expectedAmount)}, as quoted`);
}

async function createQuote({ call }, { customer, account }, target, lock) {
  const customerId = customer.id;
  const externalAccount = await call('POST', '/customers/external-accounts', {
    customerId,
    ...target,
  });
  printFact(
    'To',
    `${payee.fullName}, ${target.accountInfo.iban ?? target.accountInfo.clabeNumber}`,
  );
  const quote = await call('POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'ACCOUNT', accountId: externalAccount.id },
    ...lock,
  });
  const { sendingCurrency: from, receivingCurrency: into } = quote;
  const amounts = [money(quote.totalSendingAmount, from), money(quote.totalReceivingAmount, into)];
  printFact('Quote', amounts.join(' → '));
  printFact('Rate', `${quote.exchangeRate} ${from.code} for 1 ${into.code}`);
  printFact('Fees', `${money(quote.feesIncluded, from)}, included`);
  return quote;
}

/** Executes a payment from quote to COMPLETED, from an account with the balance `balanceBefore`. */
async function pay(demo, owner, balanceBefore, target, lock) {
  const { call, webhooks } = demo;
  const quote = await createQuote(demo, owner, target, lock);
  const { status } = await call('POST', `/quotes/${quote.id}/execute`);
  printFact('Executed', status);
  const balanceAfter = balanceBefore - quote.totalSendingAmount;
  await webhooks.expect({
    [quote.transactionId]: outgoingEvents('PENDING', 'PROCESSING', 'COMPLETED'),
    // The amount is held at first, and posted on settlement.
    [owner.account.id]: [
      balanceEvent(balanceAfter, balanceBefore),
      balanceEvent(balanceAfter, balanceAfter),
    ],
  });
  return { quote, remainingBalance: balanceAfter };
}

async function payAndComplete(demo, owner, balanceBefore, target, lock) {
  const { quote, remainingBalance } = await pay(demo, owner, balanceBefore, target, lock);
  const payment = await demo.call('GET', `/transactions/${quote.transactionId}`);
  const { amount, currency } = payment.receivedAmount;
  assertThat(payment.status === 'COMPLETED', `${payment.id} is ${payment.status}.`);
  assertThat(amount === quote.totalReceivingAmount, `${payment.id} paid out an unexpected amount.`);
  printFact('Arrived', money(amount, currency));
  await checkBalance(demo, owner, remainingBalance);
  return { quote, remainingBalance };
}

async function payAndReturn(demo, owner, balanceBefore, target, lock) {
  const { quote } = await pay(demo, owner, balanceBefore, target, lock);
  printLine('  The bank returns the payment after about ten seconds …');
  await demo.webhooks.expect({
    [quote.transactionId]: outgoingEvents('FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'),
    [owner.account.id]: [balanceEvent(balanceBefore, balanceBefore)],
  });
  const { status, refund } = await demo.call('GET', `/transactions/${quote.transactionId}`);
  assertThat(
    status === 'FAILED' && refund?.status === 'COMPLETED',
    'The payment was not refunded.',
  );
  printFact('Refund', `${refund.status}, reference ${refund.reference}`);
  await checkBalance(demo, owner, balanceBefore);
  return quote;
}

/** Compares the postings of a payment with the expected amount. */
async function checkPostings({ operate }, { account }, label, { transactionId }, amount) {
  const { postings } = await operate('ledger', 'postings', transactionId);
  const debitedAmount = -balanceChange(postings, account.id);
  assertThat(
    debitedAmount === amount,
    `${transactionId} debited ${formatDollars(debitedAmount)} instead of ${formatDollars(amount)}.`,
  );
  printCheck(label, `debited ${formatDollars(amount)} in ${postings.length} postings`);
  return postings;
}

async function checkLedger(demo, owner, euroQuote, pesoQuote, returnedQuote) {
  const check = (...payment) => checkPostings(demo, owner, ...payment);
  const postings = await check('The payment in euros', euroQuote, euroQuote.totalSendingAmount);
  printLine();
  printPostings(postings, { [owner.account.id]: "Ada's USD" });
  printLine();
  await check('The payment in pesos', pesoQuote, pesoQuote.totalSendingAmount);
  await check('The returned payment', returnedQuote, 0);
  const { balanced, currencies, problems } = await demo.operate('ledger', 'verify');
  assertThat(balanced, `The ledger does not balance: ${problems[0]}.`);
  const transfers = currencies.reduce((sum, currency) => sum + currency.transfers, 0);
  printCheck('The ledger balances', `${transfers} transfers in ${currencies.length} currencies`);
}

/**
 * Runs all steps. Throws at the first unexpected result. `call` is the API client, `operate` the
 * operator's command. `customerRecord` receives the ID of the created customer under its name.
 */
export async function runScenario(demo) {
  printHeading('A customer with funds');
  const owner = await createOwner(demo);
  printHeading('Dollars to euros');
  const euroPayment = await payAndComplete(demo, owner, FUNDS, EURO_ACCOUNT, lockSending(1_000_00));
  printHeading('Dollars to pesos');
  const pesoPayment = await payAndComplete(
    demo,
    owner,
    euroPayment.remainingBalance,
    PESO_ACCOUNT,
    lockReceiving(10_000_00),
  );
  printHeading('A payment that the bank returns');
  const returnedQuote = await payAndReturn(
    demo,
    owner,
    pesoPayment.remainingBalance,
    RETURNING_ACCOUNT,
    lockSending(250_00),
  );
  printHeading('The ledger');
  await checkLedger(demo, owner, euroPayment.quote, pesoPayment.quote, returnedQuote);
  printCheck(
    'All webhooks have valid signatures',
    `${demo.webhooks.finish()} webhooks in the expected order`,
  );
}
