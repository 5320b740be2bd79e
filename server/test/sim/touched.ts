// What a step has touched, so that the rules look at that alone.
import { agentOf } from './agency.ts';
import type { Note, Noted, Picture } from './picture.ts';
import { begins } from './standing.ts';

/** What a step has touched, by id. */
export interface Touched {
  accounts: Set<string>;
  payments: Set<string>;
  /** Those of them that began to move money. */
  begun: Set<string>;
  events: Set<string>;
  internal: Set<string>;
  /** Embedded wallets. */
  wallets: Set<string>;
  challenges: Set<string>;
  /** Customers whose failures are counted. */
  standings: Set<string>;
  agents: Set<string>;
  actions: Set<string>;
  /** Payments that now count for their agents. */
  counted: Set<string>;
}

export const nothing = (): Touched => ({
  accounts: new Set(),
  payments: new Set(),
  begun: new Set(),
  events: new Set(),
  internal: new Set(),
  wallets: new Set(),
  challenges: new Set(),
  standings: new Set(),
  agents: new Set(),
  actions: new Set(),
  counted: new Set(),
});

/** All that is in the picture. Nothing of it is new. */
export const everything = (picture: Picture): Touched => ({
  accounts: new Set(picture.accounts.keys()),
  payments: new Set(picture.payments.keys()),
  begun: new Set(),
  events: new Set(picture.events.keys()),
  internal: new Set(picture.internal.keys()),
  wallets: new Set(picture.holdings.keys()),
  challenges: new Set(picture.strength.challenges.keys()),
  standings: new Set(picture.strength.standings.keys()),
  agents: new Set(picture.agency.agents.keys()),
  actions: new Set(picture.agency.actions.keys()),
  counted: new Set(),
});

const TABLE_IDS: Readonly<
  Record<string, (touched: Touched, row: Noted, picture: Picture) => void>
> = {
  ledger_accounts: (touched, row) => touched.accounts.add(row.id as string),
  ledger_transfers(touched, row) {
    touched.payments.add(row.transaction_id as string);
    touched.accounts.add(row.debit as string).add(row.credit as string);
    const agent = agentOf(row.debit) ?? agentOf(row.credit);
    if (agent) touched.agents.add(agent);
    if (row.step === 'count.agent') touched.counted.add(row.transaction_id as string);
  },
  transactions(touched, row) {
    touched.payments.add(row.id as string);
    if (row.agent_id) touched.agents.add(row.agent_id);
  },
  jobs(touched, row) {
    const { transactionId } = JSON.parse(row.input ?? '{}') as { transactionId?: string };
    if (transactionId) touched.payments.add(transactionId);
  },
  events(touched, row) {
    touched.events.add(row.id as string);
    if (row.subject?.startsWith('Transaction:')) touched.payments.add(row.subject);
  },
  webhook_attempts: (touched, row) => touched.events.add(row.event_id as string),
  internal_accounts: (touched, row) => touched.internal.add(row.id as string),
  rail_waits: (touched, row) => touched.payments.add(row.id as string),
  credentials: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_sessions: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_requests: (touched, row) => touched.wallets.add(row.account_id as string),
  wallet_authorizations: (touched, row) => touched.wallets.add(row.account_id as string),
  sca_challenges(touched, row, { strength }) {
    touched.challenges.add(row.id as string);
    const payment = strength.payments.get(row.subject as string);
    if (payment) touched.payments.add(payment);
  },
  sca_standings: (touched, row) => touched.standings.add(row.id as string),
  sca_events(touched, row, { strength }) {
    touched.standings.add(row.customer_id as string);
    const subject = row.subject ?? '';
    const about = [subject, ...(strength.ofQuote.get(subject) ?? [])];
    for (const id of about) if (strength.challenges.has(id)) touched.challenges.add(id);
  },
  agent_actions(touched, row) {
    touched.actions.add(row.id as string);
    touched.payments.add(row.transaction_id as string);
  },
  agent_audit: (touched, row) => row.action_id && touched.actions.add(row.action_id),
};

/** Takes down what a note is about; the picture knows of it already. */
export function touch(touched: Touched, { table, was, now }: Note, picture: Picture): void {
  const row = now ?? was;
  if (row) TABLE_IDS[table]?.(touched, row, picture);
  if (table === 'transactions' && begins(was, now)) touched.begun.add(row?.id as string);
}
