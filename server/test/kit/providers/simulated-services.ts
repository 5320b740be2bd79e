// Services of the simulated provider other than transfers, and variations of them with one fault
// each.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { compressedPoint } from '../../../src/kernel/crypto/p256.ts';

// biome-ignore lint/suspicious/noExplicitAny: faults produce invalid bodies.
type Json = any;
type Calls = Record<string, (body: Json) => Json>;

/** The faults, each with the check that finds it. */
export const SERVICE_FAULTS = {
  'assigns the same details to all accounts': 'deposits.unique-details',
  'changes the details of an account': 'deposits.same-details',
  'reports a deposit in major units': 'deposits.amount',
  'reports a deposit twice': 'deposits.once',
  'returns funds after a rejection': 'recalls.rejected',
  'returns recalled funds twice': 'recalls.granted',
  'changes a decision': 'recalls.final',
  'recalls every transfer': 'recalls.unknown',
  'omits a line of a statement': 'statements.balance',
  'changes a statement': 'statements.repeat',
  'closes a day early': 'statements.open-day',
  'generates a key for each call': 'custody.same-key',
  'has one key for all': 'custody.own-key',
  'signs another encoding': 'custody.signature',
  'signs with unknown keys': 'custody.unknown',
  'changes a held rate': 'quotes.same-rate',
  'exchanges twice': 'quotes.redeem-once',
  'exchanges another amount': 'quotes.amounts',
  'exchanges without a rate': 'quotes.unknown',
  'orders during a validation': 'stablecoins.prepare',
  'mints twice': 'stablecoins.once',
  'mints another amount': 'stablecoins.amount',
  'fails a completed order': 'stablecoins.completed',
  'completes a failed order': 'stablecoins.failed',
  'accepts all credentials': 'stablecoins.credentials',
  'issues a card for each call': 'cards.once',
  'returns the state of unknown cards': 'cards.unknown',
  'shows the number of another card': 'cards.number',
  'replaces a frozen card': 'cards.freeze',
  'clears more than approved': 'cards.approved',
  'clears a declined payment': 'cards.declined',
  'clears unanswered requests': 'cards.unanswered',
} as const;
type ServiceFault = keyof typeof SERVICE_FAULTS;

export const SERVICE_CAPABILITIES = {
  ...{ recall: true, statements: true, cards: true, fundingCurrencies: ['EUR'] },
  services: ['funding', 'firm_quotes', 'stablecoins', 'custody'],
};

interface Deps {
  fault: string | undefined;
  /** Sends a message until its response is final. A message with `onReply` is sent once. */
  report(message: Json, onReply?: (reply: Json) => void): void;
  /** The payment of a transfer. */
  paymentOf(transferId: string): Json;
}

let counter = 0;
const nextId = (name: string) => `${name}-${++counter}`;

/** A value for each key, created once. */
function createOnce<T>(create: (key: string) => T) {
  const values = new Map<string, T>();
  return {
    has: (key: string) => values.has(key),
    get(key: string): T {
      if (!values.has(key)) values.set(key, create(key));
      return values.get(key) as T;
    },
  };
}

function deposits({ fault, report }: Deps) {
  const references = createOnce(() =>
    fault === 'assigns the same details to all accounts' ? 'RF-0' : nextId('RF'),
  );
  const details = (accountId: string) =>
    fault === 'changes the details of an account' ? nextId('RF') : references.get(accountId);
  const calls: Calls = {
    '/funding/account': ({ accountId }) => ({
      instructions: [
        {
          accountOrWalletInfo: {
            ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
            ...{ paymentRails: ['SEPA'], reference: details(accountId) },
          },
        },
      ],
    }),
  };
  /** Receives the amount of the transfer as a deposit. */
  function receive({ transferId, amount, currency, reference }: Json): void {
    const reportCount = fault === 'reports a deposit twice' ? 2 : 1;
    for (let entry = 1; entry <= reportCount; entry++) {
      report({
        ...{ id: `${transferId}/deposit/${entry}`, type: 'deposit.received', currency },
        ...{ bankReference: `ENTRY-${reference}-${entry}`, paymentReference: reference },
        amount: fault === 'reports a deposit in major units' ? Math.floor(amount / 100) : amount,
      });
    }
  }
  return { calls, receive };
}

function recalls({ fault, report, paymentOf }: Deps): Calls {
  const requestedRecalls = new Set<string>();
  const rejectedResult = { state: 'rejected', reason: 'BENEFICIARY_REFUSED' };
  const returnedResult = { state: 'returned', reason: 'PROVIDER_REJECTED' };
  return {
    '/transfers/recall'({ transferId }) {
      const payment = paymentOf(transferId);
      if (!payment) return fault === 'recalls every transfer' ? { state: 'requested' } : undefined;
      const isGranted = payment.transfer.remittanceInformation === 'TEST RECALLED';
      const decision = isGranted ? { state: 'accepted' } : rejectedResult;
      if (requestedRecalls.has(transferId)) return decision;
      requestedRecalls.add(transferId);
      const isChanged = fault === 'changes a decision';
      const reportedDecision = isChanged && !isGranted ? { state: 'accepted' } : decision;
      report({
        ...{
          id: `${transferId}/recall`,
          type: 'transfer.recall',
          transferId,
          recall: reportedDecision,
        },
      });
      if (isGranted || fault === 'returns funds after a rejection')
        payment.next.push(returnedResult);
      if (isGranted && fault === 'returns recalled funds twice') {
        report({
          ...{ id: `${transferId}/again`, type: 'transfer.updated', transferId },
          transfer: returnedResult,
        });
      }
      return { state: 'requested', checkAfterSeconds: 60 };
    },
  };
}

function statements({ fault }: Deps): Calls {
  let readCount = 0;
  const line = (id: string, amount: number) => ({
    ...{ id, direction: 'out', amount, kind: 'transfer', at: '2026-01-01T10:00:00Z' },
  });
  return {
    '/statements/day'({ day, currency, page }) {
      const isOpen = day >= new Date().toISOString().slice(0, 10);
      if (isOpen && fault !== 'closes a day early') return undefined;
      const change = fault === 'changes a statement' ? readCount++ : 0;
      const pages = [[line('1', 1_00 + change)], [line('2', 2_00)]];
      if (fault === 'omits a line of a statement') pages[1] = [];
      return {
        ...{ statementId: `${day}-${currency}`, day, currency, page, pageCount: 2, lineCount: 2 },
        ...{ openingBalance: 10_00, closingBalance: 7_00 - change, lines: pages[page - 1] ?? [] },
      };
    },
  };
}

const pointOf = (key: KeyObject) => {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
  return compressedPoint(`04${hex(x)}${hex(y)}`);
};

function custody({ fault }: Deps): Calls {
  const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const sharedKey = newKey();
  const keys = createOnce(() => (fault === 'has one key for all' ? sharedKey : newKey()));
  return {
    '/custody/keys'({ keyId }) {
      const key = fault === 'generates a key for each call' ? newKey() : keys.get(keyId);
      return { publicKey: pointOf(key), reference: `key ${keyId}` };
    },
    '/custody/sign'({ keyId, payload }) {
      if (!keys.has(keyId) && fault !== 'signs with unknown keys') return undefined;
      const encoding = fault === 'signs another encoding' ? 'latin1' : 'utf8';
      const bytes = Buffer.from(payload, encoding);
      return { signature: sign('sha256', bytes, keys.get(keyId)).toString('hex') };
    },
  };
}

function quotes({ fault }: Deps): Calls {
  const expiresAt = () => new Date(Date.now() + 60_000).toISOString();
  const heldQuotes = createOnce(() => ({
    ...{ result: 'quoted', reference: nextId('RATE'), rate: '0.9', expiresAt: expiresAt() },
  }));
  const exchanges = createOnce(() => nextId('DEAL'));
  return {
    '/rates/quote': ({ quoteId }) =>
      fault === 'changes a held rate'
        ? { ...heldQuotes.get(quoteId), rate: `0.9${++counter}` }
        : heldQuotes.get(quoteId),
    '/rates/redeem'({ quoteId, soldAmount, boughtAmount }) {
      if (!heldQuotes.has(quoteId) && fault !== 'exchanges without a rate') {
        return { state: 'rejected', reason: 'OTHER' };
      }
      const reference = fault === 'exchanges twice' ? nextId('DEAL') : exchanges.get(quoteId);
      const reportedAmount = fault === 'exchanges another amount' ? boughtAmount - 1 : boughtAmount;
      return { state: 'redeemed', reference, soldAmount, boughtAmount: reportedAmount };
    },
  };
}

function stablecoins({ fault, report }: Deps): Calls {
  const orders = new Map<string, { state: Json; submissions: number }>();
  const stateOf = ({ description, amount }: Json): Json => {
    const isOther = fault === 'mints another amount';
    const executedAmount = isOther ? `${amount}0` : amount;
    if (description === 'TEST HELD') return { state: 'processing', providerStatus: 'held' };
    return description === 'TEST FAILED'
      ? { state: 'failed', providerStatus: 'failed', reason: 'PROVIDER_TRANSFER_FAILED' }
      : { state: 'completed', providerStatus: 'done', amount: executedAmount };
  };
  function submit(order: Json): Json {
    const existingOrder = orders.get(order.orderId);
    const isTwice = fault === 'mints twice' && existingOrder?.submissions === 1;
    if (existingOrder) existingOrder.submissions += 1;
    if (existingOrder && !isTwice) {
      const changedStates: Partial<Record<ServiceFault, string>> = {
        'fails a completed order': 'completed',
        'completes a failed order': 'failed',
      };
      if (changedStates[fault as ServiceFault] !== existingOrder.state.state)
        return existingOrder.state;
      return stateOf({
        ...order,
        description: `TEST ${existingOrder.state.state === 'failed' ? '' : 'FAILED'}`,
      });
    }
    const state = stateOf(order);
    orders.set(order.orderId, { state, submissions: 1 });
    const { orderId } = order;
    report({ id: nextId(orderId), type: 'stablecoin.order', orderId, order: state });
    return { state: 'submitted', providerStatus: 'submitted' };
  }
  return {
    '/stablecoins/accounts': ({ clientSecret }) => ({
      accounts: clientSecret === 'TEST' || fault === 'accepts all credentials' ? ['account-1'] : [],
    }),
    '/stablecoins/token': () => ({
      ...{ result: 'found', name: 'Test', symbol: 'TEST', decimals: 6, baseCurrency: 'USD' },
      ...{ issuance: 'PROVISIONED', supply: '0' },
    }),
    '/stablecoins/link': ({ externalAccountId }) => ({
      ...{ result: 'linked', reference: `address ${externalAccountId}` },
    }),
    '/stablecoins/prepare'(order) {
      if (fault === 'orders during a validation') submit(order);
      return { result: 'accepted' };
    },
    '/stablecoins/submit': submit,
    '/stablecoins/state': ({ orderId }) => orders.get(orderId)?.state,
  };
}

function cards({ fault, report }: Deps): Calls {
  const newCard = () => {
    const last4 = String(1_000 + ++counter).slice(-4);
    return {
      ...{ state: 'issued', reference: nextId('CARD'), brand: 'VISA', last4 },
      ...{ expMonth: 12, expYear: 2031 },
    };
  };
  const issuedCards = createOnce(newCard);
  function pay({ cardId, currency }: Json): void {
    const authorizationId = nextId('AUTH');
    const amount = 10_00;
    const commonFields = { cardId, authorizationId, currency, merchant: { descriptor: 'Shop' } };
    const clearAmount = (clearedAmount: number) =>
      report({
        ...{
          id: nextId('clearing'),
          type: 'card.clearing',
          entryId: nextId('ENTRY'),
          ...commonFields,
        },
        amount: clearedAmount,
      });
    const message = {
      id: nextId('authorization'),
      type: 'card.authorization',
      ...commonFields,
      amount,
    };
    report(message, ({ authorization } = {}) => {
      if (authorization === undefined) {
        if (fault !== 'clears unanswered requests') return;
        return report({ ...message, id: nextId('stood-in'), stoodIn: true });
      }
      const isApproved = authorization.decision === 'APPROVED';
      if (!isApproved && fault !== 'clears a declined payment') return;
      clearAmount(fault === 'clears more than approved' ? amount + 1 : amount);
    });
  }
  return {
    '/cards/issue'(order) {
      if (fault === 'issues a card for each call') return newCard();
      const isNew = !issuedCards.has(order.cardId);
      const card = issuedCards.get(order.cardId);
      if (isNew && order.platformCardId === 'TEST PAYMENT') pay(order);
      return card;
    },
    '/cards/state': ({ cardId }) =>
      issuedCards.has(cardId) || fault === 'returns the state of unknown cards'
        ? issuedCards.get(cardId)
        : undefined,
    '/cards/change': ({ reference }) => ({
      reference: fault === 'replaces a frozen card' ? nextId('CARD') : reference,
    }),
    '/cards/details'({ cardId }) {
      const { last4 } = issuedCards.get(cardId);
      const suffix = fault === 'shows the number of another card' ? '0000' : last4;
      return { number: `400000000000${suffix}`, code: '123', expMonth: 12, expYear: 2031 };
    },
  };
}

/** The calls of the services, and the handler of a received deposit. */
export function servicesOf(deps: Deps) {
  const { calls, receive } = deposits(deps);
  return {
    receive,
    calls: {
      ...calls,
      ...recalls(deps),
      ...statements(deps),
      ...custody(deps),
      ...quotes(deps),
      ...stablecoins(deps),
      ...cards(deps),
    } as Calls,
  };
}
