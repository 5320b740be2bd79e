// Names in the sandbox: results of name checks by account suffix, and all UMA addresses as
// receivers and senders. The rows are the data of the sandbox, so a row without an expectation here
// fails.
import { beforeEach, describe, expect, it } from 'vitest';
import { NAME_CHECKS_BY_SUFFIX } from '../../src/connectors/sandbox/payments/names.ts';
import { UMA_SCRIPTS } from '../../src/connectors/sandbox/uma/uma-addresses.ts';
import {
  createCustomer,
  createFundedCustomer,
  findInternalAccount,
  ok,
  readBalances,
} from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { openForFile } from '../kit/app/test-app.ts';
import {
  expectedOf,
  expectWebhooks,
  INITIAL_AMOUNT,
  type MethodName,
  observePayment,
  openSandboxFixture,
  payeeOf,
  payerOf,
  type Row,
  registerAccount,
  SENT_AMOUNT,
} from '../kit/payments/sandbox-outcomes.ts';

const fixture = openForFile(openSandboxFixture);
beforeEach(() => fixture.drain());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const statusAndCode = ({ status, body }: ApiResponse) => [status, body.code];

/** Status, and the name that is registered at the bank. */
type Verdict = readonly [status: string, fullName?: string];

interface NameRow {
  immediateVerdict: Verdict | { rejection: string };
  laterVerdict?: { afterMs: number; verdict: Verdict };
}

const MATCHED_VERDICT: Verdict = ['MATCHED', 'Grace Hopper'];

const NAMES: Readonly<Record<string, NameRow>> = {
  '000': { immediateVerdict: MATCHED_VERDICT },
  '102': { immediateVerdict: ['NOT_MATCHED'] },
  '103': { immediateVerdict: ['PARTIAL_MATCH', 'G. Hopper'] },
  '104': {
    immediateVerdict: ['PENDING'],
    laterVerdict: { afterMs: 5 * SECOND, verdict: MATCHED_VERDICT },
  },
  '105': { immediateVerdict: { rejection: 'INVALID_BANK_ACCOUNT' } },
  '106': { immediateVerdict: ['UNSUPPORTED'] },
  '107': { immediateVerdict: ['CHECKED_BY_RECEIVING_FI'] },
};

describe('name checks', () => {
  it('are covered by exactly the expected rows', () => {
    expect(Object.keys(NAMES).sort()).toEqual(
      ['000', ...Object.keys(NAME_CHECKS_BY_SUFFIX)].sort(),
    );
  });

  const ACCOUNTS: readonly MethodName[] = ['USD', 'EUR by IBAN', 'MXN by CLABE', 'INR by VPA'];
  const rows = ['000', ...Object.keys(NAME_CHECKS_BY_SUFFIX)].flatMap((suffix) =>
    ACCOUNTS.map((method) => [suffix, method] as const),
  );
  it.each(rows)('have the result of the suffix %s for %s', async (suffix, method) => {
    const { app } = fixture;
    const { immediateVerdict, laterVerdict } = expectedOf(NAMES, suffix);
    const person = await createCustomer(app);
    const scenario = await observePayment(fixture, () => '', []);
    const response = await registerAccount(fixture, person.id, method, suffix);
    if ('rejection' in immediateVerdict) {
      expect(statusAndCode(response)).toEqual([400, immediateVerdict.rejection]);
      const path = `/customers/external-accounts?customerId=${person.id}`;
      expect(ok(await app.call('GET', path), 200).data).toEqual([]);
      return;
    }
    const { id } = ok(response, 201);
    const expectVerdict = async ([verdict, fullName]: Verdict) => {
      await app.settle();
      const body = ok(await app.call('GET', `/customers/external-accounts/${id}`), 200);
      const { status, beneficiaryVerificationStatus, beneficiaryVerifiedData } = body;
      expect([status, beneficiaryVerificationStatus, beneficiaryVerifiedData]).toEqual([
        'ACTIVE',
        verdict,
        fullName === undefined ? undefined : { fullName },
      ]);
    };
    await expectVerdict(immediateVerdict);
    if (laterVerdict) {
      await app.advance(laterVerdict.afterMs - 1);
      await expectVerdict(immediateVerdict);
      await app.advance(1);
    }
    await expectVerdict(laterVerdict?.verdict ?? immediateVerdict);
    await app.advance(MINUTE);
    await expectVerdict(laterVerdict?.verdict ?? immediateVerdict);
    expect(scenario.next()).toEqual([]);
  });

  it.each(Object.keys(NAME_CHECKS_BY_SUFFIX))(
    'are not applied to wallets with the suffix %s',
    async (suffix) => {
      const person = await createCustomer(fixture.app);
      const wallet = ok(await registerAccount(fixture, person.id, 'USDC on Base', suffix), 201);
      expect(wallet.status).toBe('ACTIVE');
      expect(wallet).not.toHaveProperty('beneficiaryVerificationStatus');
    },
  );
});

const HOST = 'sandbox.uma.money';
const addressOf = (name: string, host = HOST) => `${name}@${host}`;
const UMA_NAMES = UMA_SCRIPTS.map(({ name }) => name);

/** A payment, or the rejection of the payee discovery or of the quote. */
type UmaRow = Row | { discovery: Rejection } | { quote: Rejection };
type Rejection = readonly [status: number, code: string];

const STARTED_EVENTS = [
  'PENDING',
  'payer remaining/initial',
  'PROCESSING',
  'payer remaining/remaining',
];
const REFUND_OUTCOME = ['COMPLETED', 'TRANSACTION_FAILED'] as const;
const PAID_ROW: Row = {
  immediateEvents: [...STARTED_EVENTS, 'COMPLETED'],
  end: { status: 'COMPLETED', quote: 'COMPLETED' },
};
const FAILED_EVENTS = ['FAILED', 'REFUND_PENDING FAILED/PENDING'];
const REFUNDED_EVENT = 'REFUND_COMPLETED FAILED/COMPLETED';

/** Statuses other than 400, by error. */
const STATUSES: Readonly<Record<string, number>> = {
  'unsupported-uma-version': 412,
  'no-compatible-uma-version': 424,
  'counterparty-pubkey-fetch-error': 424,
  'lnurlp-request-failed': 424,
  'payreq-request-failed': 424,
  'counterparty-not-allowed': 403,
  'unrecognized-mandatory-payee-data-key': 501,
  'invalid-signature': 401,
  'platform-not-found': 404,
  'payment-url-not-found': 404,
  'request-not-found': 404,
  'service-switch-error': 500,
};

const rejectionOf = (text: string): Rejection => [
  STATUSES[text] ?? 400,
  text.toUpperCase().replaceAll('-', '_'),
];

const DISCOVERY_ERRORS =
  `unsupported-uma-version no-compatible-uma-version counterparty-pubkey-fetch-error
  lnurlp-request-failed lookup-request-failed parse-lnurlp-response-error
  missing-required-uma-parameters cert-chain-invalid cert-chain-expired invalid-pubkey-format
  invalid-timestamp invalid-nonce invalid-signature platform-not-found payment-url-not-found
  counterparty-not-allowed`.split(/\s+/);

const QUOTE_ERRORS = `payreq-request-failed invalid-payreq-response parse-payreq-response-error
  sender-not-accepted invalid-receiver quote-request-failed invalid-request-format
  request-not-found service-switch-error
  unrecognized-mandatory-payee-data-key`.split(/\s+/);

/**
 * Discovery errors about keys, certificates and versions, which are checked again for the quote.
 */
const RECHECKED_ERRORS = DISCOVERY_ERRORS.filter(
  (code) => !/lnurlp|lookup|missing|found/.test(code),
);

const RECEIVERS: Readonly<Record<string, UmaRow>> = {
  '$success.usd': PAID_ROW,
  '$success.eur': PAID_ROW,
  '$success.mxn': PAID_ROW,
  '$pending.long.usd': {
    immediateEvents: STARTED_EVENTS,
    laterEvents: { afterMs: 6 * MINUTE, status: 'PROCESSING', events: ['COMPLETED'] },
    end: PAID_ROW.end,
  },
  '$fail.compliance.usd': {
    immediateEvents: STARTED_EVENTS,
    laterEvents: {
      afterMs: 2 * SECOND,
      status: 'PROCESSING',
      events: [...FAILED_EVENTS, 'payer initial/initial', REFUNDED_EVENT],
    },
    end: {
      status: 'FAILED',
      failureReason: 'COMPLIANCE_REJECTED',
      refund: REFUND_OUTCOME,
      quote: 'FAILED',
    },
  },
  '$non.existent.usd': { discovery: [404, 'UMA_NOT_FOUND'] },
  ...Object.fromEntries(
    DISCOVERY_ERRORS.map((errorName) => [
      `$error.${errorName}`,
      { discovery: rejectionOf(errorName) },
    ]),
  ),
  ...Object.fromEntries(
    QUOTE_ERRORS.map((errorName) => [`$error.${errorName}`, { quote: rejectionOf(errorName) }]),
  ),
  ...Object.fromEntries(
    RECHECKED_ERRORS.map((errorName) => [
      `$error.payment.${errorName}`,
      { quote: rejectionOf(errorName) },
    ]),
  ),
};

describe('UMA addresses as receivers', () => {
  it('are covered by exactly the expected rows', () => {
    expect(Object.keys(RECEIVERS).sort()).toEqual(UMA_NAMES.toSorted());
  });

  async function pay(address: string, row: UmaRow) {
    const { app } = fixture;
    const { person, account } = await createFundedCustomer(app, INITIAL_AMOUNT);
    let id = '';
    const accounts = [payerOf(account)];
    const scenario = await observePayment(fixture, () => id, accounts);
    const path = `/receiver/uma/${encodeURIComponent(address)}?customerId=${person.id}`;
    const discovery = await app.call('GET', path);
    if ('discovery' in row) return expect(statusAndCode(discovery)).toEqual(row.discovery);
    const { lookupId, supportedCurrencies } = ok(discovery, 200);
    const currency = /\.(eur|mxn)@/.exec(address)?.[1]?.toUpperCase() ?? 'USD';
    expect(supportedCurrencies).toMatchObject([{ currency: { code: currency } }]);
    const response = await app.call('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: address },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: SENT_AMOUNT,
      lookupId,
      senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
    });
    if ('quote' in row) {
      expect(statusAndCode(response)).toEqual(row.quote);
      await app.settle();
      expect(scenario.next()).toEqual([]);
      expect(await readBalances(app, account.id)).toEqual({
        balance: INITIAL_AMOUNT,
        total: INITIAL_AMOUNT,
      });
      return;
    }
    const quote = ok(response, 201);
    expect(quote.receivingCurrency.code).toBe(currency);
    id = quote.transactionId;
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    await expectWebhooks(fixture, { id, quoteId: quote.id, accounts, scenario }, row);
  }

  it.each(UMA_NAMES)('have the expected outcome: %s', (name) =>
    pay(addressOf(name), expectedOf(RECEIVERS, name)),
  );

  it('also exist at a host with an additional label', () =>
    pay(addressOf('$success.usd', 'sandbox.label.uma.money'), PAID_ROW));
});

const ACCEPTED_ROW: Row = {
  immediateEvents: ['PENDING', 'COMPLETED', 'payee received/received'],
  end: { status: 'COMPLETED' },
};
/** The error if the payee discovery of the sender fails. */
const REJECTED_SENDER_ROW = { discovery: [400, 'SENDER_NOT_ACCEPTED'] } as const;

const SENDERS: Readonly<Record<string, Row | { discovery: Rejection }>> = {
  '$success.usd': ACCEPTED_ROW,
  '$success.eur': ACCEPTED_ROW,
  '$success.mxn': ACCEPTED_ROW,
  '$pending.long.usd': {
    immediateEvents: ['PENDING'],
    laterEvents: {
      afterMs: 6 * MINUTE,
      status: 'PROCESSING',
      events: ACCEPTED_ROW.immediateEvents.slice(1),
    },
    end: ACCEPTED_ROW.end,
  },
  '$fail.compliance.usd': {
    immediateEvents: ['PENDING'],
    laterEvents: {
      afterMs: 2 * SECOND,
      status: 'PROCESSING',
      events: [...FAILED_EVENTS, REFUNDED_EVENT],
    },
    end: { status: 'FAILED', failureReason: 'COMPLIANCE_REJECTED', refund: REFUND_OUTCOME },
  },
  '$non.existent.usd': { discovery: [404, 'UMA_NOT_FOUND'] },
  ...Object.fromEntries(
    DISCOVERY_ERRORS.map((errorName) => [`$error.${errorName}`, REJECTED_SENDER_ROW]),
  ),
  // Addresses that reject payments as receivers and can be senders.
  ...Object.fromEntries(QUOTE_ERRORS.map((errorName) => [`$error.${errorName}`, ACCEPTED_ROW])),
  ...Object.fromEntries(
    RECHECKED_ERRORS.map((errorName) => [`$error.payment.${errorName}`, ACCEPTED_ROW]),
  ),
};

describe('UMA addresses as senders', () => {
  it('are covered by exactly the expected rows', () => {
    expect(Object.keys(SENDERS).sort()).toEqual(UMA_NAMES.toSorted());
  });

  it.each(UMA_NAMES)('have the expected outcome: %s', async (name) => {
    const { app } = fixture;
    const row = expectedOf(SENDERS, name);
    const person = await createCustomer(app);
    const currency = /\.(eur|mxn)$/.exec(name)?.[1]?.toUpperCase() ?? 'USD';
    const accounts = [payeeOf(await findInternalAccount(app, person.id, currency))];
    let id = '';
    const scenario = await observePayment(fixture, () => id, accounts);
    const response = await app.call('POST', '/sandbox/uma/receive', {
      senderUmaAddress: addressOf(name),
      customerId: person.id,
      receivingCurrencyCode: currency,
      receivingCurrencyAmount: SENT_AMOUNT,
    });
    if ('discovery' in row) {
      expect(statusAndCode(response)).toEqual(row.discovery);
      await app.settle();
      expect(scenario.next()).toEqual([]);
      return;
    }
    ({ id } = ok(response, 200));
    await expectWebhooks(fixture, { id, accounts, scenario }, row);
  });
});
