// Requests of clients on a platform with many payments: payments by ID, lists with their filters,
// and executed quotes.
import { BASE } from '../../machine/api.ts';
import type { Probe } from '../../processes/probe-process.ts';
import { numberedId } from './fill.ts';

export interface KnownValues {
  authorization: string;
  /** ID of a payment among the 50,000 newest of its platform, and its time. */
  payment: string;
  at: Date;
  reference: string;
  /** The customer and the accounts of the original payments, from which all others are copied. */
  payer: { customer: string; source: string; payee: string };
  people: number;
}

const HOUR_MS = 3_600_000;
const iso = (time: number) => new Date(time).toISOString();

/** A request of a client. `name` is shown in the progress. */
const probeOf = ({ authorization }: KnownValues, name: string, path: string): Probe => ({
  ...{ name: `client: ${name}`, path: `${BASE}/${path}`, authorization },
});

/** A payment by ID, and lists. Filters that match few of the rows are in `rareClientProbes`. */
export function clientProbes(facts: KnownValues): Probe[] {
  const { payment, at, reference, people } = facts;
  const busiestCustomer = numberedId('Customer', 1);
  const rareCustomer = numberedId('Customer', Math.floor(people / 2));
  const accounts = [1, Math.floor(people / 2)].map((n) => numberedId('InternalAccount', n));
  const hour = `startDate=${iso(at.getTime() - HOUR_MS)}&endDate=${iso(at.getTime() + HOUR_MS)}`;
  const payments = (name: string, query: string) =>
    probeOf(facts, `payments${name}`, `transactions?limit=20${query}`);
  return [
    probeOf(facts, 'a payment', `transactions/${payment}`),
    payments('', ''),
    payments(', oldest first', '&sortOrder=asc'),
    payments(' of a customer with a third of all', `&customerId=${busiestCustomer}`),
    payments(' of a customer with few payments', `&customerId=${rareCustomer}`),
    payments(" of the platform's ID of a customer", '&platformCustomerId=person 50'),
    payments(' of an account with a third of all', `&accountIdentifier=${accounts[0]}`),
    payments(' of an account with few payments', `&accountIdentifier=${accounts[1]}`),
    payments(' of a sender', `&senderAccountIdentifier=${accounts[1]}`),
    payments(' of a receiver', `&receiverAccountIdentifier=${accounts[1]}`),
    payments(' of a status', '&status=COMPLETED'),
    payments(' of a type', '&type=OUTGOING'),
    payments(' of a reference', `&reference=${encodeURIComponent(reference)}`),
    payments(' of two hours', `&${hour}`),
    payments(' of a customer in two hours', `&customerId=${busiestCustomer}&${hour}`),
    probeOf(facts, 'customers', 'customers?limit=20'),
    probeOf(facts, "a customer by the platform's ID", 'customers?platformCustomerId=person 50'),
    probeOf(
      facts,
      'customers created after a time',
      `customers?limit=20&createdAfter=${iso(at.getTime())}`,
    ),
    probeOf(facts, 'customers of a type', 'customers?limit=20&customerType=INDIVIDUAL'),
    probeOf(facts, 'external accounts', 'customers/external-accounts?limit=20'),
    probeOf(
      facts,
      'external accounts of a customer',
      `customers/external-accounts?customerId=${rareCustomer}`,
    ),
    probeOf(facts, 'internal accounts', 'customers/internal-accounts?limit=20'),
    probeOf(facts, 'events', 'events?limit=20'),
    probeOf(facts, 'events of a payment', `events?limit=20&resourceId=${payment}`),
    probeOf(facts, 'deliveries', 'webhook-deliveries?limit=20'),
    probeOf(facts, 'requests', 'requests?limit=20'),
  ].map((probe) => ({ ...probe, path: probe.path.replaceAll(' ', '%20') }));
}

/** Filters that match one row in a hundred, or none. */
export const rareClientProbes = (facts: KnownValues): Probe[] => [
  probeOf(facts, 'payments of a rare status', 'transactions?limit=20&status=FAILED'),
  probeOf(facts, 'payments of a type without payments', 'transactions?limit=20&type=INCOMING'),
];

/** A quote that is executed immediately. */
export const executeProbes = (facts: KnownValues): Probe[] => [
  {
    ...probeOf(facts, 'an executed quote', 'quotes'),
    status: 201,
    body: JSON.stringify({
      source: { sourceType: 'ACCOUNT', accountId: facts.payer.source },
      destination: { destinationType: 'ACCOUNT', accountId: facts.payer.payee },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 100,
      immediatelyExecute: true,
    }),
  },
];
