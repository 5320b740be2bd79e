// The items that a step has changed. The rules check only these items.
import { agentOf } from '../model/agent-usage.ts';
import { isPayment, type Model, type RecordedRow, type RowChange } from '../model/model.ts';
import { isStart } from '../model/queue-and-limits.ts';

/** Changed items, by ID. */
export interface ChangedItems {
  accounts: Set<string>;
  payments: Set<string>;
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

export const createChangedItems = (): ChangedItems => ({
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

/** All items of the model. The sets of new items are empty. */
export const allItems = (model: Model): ChangedItems => ({
  accounts: new Set(model.accounts.keys()),
  payments: new Set(model.payments.keys()),
  startedPayments: new Set(),
  events: new Set(model.events.keys()),
  internal: new Set(model.internal.keys()),
  wallets: new Set(model.holdings.keys()),
  challenges: new Set(model.authentication.challenges.keys()),
  lockouts: new Set(model.authentication.lockouts.keys()),
  agents: new Set(model.agentRecords.agents.keys()),
  actions: new Set(model.agentRecords.actions.keys()),
  agentPayments: new Set(),
  cards: new Set(model.cardRecords.cards.keys()),
  cardLimits: new Set(model.cardRecords.openCards.keys()),
  coins: new Set(model.stablecoinRecords.coins.keys()),
  orders: new Set(model.stablecoinRecords.orders.keys()),
});

const RECORD_SUBJECT: Readonly<
  Record<string, (changedItems: ChangedItems, row: RecordedRow, model: Model) => void>
> = {
  ledger_accounts(changedItems, row) {
    const id = row.id as string;
    changedItems.accounts.add(id);
    if (id.startsWith('velocity:cards:'))
      changedItems.cardLimits.add(id.slice('velocity:cards:'.length));
    const coin = /^stablecoin:(.*):\w+$/.exec(id)?.[1];
    if (coin) changedItems.coins.add(coin);
  },
  ledger_transfers(changedItems, row) {
    const id = row.transaction_id as string;
    changedItems.payments.add(id);
    if (id.startsWith('StablecoinOperation:')) changedItems.orders.add(id);
    changedItems.accounts.add(row.debit as string).add(row.credit as string);
    const agent = agentOf(row.debit) ?? agentOf(row.credit);
    if (agent) changedItems.agents.add(agent);
    if (row.step === 'count.agent') changedItems.agentPayments.add(row.transaction_id as string);
  },
  transactions(changedItems, row) {
    changedItems.payments.add(row.id as string);
    if (row.agent_id) changedItems.agents.add(row.agent_id);
  },
  jobs(changedItems, row) {
    const { transactionId, operationId } = JSON.parse(row.input ?? '{}');
    if (transactionId) changedItems.payments.add(transactionId);
    if (operationId) changedItems.orders.add(operationId);
  },
  events(changedItems, row) {
    changedItems.events.add(row.id as string);
    if (isPayment(row.subject)) changedItems.payments.add(row.subject);
    if (row.type === 'CARD.STATE_CHANGE') changedItems.cards.add(row.subject as string);
  },
  webhook_queue: (changedItems, row) => changedItems.events.add(row.event_id as string),
  webhook_attempts: (changedItems, row) => changedItems.events.add(row.event_id as string),
  internal_accounts: (changedItems, row) => changedItems.internal.add(row.id as string),
  awaited_rail_results: (changedItems, row) => changedItems.payments.add(row.id as string),
  credentials: (changedItems, row) => changedItems.wallets.add(row.account_id as string),
  wallet_sessions: (changedItems, row) => changedItems.wallets.add(row.account_id as string),
  wallet_requests: (changedItems, row) => changedItems.wallets.add(row.account_id as string),
  wallet_authorizations: (changedItems, row) => changedItems.wallets.add(row.account_id as string),
  sca_challenges(changedItems, row, { authentication }) {
    changedItems.challenges.add(row.id as string);
    const payment = authentication.payments.get(row.subject as string);
    if (payment) changedItems.payments.add(payment);
  },
  sca_lockouts: (changedItems, row) => changedItems.lockouts.add(row.id as string),
  sca_events(changedItems, row, { authentication }) {
    changedItems.lockouts.add(row.customer_id as string);
    const subject = row.subject ?? '';
    const subjects = [subject, ...(authentication.challengesByQuote.get(subject) ?? [])];
    for (const id of subjects)
      if (authentication.challenges.has(id)) changedItems.challenges.add(id);
  },
  agent_actions(changedItems, row) {
    changedItems.actions.add(row.id as string);
    changedItems.payments.add(row.transaction_id as string);
  },
  cards(changedItems, row) {
    changedItems.cards.add(row.id as string);
    changedItems.cardLimits.add(row.platform_id as string).add(row.customer_id as string);
  },
  card_funding_sources: (changedItems, row) => changedItems.cards.add(row.card_id as string),
  delegated_keys: (changedItems, row) => changedItems.cards.add(row.card_id as string),
  card_messages: (changedItems, row) =>
    row.transaction_id && changedItems.payments.add(row.transaction_id),
  card_exceptions: (changedItems, row) => changedItems.payments.add(row.id as string),
  card_open_payments: (changedItems, row) => changedItems.payments.add(row.id as string),
  suspense_items: (changedItems, row) => changedItems.payments.add(row.id as string),
  stablecoins: (changedItems, row) => changedItems.coins.add(row.id as string),
  stablecoin_operations(changedItems, row) {
    changedItems.orders.add(row.id as string);
    changedItems.coins.add(row.stablecoin_id as string);
  },
  agent_audit: (changedItems, row) => row.action_id && changedItems.actions.add(row.action_id),
};

/** Records the subject of a change, which the model has applied already. */
export function addChangedItems(
  changedItems: ChangedItems,
  { table, before, after }: RowChange,
  model: Model,
): void {
  const row = after ?? before;
  if (row) RECORD_SUBJECT[table]?.(changedItems, row, model);
  if (table === 'transactions' && isStart(before, after))
    changedItems.startedPayments.add(row?.id as string);
}
