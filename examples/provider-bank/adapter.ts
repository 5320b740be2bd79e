// Connects the API of a fictitious bank to the provider protocol. The bank executes a repeated order twice.
// The adapter therefore stores each order before sending it, and searches for it at the bank before sending
// it again. In your own project, import from 'railhead-sdk/providers'.

import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as sdk from '../../packages/sdk/src/providers.ts';
import {
  type BankEvent,
  type BankPayment,
  bankApi,
  bankEventOf,
  decimalOf,
  minorUnitsOf,
} from './bank-api.ts';
import { openStore, type Payment } from './store.ts';

interface Options {
  folder: string;
  port: number;
  railhead: string;
  isTest: boolean;
}

/** Maximum time in which the bank processes an order whose connection was closed. */
const MAX_PROCESSING_MS = Number(process.env.BANK_MAX_PROCESSING_MS ?? 30_000);
const SEND_INTERVAL_MS = 250;

const CAPABILITIES: sdk.Capabilities = {
  protocol: '1',
  transfers: [{ kinds: ['payout'], rails: ['SEPA', 'SEPA_INSTANT'], currencies: ['EUR'] }],
  cancel: true,
};

/** Values of `sandbox_outcome` that produce the outcomes in the sandbox of the bank. */
const SANDBOX_OUTCOMES: Readonly<Record<string, string>> = {
  'TEST FAILED': 'REJECT',
  'TEST RETURNED': 'RETURN',
  'TEST HELD': 'HOLD',
};

function orderOf(transfer: sdk.Transfer, isTest: boolean): Payment['order'] {
  const outcome = isTest && SANDBOX_OUTCOMES[transfer.remittanceInformation ?? ''];
  return {
    end_to_end_id: transfer.reference,
    amount: decimalOf(transfer.amount),
    currency: transfer.currency,
    creditor: { name: transfer.beneficiaryName, iban: transfer.account.iban },
    remittance: transfer.remittanceInformation,
    ...(outcome ? { sandbox_outcome: outcome } : {}),
  };
}

function stateOf({ status, payment_id: reference }: BankPayment): sdk.TransferState {
  const states: Record<BankPayment['status'], sdk.TransferState> = {
    PENDING: { state: 'accepted', reference },
    SETTLED: { state: 'settled', reference },
    REJECTED: { state: 'failed', reason: 'PROVIDER_REJECTED' },
    RETURNED: { state: 'returned', reason: 'ACCOUNT_CANNOT_RECEIVE' },
    CANCELLED: { state: 'canceled' },
  };
  return states[status];
}

/** Sends orders to the bank. Each order is executed once. */
function paymentsOf(
  { data, save }: ReturnType<typeof openStore>,
  bank: ReturnType<typeof bankApi>,
) {
  /** Pending calls to the bank, by transfer ID. */
  const inFlight = new Map<string, Promise<void>>();

  function accept(payment: Payment, result: BankPayment | 'invalid'): void {
    if (result === 'invalid') payment.state = { state: 'failed', reason: 'ACCOUNT_INVALID' };
    else payment.paymentId = result.payment_id;
    save();
  }
  async function send(payment: Payment): Promise<void> {
    payment.sentAt = Date.now();
    save();
    accept(payment, await bank.pay(payment.order));
  }
  /**
   * Determines the result of an order whose call had no response, and repeats the order if the bank
   * has not processed it in time.
   */
  async function resume(payment: Payment): Promise<void> {
    const bankPayment = await bank.find(payment.order.end_to_end_id);
    if (bankPayment) accept(payment, bankPayment);
    else if (Date.now() - payment.sentAt > MAX_PROCESSING_MS) await send(payment);
  }
  async function advance(payment: Payment, step: typeof send): Promise<void> {
    if (payment.paymentId || payment.state) return;
    const { transferId } = payment;
    const pendingCall = inFlight.get(transferId);
    const work = pendingCall ?? step(payment).finally(() => inFlight.delete(transferId));
    inFlight.set(transferId, work);
    // Without a response of the bank, the result remains unknown.
    await work.catch((error: Error) => console.error(error.message));
  }
  const currentState = ({ state, paymentId }: Payment): sdk.TransferState => {
    if (state) return state;
    if (paymentId) return { state: 'accepted', reference: paymentId };
    return { state: 'unknown', checkAfterSeconds: 5 };
  };
  return {
    async send(transferId: string, order: Payment['order']): Promise<sdk.TransferState> {
      const storedPayment = data.payments[transferId];
      const payment = storedPayment ?? { transferId, order, sentAt: 0 };
      data.payments[transferId] = payment;
      await advance(payment, storedPayment ? resume : send);
      return currentState(payment);
    },
    async state(transferId: string): Promise<sdk.TransferState | undefined> {
      const payment = data.payments[transferId];
      if (payment) await advance(payment, resume);
      return payment && currentState(payment);
    },
    async cancel(transferId: string): Promise<sdk.CancelResult | undefined> {
      const payment = data.payments[transferId];
      if (!payment) return undefined;
      if (payment.state?.state === 'canceled') return { result: 'canceled' };
      if (!payment.paymentId || payment.state) return { result: 'rejected' };
      if (!(await bank.cancel(payment.paymentId))) return { result: 'rejected' };
      payment.state = { state: 'canceled' };
      save();
      return { result: 'canceled' };
    },
  };
}

/** Converts an event of the bank to a message with the ID of the event. */
function messageOf(event: BankEvent, transferId: string | undefined): sdk.Message | undefined {
  const { currency } = event;
  const baseMessage = { id: event.event_id, occurredAt: new Date().toISOString() };
  const amount = minorUnitsOf(event.amount);
  if (event.type === 'credit.booked') {
    return {
      ...{ ...baseMessage, type: 'deposit.received', amount, currency, rail: 'SEPA' },
      bankReference: String(event.entry_reference),
      paymentReference: String(event.remittance),
      senderName: String(event.debtor_name),
    };
  }
  if (transferId === undefined) return undefined;
  const transfer = stateOf(event as BankPayment);
  return { ...baseMessage, type: 'transfer.updated', transferId, transfer, amount, currency };
}

export function startAdapter({ folder, port, railhead, isTest }: Options) {
  const readSetting = (name: string) => process.env[name] ?? '';
  const settings = {
    url: readSetting('BANK_URL'),
    clientId: readSetting('BANK_CLIENT_ID'),
    clientSecret: readSetting('BANK_CLIENT_SECRET'),
    webhookSecret: readSetting('BANK_WEBHOOK_SECRET'),
  };
  const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
  const store = openStore(`${folder}/payments.json`);
  const { data, save } = store;
  const payments = paymentsOf(store, bankApi(settings));

  /** Stores an event before it is acknowledged to the bank. */
  function receive(event: BankEvent): void {
    if (data.events.includes(event.event_id)) return;
    const payment = Object.values(data.payments).find(
      ({ order }) => order.end_to_end_id === event.end_to_end_id,
    );
    const message = messageOf(event, payment?.transferId);
    if (message?.type === 'transfer.updated' && payment) {
      // The event can arrive before the response to the order, which contains the ID.
      if (event.payment_id) payment.paymentId = event.payment_id;
      payment.state = message.transfer;
    }
    data.events.push(event.event_id);
    if (message) data.outbox.push(message);
    save();
    if (message) void deliver(message);
  }

  const send = sdk.messageSender({ url: railhead, key: read('adapter.pem') });
  async function deliver(message: sdk.Message): Promise<void> {
    while ((await send(message)) === 'later') await sleep(SEND_INTERVAL_MS);
    data.outbox = data.outbox.filter(({ id }) => id !== message.id);
    save();
  }
  for (const message of data.outbox) void deliver(message);

  const listener = sdk.providerListener(
    sdk.providerHandler({
      keys: readdirSync(folder)
        .filter((name) => /^railhead.*\.pub\.pem$/.test(name))
        .map(read),
      calls: {
        '/capabilities': () => CAPABILITIES,
        '/transfers/send': (transfer) =>
          payments.send(transfer.transferId, orderOf(transfer, isTest)),
        '/transfers/state': ({ transferId }) => payments.state(transferId),
        '/transfers/cancel': ({ transferId }) => payments.cancel(transferId),
      },
    }),
  );
  const server = http.createServer(async (request, response) => {
    if (request.url !== '/bank-events') return listener(request, response);
    const signature = String(request.headers['bank-signature'] ?? '');
    const event = bankEventOf(settings.webhookSecret, signature, await text(request));
    if (event) receive(event);
    response.writeHead(event ? 200 : 401).end();
  });
  return server.listen(port, '127.0.0.1');
}
