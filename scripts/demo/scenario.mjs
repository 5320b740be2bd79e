// The steps of the demonstration. Each prints the reply of the API, waits for the expected webhooks in their
// order, and compares the balance with the quote.
import { balanceChange, printPostings } from './books.mjs';
import { fact, heading, line, money, tick } from './print.mjs';

const USD = { code: 'USD', decimals: 2 };
const FUNDS = 5_000_00;

const grace = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
/**
 * External accounts. In the sandbox the suffix of the number selects the outcome: 005 is returned.
 */
const euros = (iban) => ({
  currency: 'EUR',
  accountInfo: {
    accountType: 'EUR_ACCOUNT',
    iban,
    beneficiary: { ...grace, countryOfResidence: 'DE' },
  },
});
const pesos = (clabeNumber) => ({
  currency: 'MXN',
  accountInfo: { accountType: 'MXN_ACCOUNT', clabeNumber, beneficiary: grace },
});

const EUROS = euros('DE89370400440532013000');
const PESOS = pesos('032180001183500000');
const RETURNED_IBAN = euros('DE51370400440532013005');

const sending = (amount) => ({ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: amount });
const receiving = (amount) => ({ lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: amount });

const dollars = (amount) => money(amount, USD);
const outgoing = (...names) => names.map((name) => `OUTGOING_PAYMENT.${name}`);
/** The expected balance webhook: available and total balance. */
const balance = (available, total) =>
  `INTERNAL_ACCOUNT.BALANCE_UPDATED ${dollars(available)} available, ${dollars(total)} in total`;

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
  fact('Customer', `${customer.fullName}, ${customer.kycStatus}`);
  assertThat(
    customer.kycStatus === 'APPROVED',
    'Customers of this platform must be verified first.',
  );
  await webhooks.expect({ [customer.id]: ['CUSTOMER.KYC_APPROVED'] });
  return customer;
}

/** A customer with a funded US dollar account. */
async function begin(parts) {
  const { call, webhooks } = parts;
  await call('PATCH', '/config', { webhookEndpoint: webhooks.url });
  fact('Webhooks', `to ${webhooks.url}`);
  await webhooks.expect({ TEST: ['TEST'] });
  const customer = await createCustomer(parts);
  const query = `customerId=${customer.id}`;
  const accounts = await call('GET', `/customers/internal-accounts?${query}&currency=USD`);
  const account = accounts.data[0];
  await call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: FUNDS });
  fact('Funded', dollars(FUNDS));
  const deposits = await call('GET', `/transactions?${query}&type=INCOMING`);
  await webhooks.expect({
    [deposits.data[0].id]: ['INCOMING_PAYMENT.COMPLETED'],
    [account.id]: [balance(FUNDS, FUNDS)],
  });
  return { customer, account };
}

async function checkBalance({ call }, { account }, expected) {
  const funded = await call('GET', `/internal-accounts/${account.id}`);
  for (const { amount } of [funded.balance, funded.totalBalance]) {
    const message = `The balance is ${dollars(amount)} and should be ${dollars(expected)}.`;
    assertThat(amount === expected, message);
  }
  fact('Balance', `${dollars(expected)}, as quoted`);
}

async function createQuote({ call }, { customer, account }, target, lock) {
  const customerId = customer.id;
  const to = await call('POST', '/customers/external-accounts', { customerId, ...target });
  fact('To', `${grace.fullName}, ${target.accountInfo.iban ?? target.accountInfo.clabeNumber}`);
  const quote = await call('POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'ACCOUNT', accountId: to.id },
    ...lock,
  });
  const { sendingCurrency: from, receivingCurrency: into } = quote;
  const amounts = [money(quote.totalSendingAmount, from), money(quote.totalReceivingAmount, into)];
  fact('Quote', amounts.join(' → '));
  fact('Rate', `${quote.exchangeRate} ${from.code} for 1 ${into.code}`);
  fact('Fees', `${money(quote.feesIncluded, from)}, included`);
  return quote;
}

/** Executes a payment from quote to COMPLETED, from an account with the balance `before`. */
async function pay(parts, owner, before, target, lock) {
  const { call, webhooks } = parts;
  const quote = await createQuote(parts, owner, target, lock);
  const { status } = await call('POST', `/quotes/${quote.id}/execute`);
  fact('Executed', status);
  const balanceAfter = before - quote.totalSendingAmount;
  await webhooks.expect({
    [quote.transactionId]: outgoing('PENDING', 'PROCESSING', 'COMPLETED'),
    // Held at first, posted on settlement.
    [owner.account.id]: [balance(balanceAfter, before), balance(balanceAfter, balanceAfter)],
  });
  return { quote, remaining: balanceAfter };
}

async function payAndComplete(parts, owner, before, target, lock) {
  const { quote, remaining } = await pay(parts, owner, before, target, lock);
  const payment = await parts.call('GET', `/transactions/${quote.transactionId}`);
  const { amount, currency } = payment.receivedAmount;
  assertThat(payment.status === 'COMPLETED', `${payment.id} is ${payment.status}.`);
  assertThat(amount === quote.totalReceivingAmount, `${payment.id} paid out an unexpected amount.`);
  fact('Arrived', money(amount, currency));
  await checkBalance(parts, owner, remaining);
  return { quote, remaining };
}

async function payAndReturn(parts, owner, before, target, lock) {
  const { quote } = await pay(parts, owner, before, target, lock);
  line('  The bank returns the payment after about ten seconds …');
  await parts.webhooks.expect({
    [quote.transactionId]: outgoing('FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'),
    [owner.account.id]: [balance(before, before)],
  });
  const { status, refund } = await parts.call('GET', `/transactions/${quote.transactionId}`);
  assertThat(
    status === 'FAILED' && refund?.status === 'COMPLETED',
    'The payment was not refunded.',
  );
  fact('Refund', `${refund.status}, reference ${refund.reference}`);
  await checkBalance(parts, owner, before);
  return quote;
}

/** Compares the postings of a payment with the expected amount. */
async function checkPostings({ operate }, { account }, label, { transactionId }, amount) {
  const { postings } = await operate('ledger', 'postings', transactionId);
  const debited = -balanceChange(postings, account.id);
  assertThat(
    debited === amount,
    `${transactionId} took ${dollars(debited)}, not ${dollars(amount)}.`,
  );
  tick(label, `took ${dollars(amount)} in ${postings.length} postings`);
  return postings;
}

async function closeBooks(parts, owner, first, second, third) {
  const check = (...about) => checkPostings(parts, owner, ...about);
  const postings = await check('The payment in euros', first, first.totalSendingAmount);
  line();
  printPostings(postings, { [owner.account.id]: "Ada's USD" });
  line();
  await check('The payment in pesos', second, second.totalSendingAmount);
  await check('The returned payment', third, 0);
  const { balanced, currencies, problems } = await parts.operate('ledger', 'verify');
  assertThat(balanced, `The ledger does not balance: ${problems[0]}.`);
  const transfers = currencies.reduce((sum, currency) => sum + currency.transfers, 0);
  tick('The ledger balances', `${transfers} transfers in ${currencies.length} currencies`);
}

/**
 * Runs all steps. Throws at the first unexpected result. `call` is the API client, `operate` the
 * operator's command. `customerRecord` receives the id of the created customer under its name.
 */
export async function runScenario(parts) {
  heading('A customer with funds');
  const owner = await begin(parts);
  heading('Dollars to euros');
  const first = await payAndComplete(parts, owner, FUNDS, EUROS, sending(1_000_00));
  heading('Dollars to pesos');
  const second = await payAndComplete(parts, owner, first.remaining, PESOS, receiving(10_000_00));
  heading('A payment that the bank returns');
  const third = await payAndReturn(parts, owner, second.remaining, RETURNED_IBAN, sending(250_00));
  heading('The ledger');
  await closeBooks(parts, owner, first.quote, second.quote, third);
  tick(
    'All webhooks have valid signatures',
    `${parts.webhooks.finish()} webhooks in the expected order`,
  );
}
