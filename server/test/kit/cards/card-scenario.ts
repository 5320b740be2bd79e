// A sandbox card with a funded cardholder. Requests and notices are sent over the sandbox
// operations. All events about the card, its payments and the funding account form the lines of one
// scenario. The lines are compared with expected lines.
import { expect } from 'vitest';
import { systemAccount } from '../../../src/ledger/chart.ts';
import { ok, readBalances } from '../app/fixtures.ts';
import type { ApiResponse } from '../app/harness.ts';
import { type Fixture, openSandboxFixture } from '../payments/sandbox-outcomes.ts';
import { cardFixture, newCardName } from './cards.ts';

type CardScenarios = Awaited<ReturnType<typeof openCardScenarios>>;
type CardScenario = Awaited<ReturnType<CardScenarios['begin']>>;

/** Minor units per dollar, by funding currency. Amounts of scenarios are whole dollars. */
const UNITS: Readonly<Record<string, number>> = { USD: 100, USDB: 1_000_000 };
const CENTS_PER_DOLLAR = 100;
/** Dollars in the funding account of a new cardholder. */
const INITIAL_BALANCE = 1_000;

/** Requests about a card, by the last part of the path. */
export const REQUEST_KINDS = [
  'authorization',
  'financial_authorization',
  'credit_authorization',
  'financial_credit_authorization',
  'credit_authorization_advice',
  'balance_inquiry',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Notices about a payment. */
export const NOTICES = ['authorization_advice', 'clearing', 'return', 'return_reversal'] as const;
export type NoticeKind = (typeof NOTICES)[number];

// biome-ignore lint/suspicious/noExplicitAny: a resource of any shape.
type Resource = any;

const describeSummary = (term: string, summary: Resource) =>
  summary?.count ? `, ${term} ${summary.totalAmount / CENTS_PER_DOLLAR} in ${summary.count}` : '';

/** `SETTLED 40, cleared 40 in 1, debited 40 in 1 (1 pending), refunded 10 in 1`. */
function describePayment(data: Resource): string {
  const { status, authorizedAmount, settledAmount, refundedAmount } = data;
  const {
    pullSummary: fundingDebits,
    settlementSummary: settlement,
    refundSummary: refunds,
  } = data;
  if (settledAmount) expect(settledAmount.amount).toBe(settlement?.totalAmount ?? 0);
  expect(refundedAmount?.amount).toBe(refunds?.totalAmount);
  const withoutClearing = settledAmount && !settlement ? ', cleared 0' : '';
  const pendingText = fundingDebits?.pendingCount ? ` (${fundingDebits.pendingCount} pending)` : '';
  const parts = [
    describeSummary('cleared', settlement),
    describeSummary('debited', fundingDebits),
    pendingText,
    describeSummary('refunded', refunds),
  ];
  const sign = data.direction === 'CREDIT' ? '+' : '';
  const amount = authorizedAmount.amount / CENTS_PER_DOLLAR;
  return `${status} ${sign}${amount}${withoutClearing}${parts.join('')}`;
}

/** `card CLOSED ISSUER_REJECTED`. */
const describeCard = ({ state, stateReason }: Resource): string =>
  ['card', state, stateReason].filter(Boolean).join(' ');

export interface ScenarioOptions {
  currency?: string;
  /** Balance of the account, in dollars. */
  funds?: number;
  /** Fields of the request for the card. By default the card is issued immediately. */
  card?: Record<string, unknown>;
}

export async function openCardScenarios() {
  const fixture: Fixture = await openSandboxFixture();
  const { app } = fixture;
  const cards = cardFixture(app);

  /** Balance of the system account `cards`, in dollars. */
  async function readSettlementBalance(currency: string): Promise<number> {
    const id = systemAccount('sandbox', 'cards', currency);
    const [row] = await app.runtime.db.query('select balance from ledger_accounts where id = $1', [
      id,
    ]);
    return Number(row?.balance) / (UNITS[currency] as number);
  }

  /** The decision about the newest request of a card. */
  async function readDecision(cardId: string): Promise<string> {
    const [row] = await app.runtime.db.query(
      'select kind, approved, reason from card_messages where card_id = $1 order by id desc ' +
        'limit 1',
      [cardId],
    );
    return `${row?.kind} ${row?.approved ? 'approved' : row?.reason}`;
  }

  /** A new card of a new cardholder, and its later events. */
  async function openScenario({
    currency = 'USD',
    funds = INITIAL_BALANCE,
    card: cardFields = {},
  }: ScenarioOptions = {}) {
    const units = UNITS[currency] as number;
    const holder = await cards.createCardholder({ currency, funds: funds * units });
    return scenarioOf(
      await cards.createCard(holder, { platformCardId: newCardName(), ...cardFields }),
      {
        ...holder,
        currency,
      },
    );
  }

  /** The scenario of an existing card. */
  async function scenarioOf(
    card: Resource,
    holder: { accountId: string; customer: { id: string }; currency: string },
  ) {
    const { accountId, customer, currency } = holder;
    const units = UNITS[currency] as number;
    const initialBalance = await readSettlementBalance(currency);
    let receivedCount = fixture.arrivals.length;
    const lastPayments = new Map<string, Resource>();

    function describeEvent({ type, data }: Resource): string {
      if (type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED' && data.id === accountId) {
        return `account ${data.balance.amount / units}/${data.totalBalance.amount / units}`;
      }
      if (type === 'CARD.STATE_CHANGE' && data.id === card.id) return describeCard(data);
      if (type !== `CARD_TRANSACTION.${data.status}` || data.cardId !== card.id) {
        return `${type} ${data.id}`;
      }
      lastPayments.set(data.id, data);
      return describePayment(data);
    }

    const simulate = (
      kind: RequestKind | NoticeKind,
      body: object,
      headers?: Record<string, string>,
    ) => cards.call('POST', `/sandbox/cards/${card.id}/simulate/${kind}`, body, headers);

    const tokenOf = (response: ApiResponse): string => ok(response, 202).issuerTransactionToken;

    /** Payments of the card from the list. Each must equal its own resource. */
    async function payments(): Promise<Resource[]> {
      const path = `/transactions?customerId=${customer.id}&sortOrder=asc`;
      const { data } = ok(await cards.call('GET', path), 200);
      const cardPayments = data.filter((transaction: Resource) => transaction.type === 'CARD');
      for (const payment of cardPayments) {
        expect(ok(await cards.call('GET', `/transactions/${payment.id}`), 200)).toEqual(payment);
        expect([payment.cardId, payment.accountId]).toEqual([card.id, accountId]);
      }
      return cardPayments;
    }

    async function payment(): Promise<Resource> {
      const allPayments = await payments();
      expect(allPayments).toHaveLength(1);
      return allPayments[0];
    }

    return {
      card,
      ...holder,
      simulate,
      payments,
      payment,
      decision: () => readDecision(card.id),
      patch: (body: Record<string, unknown>) => cards.patchCard(card.id, body),
      /**
       * Requests dollars at a merchant with this descriptor suffix. Returns the issuer's reference.
       */
      request: async (kind: RequestKind, dollars = 0, suffix = '000') => {
        const merchant = { descriptor: `SHOP ${suffix}` };
        const money = { amount: dollars * CENTS_PER_DOLLAR, currency: { code: 'USD' } };
        return tokenOf(
          await simulate(kind, kind === 'balance_inquiry' ? { merchant } : { ...money, merchant }),
        );
      },
      /** Sends a notice about the only payment. Returns the raw reply. */
      send: async (kind: NoticeKind, dollars?: number): Promise<ApiResponse> => {
        const { id: cardTransactionId } = await payment();
        const money = dollars === undefined ? {} : { amount: dollars * CENTS_PER_DOLLAR };
        return simulate(kind, { cardTransactionId, ...money });
      },
      /**
       * Events since the last call. Webhooks of the card, and of each payment, must arrive in the
       * order of their IDs. Balance events are sorted by ID into this order.
       */
      async next(): Promise<string[]> {
        await app.settle();
        const receivedEvents: Resource[] = fixture.arrivals
          .slice(receivedCount)
          .map(({ body }) => JSON.parse(body));
        receivedCount = fixture.arrivals.length;
        for (const subject of new Set(receivedEvents.map(({ data }) => data.id))) {
          if (subject === accountId) continue;
          const ids = receivedEvents
            .filter(({ data }) => data.id === subject)
            .map((event) => event.id);
          expect(ids).toEqual(ids.toSorted());
        }
        expect(new Set(receivedEvents.map((event) => event.id)).size).toBe(receivedEvents.length);
        return receivedEvents.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(describeEvent);
      },
      /** Describes the payment, which must equal the one in its last event, and the account. */
      async end(): Promise<string> {
        const currentPayment = await payment();
        const { pullSummary: _p, lastEventAt: _l, updatedAt: _u, ...view } = currentPayment;
        expect(lastPayments.get(currentPayment.id)).toMatchObject(view);
        const { balance, total } = await readBalances(app, accountId);
        return `${describePayment(currentPayment)}; account ${balance / units}/${total / units}`;
      },
      /** Part of this scenario in the system account `cards`, in dollars. */
      storedFunds: async () => (await readSettlementBalance(currency)) - initialBalance,
    };
  }

  return { ...fixture, cards, begin: openScenario, scenarioOf };
}

/** One step of a test. */
export type Step = (scenario: CardScenario) => Promise<unknown>;

export const requests =
  (kind: RequestKind, dollars: number, suffix?: string): Step =>
  (scenario) =>
    scenario.request(kind, dollars, suffix);

/** Sends a notice. The reply must have the issuer's reference of the payment. */
export const notice =
  (kind: NoticeKind, dollars?: number): Step =>
  async (scenario) => {
    const { issuerTransactionToken } = await scenario.payment();
    const body = ok(await scenario.send(kind, dollars), 202);
    expect(body).toEqual({ issuerTransactionToken });
  };

export const expectLines =
  (state: string): Step =>
  async (scenario) =>
    ok(await scenario.patch({ state }), 200);
