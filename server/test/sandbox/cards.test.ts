// Every row of the sandbox's card tables, in every context to which it applies: issuing, funding
// sources, and the outcome of each message. Card, payment, balances and all webhooks in order are
// compared. The rows are the data of the sandbox, so a row without an expectation here fails.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  DESCRIPTOR_DECLINES,
  FUNDING_DEBIT_OUTCOMES,
  FUNDING_REJECTIONS,
  ISSUE_OUTCOMES,
} from '../../src/connectors/sandbox/cards/card-outcomes.ts';
import { findInternalAccount, ok } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import {
  openCardScenarios,
  REQUEST_KINDS,
  type RequestKind,
  type ScenarioOptions,
} from '../kit/cards/card-scenario.ts';
import { newCardName } from '../kit/cards/cards.ts';
import { delegatedFixture } from '../kit/cards/delegated-cards.ts';
import { expectedOf } from '../kit/payments/sandbox-outcomes.ts';

const fixture = openForFile(openCardScenarios);
beforeEach(() => fixture.app.advance(7 * 60_000));

/** Represents all suffixes that no table names. */
const OTHER_SUFFIX = '000';
const addOtherSuffix = (...tables: object[]) =>
  [...new Set([...tables.flatMap(Object.keys), OTHER_SUFFIX])].sort();

const SECOND = 1_000;

interface Issuing {
  immediateEvents: string[];
  laterEvents?: { afterMs: number; events: string[] };
  end: { state: string; stateReason: string | null };
}

const ACTIVE_CARD = { state: 'ACTIVE', stateReason: null };

const ISSUING: Readonly<Record<string, Issuing>> = {
  [OTHER_SUFFIX]: { immediateEvents: ['card ACTIVE'], end: ACTIVE_CARD },
  '001': { immediateEvents: [], end: { state: 'PROCESSING', stateReason: null } },
  '002': {
    immediateEvents: ['card CLOSED ISSUER_REJECTED'],
    end: { state: 'CLOSED', stateReason: 'ISSUER_REJECTED' },
  },
  '005': {
    immediateEvents: [],
    laterEvents: { afterMs: 30 * SECOND, events: ['card ACTIVE'] },
    end: ACTIVE_CARD,
  },
};

describe('the table of issuing', () => {
  it('has the expected rows', () => {
    expect(Object.keys(ISSUING).sort()).toEqual(addOtherSuffix(ISSUE_OUTCOMES));
  });

  it.each(addOtherSuffix(ISSUE_OUTCOMES))('applies to the suffix %s', async (suffix) => {
    const { app, cards } = fixture;
    const row = expectedOf(ISSUING, suffix);
    const holder = await cards.createCardholder();
    await app.settle();
    const platformCardId = newCardName(suffix);
    const requestedCard = ok(await cards.requestCard(holder, { platformCardId }), 201);
    expect(requestedCard).toMatchObject({ state: 'PROCESSING', platformCardId });
    const scenario = await fixture.scenarioOf(requestedCard, holder);
    expect(await scenario.next()).toEqual(row.immediateEvents);
    if (row.laterEvents) {
      await app.advance(row.laterEvents.afterMs - 1);
      expect(await scenario.next()).toEqual([]);
      expect((await cards.readCard(requestedCard.id)).state).toBe('PROCESSING');
      await app.advance(1);
      expect(await scenario.next()).toEqual(row.laterEvents.events);
    }
    const currentCard = await cards.readCard(requestedCard.id);
    expect(currentCard).toMatchObject(row.end);
    const { data } = ok(await cards.call('GET', `/cards?platformCardId=${platformCardId}`), 200);
    expect(data).toEqual([currentCard]);
    const isIssued = row.end.state === 'ACTIVE';
    expect(
      [currentCard.brand, currentCard.last4].map((value) => typeof value === 'string'),
    ).toEqual([...[isIssued, isIssued]]);
    await fixture.app.advance(7 * 60_000);
    expect(await scenario.next()).toEqual([]);
  });

  it('activates a card without a platformCardId, and derives last4 from a platformCardId', async () => {
    const { app, cards } = fixture;
    const { platformCardId: _, ...body } = cards.cardBody(await cards.createCardholder());
    const { id } = ok(await cards.call('POST', '/cards', body), 201);
    await app.settle();
    const unnamedCard = await cards.readCard(id);
    expect(unnamedCard.state).toBe('ACTIVE');
    const platformCardId = newCardName();
    const card = await cards.createCard(await cards.createCardholder(), { platformCardId });
    ok(await cards.patchCard(card.id, { state: 'CLOSED' }), 200);
    const secondCard = await cards.createCard(await cards.createCardholder(), { platformCardId });
    expect([secondCard.last4, secondCard.id === card.id]).toEqual([card.last4, false]);
  });
});

describe('the table of funding', () => {
  const REJECTION_PHASES: Readonly<Record<string, 'create' | 'update' | null>> = {
    ...{
      [OTHER_SUFFIX]: null,
      '001': null,
      '002': null,
      '003': 'create',
      '004': 'update',
      '005': null,
    },
  };

  it('has the expected rows', () => {
    expect(
      Object.fromEntries(Object.entries(REJECTION_PHASES).filter(([, phase]) => phase)),
    ).toEqual(FUNDING_REJECTIONS);
  });

  it.each(Object.keys(REJECTION_PHASES))(
    'applies to the suffix %s, for a new and an existing card',
    async (suffix) => {
      const { cards, app } = fixture;
      const rejection = expectedOf(REJECTION_PHASES, suffix);
      const expectStatus = (
        response: { status: number; body: { code?: string } },
        expectedStatus: number,
      ) =>
        expect([response.status, response.body.code]).toEqual(
          expectedStatus === 400 ? [400, 'FUNDING_SOURCE_INELIGIBLE'] : [expectedStatus, undefined],
        );
      for (const [currency, otherCurrency] of [
        ['USD', 'USDB'],
        ['USDB', 'USD'],
      ] as const) {
        const holder = await cards.createCardholder({ currency });
        const createdCard = await cards.requestCard(holder, {
          platformCardId: newCardName(suffix),
        });
        expectStatus(createdCard, rejection === 'create' ? 400 : 201);
        if (rejection === 'create') continue;
        await app.settle();
        // A rejected card is closed and cannot be changed, regardless of its funding source.
        if ((await cards.readCard(createdCard.body.id)).state === 'CLOSED') continue;
        const secondInternalAccount = await findInternalAccount(
          app,
          holder.customer.id,
          otherCurrency,
        );
        const change = { fundingSources: [secondInternalAccount.id] };
        expectStatus(
          await cards.patchCard(createdCard.body.id, change),
          rejection === 'update' ? 400 : 200,
        );
      }
    },
  );
});

/** Events of a request in order. `laterEvents` follow a slow debit, which needs 30 seconds. */
interface Row {
  decision: string;
  immediateEvents: string[];
  laterEvents?: string[];
  /** The final payment and account. Absent without a payment. */
  end?: string;
  /** Balance of the system account for cards, in dollars. Default: 0. */
  storedBalance?: number;
}

const declinedRow = (decision: string): Row => ({ decision, immediateEvents: [] });
const INSUFFICIENT_FUNDS_ROW = declinedRow('INSUFFICIENT_FUNDS');
const CARD_PAUSED_ROW = declinedRow('CARD_PAUSED');

const AUTHORIZED_EVENT = 'AUTHORIZED 40, debited 40 in 1 (1 pending)';
const CLEARED_EVENT = 'SETTLED 40, cleared 40 in 1, debited 40 in 1 (1 pending)';
const EXCEPTION_EVENT = 'EXCEPTION 40, debited 40 in 1';
const CLEARED_EXCEPTION_EVENT = 'EXCEPTION 40, cleared 40 in 1, debited 40 in 1';

const debitRows = (debitEvent: string, stuckEvent: string): Record<string, Row> => {
  const startEvents = ['account 960/1000', debitEvent];
  const expectedEnd = `${debitEvent.replace(' (1 pending)', '')}; account 960/960`;
  const storedBalance = debitEvent === AUTHORIZED_EVENT ? 40 : 0;
  return {
    [OTHER_SUFFIX]: {
      decision: 'approved',
      immediateEvents: [...startEvents, 'account 960/960'],
      end: expectedEnd,
      storedBalance,
    },
    '002': INSUFFICIENT_FUNDS_ROW,
    '003': CARD_PAUSED_ROW,
    '005': {
      decision: 'approved',
      immediateEvents: startEvents,
      laterEvents: ['account 960/960'],
      end: expectedEnd,
      storedBalance,
    },
    '006': {
      decision: 'approved',
      immediateEvents: [...startEvents, stuckEvent],
      end: `${stuckEvent}; account 960/1000`,
      storedBalance: storedBalance - 40,
    },
  };
};

/** The suffixes of slow and failed debits have no effect on a message without a debit. */
const rowsWithoutDebit = (row: Row): Record<string, Row> => ({
  ...{
    [OTHER_SUFFIX]: row,
    '002': INSUFFICIENT_FUNDS_ROW,
    '003': CARD_PAUSED_ROW,
    '005': row,
    '006': row,
  },
});

const authorizedCreditRow: Row = {
  ...{
    decision: 'approved',
    immediateEvents: ['AUTHORIZED +40'],
    end: 'AUTHORIZED +40; account 1000/1000',
  },
};

const ROWS: Readonly<Record<RequestKind, Readonly<Record<string, Row>>>> = {
  authorization: debitRows(AUTHORIZED_EVENT, EXCEPTION_EVENT),
  financial_authorization: debitRows(CLEARED_EVENT, CLEARED_EXCEPTION_EVENT),
  credit_authorization: rowsWithoutDebit(authorizedCreditRow),
  credit_authorization_advice: rowsWithoutDebit(authorizedCreditRow),
  financial_credit_authorization: rowsWithoutDebit({
    decision: 'approved',
    immediateEvents: ['account 1040/1040', 'SETTLED +40, cleared 40 in 1'],
    end: 'SETTLED +40, cleared 40 in 1; account 1040/1040',
  }),
  balance_inquiry: rowsWithoutDebit({ decision: 'approved', immediateEvents: [] }),
};

describe('the table of descriptors', () => {
  const suffixes = addOtherSuffix(DESCRIPTOR_DECLINES, FUNDING_DEBIT_OUTCOMES);

  it('has the expected rows for every message about a card', () => {
    expect(Object.keys(ROWS).sort()).toEqual([...REQUEST_KINDS].sort());
    for (const rows of Object.values(ROWS)) expect(Object.keys(rows).sort()).toEqual(suffixes);
  });

  const cases = REQUEST_KINDS.flatMap((kind) =>
    suffixes.flatMap((suffix) =>
      ['USD', 'USDB'].map((currency) => [suffix, kind, currency] as const),
    ),
  );
  it.each(cases)('applies to the suffix %s: %s, funded from %s', async (suffix, kind, currency) => {
    const { app } = fixture;
    const row = expectedOf(ROWS[kind], suffix);
    const scenario = await fixture.begin({ currency });
    const token = await scenario.request(kind, 40, suffix);
    expect(await scenario.next()).toEqual(row.immediateEvents);
    expect(await scenario.decision()).toBe(`${kind.toUpperCase()} ${row.decision}`);
    if (row.laterEvents) {
      await app.advance(30 * SECOND - 1);
      expect(await scenario.next()).toEqual([]);
      expect((await scenario.payment()).pullSummary.pendingCount).toBe(1);
      await app.advance(1);
      expect(await scenario.next()).toEqual(row.laterEvents);
    }
    if (row.end === undefined) {
      expect(await scenario.payments()).toEqual([]);
    } else {
      const { issuerTransactionToken, merchant } = await scenario.payment();
      expect([issuerTransactionToken, merchant.descriptor]).toEqual([token, `SHOP ${suffix}`]);
      expect(await scenario.end()).toBe(row.end);
    }
    expect(await scenario.storedFunds()).toBe(row.storedBalance ?? 0);
    await fixture.app.advance(7 * 60_000);
    expect(await scenario.next()).toEqual([]);
  });
});

/** Cards that receive a request, and the reason if it is declined. */
interface Situation {
  options(): ScenarioOptions;
  patch?: Record<string, unknown>;
  declines: Partial<Record<RequestKind, string | undefined>>;
}

const declineAll = (reason: string): Partial<Record<RequestKind, string>> =>
  Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, reason]));
const declineDebits = (reason: string): Partial<Record<RequestKind, string>> => ({
  authorization: reason,
  financial_authorization: reason,
});

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'is not issued yet': {
    options: () => ({ card: { platformCardId: newCardName('001') } }),
    declines: declineAll('CARD_NOT_ACTIVE'),
  },
  'was never issued': {
    options: () => ({ card: { platformCardId: newCardName('002') } }),
    declines: declineAll('CARD_NOT_ACTIVE'),
  },
  'is frozen': {
    options: () => ({}),
    patch: { state: 'FROZEN' },
    // An authorization adjustment cannot be declined.
    declines: { ...declineAll('CARD_PAUSED'), credit_authorization_advice: undefined },
  },
  'is closed': {
    options: () => ({}),
    patch: { state: 'CLOSED' },
    declines: declineAll('CARD_NOT_ACTIVE'),
  },
  'has a limit one cent below the amount': {
    options: () => ({ card: { maxSpendPerTransaction: 39_99 } }),
    declines: declineDebits('SPEND_LIMIT_EXCEEDED'),
  },
  'has a limit equal to the amount': {
    options: () => ({ card: { maxSpendPerTransaction: 40_00 } }),
    declines: {},
  },
  'has a balance one dollar below the amount': {
    options: () => ({ funds: 39 }),
    declines: declineDebits('INSUFFICIENT_FUNDS'),
  },
  'has a balance equal to the amount': { options: () => ({ funds: 40 }), declines: {} },
};

describe('a card funded by a wallet', () => {
  // A balance inquiry also requires a funding source that can pay.
  const DECLINES_WITHOUT_KEY: Partial<Record<RequestKind, string>> = {
    ...declineDebits('NO_FUNDING_SOURCE'),
    balance_inquiry: 'NO_FUNDING_SOURCE',
  };
  const cases = REQUEST_KINDS.flatMap((kind) =>
    [true, false].map((hasKey) => [kind, hasKey] as const),
  );
  it.each(cases)('accepts or declines %s, with a delegated key: %s', async (kind, hasKey) => {
    const wallets = delegatedFixture(fixture.app);
    const walletCard = await wallets.createWalletCard({ funds: 1_000_000_000 });
    if (hasKey) await wallets.createKey(walletCard);
    await fixture.app.settle();
    const { card, accountId, customer } = walletCard;
    const scenario = await fixture.scenarioOf(card, { accountId, customer, currency: 'USDB' });
    await scenario.request(kind, 40);
    const emittedLines = await scenario.next();
    const reason = hasKey ? undefined : DECLINES_WITHOUT_KEY[kind];
    expect(await scenario.decision()).toBe(`${kind.toUpperCase()} ${reason ?? 'approved'}`);
    const row = expectedOf(ROWS[kind], OTHER_SUFFIX);
    expect(emittedLines).toEqual(reason ? [] : row.immediateEvents);
    if (reason || row.end === undefined) expect(await scenario.payments()).toEqual([]);
    else expect(await scenario.end()).toBe(row.end);
  });
});

describe('a card that', () => {
  const cases = Object.keys(SITUATIONS).flatMap((name) =>
    REQUEST_KINDS.map((kind) => [name, kind] as const),
  );
  it.each(cases)('%s accepts or declines %s', async (name, kind) => {
    const { options, patch, declines } = expectedOf(SITUATIONS, name);
    const scenario = await fixture.begin(options());
    if (patch) ok(await scenario.patch(patch), 200);
    await scenario.next();
    await scenario.request(kind, 40);
    const emittedLines = await scenario.next();
    expect(await scenario.decision()).toBe(`${kind.toUpperCase()} ${declines[kind] ?? 'approved'}`);
    const hasPayment = declines[kind] === undefined && kind !== 'balance_inquiry';
    expect([emittedLines.length > 0, (await scenario.payments()).length]).toEqual([
      hasPayment,
      hasPayment ? 1 : 0,
    ]);
  });
});
