// The items that a step has changed. The rules check only these.
import { agentOf } from '../model/agent-usage.ts';
import { isPayment, type Model, type RecordedRow, type RowChange } from '../model/model.ts';
import { isStart } from '../model/queue-and-limits.ts';

/** Changed items, by id. */
export interface Touched {
  accounts: Set<string>;
  payments: Set<string>;
  /** Payments that started. */
  startedPayments: Set<string>;
  events: Set<string>;
  internal: Set<string>;
  /** Embedded wallets. */
  wallets: Set<string>;
  challenges: Set<string>;
  /** Customers whose failures are counted. */
  lockouts: Set<string>;
  agents: Set<string>;
  actions: Set<string>;
  /** Payments that newly count for their agents. */
  agentPayments: Set<string>;
  cards: Set<string>;
  /** Platforms and cardholders whose number of cards changed. */
  cardLimits: Set<string>;
  coins: Set<string>;
  /** Mints and burns. */
  orders: Set<string>;
}

export const emptyTouched = (): Touched => ({
  accounts: new Set(),
  payments: new Set(),
  startedPayments: new Set(),
  events: new Set(),
  internal: new Set(),
  wallets: new Set(),
  challenges: new Set(),
  lockouts: new Set(),
  agents: new Set(),
  actions: new Set(),
  agentPayments: new Set(),
  cards: new Set(),
  cardLimits: new Set(),
  coins: new Set(),
  orders: new Set(),
});

/** All items of the model, none of them new. */
export const allTouched = (model: Model): Touched => ({
  accounts: new Set(model.accounts.keys()),
  payments: new Set(model.payments.keys()),
  startedPayments: new Set(),
  events: new Set(model.events.keys()),
  internal: new Set(model.internal.keys()),
  wallets: new Set(model.holdings.keys()),
  challenges: new Set(model.authentication.challenges.keys()),
  lockouts: new Set(model.authentication.lockouts.keys()),
  agents: new Set(model.agency.agents.keys()),
  actions: new Set(model.agency.actions.keys()),
  agentPayments: new Set(),
  cards: new Set(model.cardBook.cards.keys()),
  cardLimits: new Set(model.cardBook.openCards.keys()),
  coins: new Set(model.coinBook.coins.keys()),
  orders: new Set(model.coinBook.orders.keys()),
});

const RECORD_SUBJECT: Readonly<
  Record<string, (touched: Touched, row: RecordedRow, model: Model) => void>
> = {
  ledger_accounts(touched, row) {
    const id = row.id as string;
    touched.accounts.add(id);
    if (id.startsWith('velocity:cards:'))
      touched.cardLimits.add(id.slice('velocity:cards:'.length));
    const coin = /^stablecoin:(.*):\w+$/.exec(id)?.[1];
    if (coin) touched.coins.add(coin);
  },
  ledger_transfers(touched, row) {
    const id = row.transaction_id as string;
    touched.payments.add(id);
    if (id.startsWith('StablecoinOperation:')) touched.orders.add(id);
    touched.accounts.add(row.debit as string).add(row.credit as string);
    const agent = agentOf(row.debit) ?? agentOf(row.credit);
    if (agent) touched.agents.add(agent);
    if (row.step === 'count.agent') touched.agentPayments.add(row.transaction_id as string);
  },
  transactions(touched, row) {
    touched.payments.add(row.id as string);
    if (row.agent_id) touched.agents.add(row.agent_id);
  },
  jobs(touched, row) {
    const { transactionId, operationId } = JSON.parse(row.input ?? '{}');
    if (transactionId) touched.payments.add(transactionId);
    if (operationId) touched.orders.add(operationId);
  },
  events(touched, row) {
    touched.events.add(row.id as string);
    if (isPayment(row.subject)) touched.payments.add(row.subject);
    if (row.type === 'CARD.STATE_CHANGE') touched.cards.add(row.subject as string);
  },
  webhook_queue: (touched, row) => touched.events.add(row.event_id as string),
  webhook_attempts: (touched, row) => touched.events.add(row.event_id as string),
  internal_accounts: (touched, row) => touched.internal.add(row.id as string),
  awaited_rail_results: (touched, row) => touched.payments.add(row.id as string),
  credentials: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_sessions: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_requests: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_authorizations: (touched, row) => touched.wallets.add(row.account_id as string),
  sca_challenges(touched, row, { authentication }) {
    touched.challenges.add(row.id as string);
    const payment = authentication.payments.get(row.subject as string);
    if (payment) touched.payments.add(payment);
  },
  sca_lockouts: (touched, row) => touched.lockouts.add(row.id as string),
  sca_events(touched, row, { authentication }) {
    touched.lockouts.add(row.customer_id as string);
    const subject = row.subject ?? '';
    const about = [subject, ...(authentication.challengesByQuote.get(subject) ?? [])];
    for (const id of about) if (authentication.challenges.has(id)) touched.challenges.add(id);
  },
  agent_actions(touched, row) {
    touched.actions.add(row.id as string);
    touched.payments.add(row.transaction_id as string);
  },
  cards(touched, row) {
    touched.cards.add(row.id as string);
    touched.cardLimits.add(row.platform_id as string).add(row.customer_id as string);
  },
  card_funding_sources: (touched, row) => touched.cards.add(row.card_id as string),
  delegated_keys: (touched, row) => touched.cards.add(row.card_id as string),
  card_messages: (touched, row) => row.transaction_id && touched.payments.add(row.transaction_id),
  card_exceptions: (touched, row) => touched.payments.add(row.id as string),
  card_open_payments: (touched, row) => touched.payments.add(row.id as string),
  suspense_items: (touched, row) => touched.payments.add(row.id as string),
  stablecoins: (touched, row) => touched.coins.add(row.id as string),
  stablecoin_operations(touched, row) {
    touched.orders.add(row.id as string);
    touched.coins.add(row.stablecoin_id as string);
  },
  agent_audit: (touched, row) => row.action_id && touched.actions.add(row.action_id),
};

/** Records the subject of a change, which the model has applied already. */
export function touch(touched: Touched, { table, before, after }: RowChange, model: Model): void {
  const row = after ?? before;
  if (row) RECORD_SUBJECT[table]?.(touched, row, model);
  if (table === 'transactions' && isStart(before, after))
    touched.startedPayments.add(row?.id as string);
}
