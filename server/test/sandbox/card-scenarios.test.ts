// Payments with sandbox cards from the first to the last message, with every outcome that the
// sandbox scripts. The test compares the events of each message. Each payment is funded by dollars
// and by a stablecoin.
import { beforeEach, describe, expect, it } from 'vitest';
import { openForFile } from '../kit/app/test-app.ts';
import {
  expectLines,
  notice,
  openCardScenarios,
  type RequestKind,
  requests,
  type ScenarioOptions,
  type Step,
} from '../kit/cards/card-scenario.ts';
import { expectedOf } from '../kit/payments/sandbox-outcomes.ts';

const fixture = openForFile(openCardScenarios);
beforeEach(() => fixture.app.advance(7 * 60_000));

/** Advances the clock by this time, and expects no event before its end. */
const waitFor =
  (ms: number): Step =>
  async (scenario) => {
    await fixture.app.advance(ms - 1);
    expect(await scenario.next()).toEqual([]);
    await fixture.app.advance(1);
  };

interface Scenario extends ScenarioOptions {
  steps: readonly (readonly [Step, readonly string[]])[];
  end: string;
  /** Balance of the system account for cards, in dollars. Default: 0. */
  storedBalance?: number;
}

const HALF_A_MINUTE_MS = 30_000;

const payStep = (suffix?: string) =>
  [
    requests('authorization', 40, suffix),
    ['account 960/1000', 'AUTHORIZED 40, debited 40 in 1 (1 pending)', 'account 960/960'],
  ] as const;
const DEBITED_TEXT = 'debited 40 in 1';
const FULLY_SETTLED_EVENT = `SETTLED 40, cleared 40 in 1, ${DEBITED_TEXT}`;
const fullClearing = [notice('clearing', 40), [FULLY_SETTLED_EVENT]] as const;
/** The balance equals the payment. */
const exactPayment = [
  requests('authorization', 40),
  ['account 0/40', 'AUTHORIZED 40, debited 40 in 1 (1 pending)', 'account 0/0'],
] as const;
/** Forty and ten are debited at the same time by separate jobs, in either order. */
const ONE_OF_TWO_EVENT = expect.stringMatching(/^account 950\/9[69]0$/);
const creditStep = (kind: RequestKind) => [requests(kind, 40), ['AUTHORIZED +40']] as const;
const CREDITED_EVENTS = ['account 1040/1040', 'SETTLED +40, cleared 40 in 1'];
const closeStep = [expectLines('CLOSED'), ['card CLOSED CLOSED_BY_PLATFORM']] as const;
const freezeStep = [expectLines('FROZEN'), ['card FROZEN']] as const;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'is cleared for the authorized amount': {
    steps: [payStep(), fullClearing],
    end: `${FULLY_SETTLED_EVENT}; account 960/960`,
  },
  'is cleared in several clearings': {
    steps: [
      payStep(),
      [notice('clearing', 10), [`PARTIALLY_SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}`]],
      [notice('clearing', 20), [`PARTIALLY_SETTLED 40, cleared 30 in 2, ${DEBITED_TEXT}`]],
      [notice('clearing', 10), [`SETTLED 40, cleared 40 in 3, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 40, cleared 40 in 3, ${DEBITED_TEXT}; account 960/960`,
  },
  'is never cleared': {
    steps: [
      payStep(),
      [notice('clearing', 0), ['account 1000/1000', `SETTLED 40, cleared 0, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 40, cleared 0, ${DEBITED_TEXT}; account 1000/1000`,
  },
  'is never cleared, and its debit is pending': {
    steps: [
      [payStep('005')[0], payStep()[1].slice(0, 2)],
      [notice('clearing', 0), [`SETTLED 40, cleared 0, ${DEBITED_TEXT} (1 pending)`]],
      [waitFor(HALF_A_MINUTE_MS), ['account 1000/1000']],
    ],
    end: `SETTLED 40, cleared 0, ${DEBITED_TEXT}; account 1000/1000`,
  },
  'is only partly cleared': {
    steps: [
      payStep(),
      [notice('clearing', 10), [`PARTIALLY_SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}`]],
      [notice('clearing', 0), ['account 990/990', `SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}; account 990/990`,
  },
  'is cleared for more, and the difference is debited': {
    steps: [
      payStep(),
      [
        notice('clearing', 50),
        [
          'account 950/960',
          'SETTLED 40, cleared 50 in 1, debited 50 in 2 (1 pending)',
          'account 950/950',
        ],
      ],
    ],
    end: 'SETTLED 40, cleared 50 in 1, debited 50 in 2; account 950/950',
  },
  'is cleared for more than a spending limit': {
    card: { maxSpendPerTransaction: 40_00 },
    steps: [
      payStep(),
      [
        notice('clearing', 50),
        [
          'account 950/960',
          'SETTLED 40, cleared 50 in 1, debited 50 in 2 (1 pending)',
          'account 950/950',
        ],
      ],
    ],
    end: 'SETTLED 40, cleared 50 in 1, debited 50 in 2; account 950/950',
  },
  'is cleared for more, with a second slow debit': {
    steps: [
      [payStep('005')[0], payStep()[1].slice(0, 2)],
      [waitFor(HALF_A_MINUTE_MS), ['account 960/960']],
      [
        notice('clearing', 50),
        ['account 950/960', 'SETTLED 40, cleared 50 in 1, debited 50 in 2 (1 pending)'],
      ],
      [waitFor(HALF_A_MINUTE_MS), ['account 950/950']],
    ],
    end: 'SETTLED 40, cleared 50 in 1, debited 50 in 2; account 950/950',
  },
  'is cleared for more while the first debit is pending': {
    steps: [
      [payStep('005')[0], payStep()[1].slice(0, 2)],
      [
        notice('clearing', 50),
        ['account 950/1000', 'SETTLED 40, cleared 50 in 1, debited 50 in 2 (2 pending)'],
      ],
      [waitFor(HALF_A_MINUTE_MS), [ONE_OF_TWO_EVENT, 'account 950/950']],
    ],
    end: 'SETTLED 40, cleared 50 in 1, debited 50 in 2; account 950/950',
  },
  'is cleared for more than the balance': {
    funds: 40,
    steps: [
      exactPayment,
      [notice('clearing', 50), [`EXCEPTION 40, cleared 50 in 1, ${DEBITED_TEXT}`]],
    ],
    end: `EXCEPTION 40, cleared 50 in 1, ${DEBITED_TEXT}; account 0/0`,
    storedBalance: -10,
  },
  "is cleared for more after the card was closed, at the operator's cost": {
    steps: [
      payStep(),
      closeStep,
      [notice('clearing', 50), [`SETTLED 40, cleared 50 in 1, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 40, cleared 50 in 1, ${DEBITED_TEXT}; account 960/960`,
  },
  'is cleared and refunded while the card is frozen': {
    steps: [
      payStep(),
      freezeStep,
      fullClearing,
      [
        notice('return', 40),
        ['account 1000/1000', `REFUNDED${FULLY_SETTLED_EVENT.slice(7)}, refunded 40 in 1`],
      ],
    ],
    end: `REFUNDED${FULLY_SETTLED_EVENT.slice(7)}, refunded 40 in 1; account 1000/1000`,
  },
  'is never cleared after the card was closed': {
    steps: [
      payStep(),
      closeStep,
      [notice('clearing', 0), ['account 1000/1000', `SETTLED 40, cleared 0, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 40, cleared 0, ${DEBITED_TEXT}; account 1000/1000`,
  },
  'is increased by an adjustment': {
    steps: [
      payStep(),
      [
        notice('authorization_advice', 60),
        ['account 940/960', 'AUTHORIZED 60, debited 60 in 2 (1 pending)', 'account 940/940'],
      ],
      [notice('clearing', 60), ['SETTLED 60, cleared 60 in 1, debited 60 in 2']],
    ],
    end: 'SETTLED 60, cleared 60 in 1, debited 60 in 2; account 940/940',
  },
  'is increased by an adjustment beyond the balance': {
    funds: 40,
    steps: [
      exactPayment,
      [notice('authorization_advice', 60), [`AUTHORIZED 60, ${DEBITED_TEXT}`]],
      [notice('clearing', 40), [`PARTIALLY_SETTLED 60, cleared 40 in 1, ${DEBITED_TEXT}`]],
      [notice('clearing', 20), [`EXCEPTION 60, cleared 60 in 2, ${DEBITED_TEXT}`]],
    ],
    end: `EXCEPTION 60, cleared 60 in 2, ${DEBITED_TEXT}; account 0/0`,
    storedBalance: -20,
  },
  'is decreased by an adjustment': {
    steps: [
      payStep(),
      [notice('authorization_advice', 25), ['account 975/975', `AUTHORIZED 25, ${DEBITED_TEXT}`]],
      [notice('clearing', 25), [`SETTLED 25, cleared 25 in 1, ${DEBITED_TEXT}`]],
    ],
    end: `SETTLED 25, cleared 25 in 1, ${DEBITED_TEXT}; account 975/975`,
  },
  'is decreased by an adjustment to the cleared amount': {
    steps: [
      payStep(),
      [notice('clearing', 30), [`PARTIALLY_SETTLED 40, cleared 30 in 1, ${DEBITED_TEXT}`]],
      [
        notice('authorization_advice', 30),
        ['account 970/970', `SETTLED 30, cleared 30 in 1, ${DEBITED_TEXT}`],
      ],
    ],
    end: `SETTLED 30, cleared 30 in 1, ${DEBITED_TEXT}; account 970/970`,
  },
  'is refunded in full, and the refund is reversed': {
    steps: [
      payStep(),
      fullClearing,
      [
        notice('return', 40),
        ['account 1000/1000', `REFUNDED${FULLY_SETTLED_EVENT.slice(7)}, refunded 40 in 1`],
      ],
      [notice('return_reversal'), ['account 960/960', FULLY_SETTLED_EVENT]],
    ],
    end: `${FULLY_SETTLED_EVENT}; account 960/960`,
  },
  'is refunded in parts, and the last refund is reversed': {
    steps: [
      payStep(),
      fullClearing,
      [notice('return', 10), ['account 970/970', `${FULLY_SETTLED_EVENT}, refunded 10 in 1`]],
      [
        notice('return', 30),
        ['account 1000/1000', `REFUNDED${FULLY_SETTLED_EVENT.slice(7)}, refunded 40 in 2`],
      ],
      [notice('return_reversal'), ['account 970/970', `${FULLY_SETTLED_EVENT}, refunded 10 in 1`]],
    ],
    end: `${FULLY_SETTLED_EVENT}, refunded 10 in 1; account 970/970`,
  },
  'is refunded before it is fully cleared': {
    steps: [
      payStep(),
      [notice('clearing', 10), [`PARTIALLY_SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}`]],
      [
        notice('return', 10),
        [
          'account 970/970',
          `PARTIALLY_SETTLED 40, cleared 10 in 1, ${DEBITED_TEXT}, refunded 10 in 1`,
        ],
      ],
      [
        notice('clearing', 0),
        ['account 1000/1000', `REFUNDED 40, cleared 10 in 1, ${DEBITED_TEXT}, refunded 10 in 1`],
      ],
    ],
    end: `REFUNDED 40, cleared 10 in 1, ${DEBITED_TEXT}, refunded 10 in 1; account 1000/1000`,
  },
  'is a single-message payment that is refunded': {
    steps: [
      [
        requests('financial_authorization', 40),
        ['account 960/1000', `${FULLY_SETTLED_EVENT} (1 pending)`, 'account 960/960'],
      ],
      [notice('return', 15), ['account 975/975', `${FULLY_SETTLED_EVENT}, refunded 15 in 1`]],
    ],
    end: `${FULLY_SETTLED_EVENT}, refunded 15 in 1; account 975/975`,
  },
  'is a credit that is cleared': {
    steps: [creditStep('credit_authorization'), [notice('clearing', 40), CREDITED_EVENTS]],
    end: `${CREDITED_EVENTS[1]}; account 1040/1040`,
  },
  'is a credit that is only partly cleared': {
    steps: [
      creditStep('credit_authorization'),
      [notice('clearing', 15), ['account 1015/1015', 'PARTIALLY_SETTLED +40, cleared 15 in 1']],
      [notice('clearing', 0), ['SETTLED +40, cleared 15 in 1']],
    ],
    end: 'SETTLED +40, cleared 15 in 1; account 1015/1015',
  },
  'is a credit that is never cleared': {
    steps: [
      creditStep('credit_authorization'),
      [notice('clearing', 0), ['SETTLED +40, cleared 0']],
    ],
    end: 'SETTLED +40, cleared 0; account 1000/1000',
  },
  'is a credit that an adjustment authorizes on a frozen card': {
    steps: [
      freezeStep,
      creditStep('credit_authorization_advice'),
      closeStep,
      [notice('clearing', 40), CREDITED_EVENTS],
    ],
    end: `${CREDITED_EVENTS[1]}; account 1040/1040`,
  },
};

describe('a payment', () => {
  const cases = Object.keys(SCENARIOS).flatMap((name) =>
    ['USD', 'USDB'].map((currency) => [name, currency] as const),
  );
  it.each(cases)('%s, from %s', async (name, currency) => {
    const { steps, end, storedBalance = 0, ...scenarioOptions } = expectedOf(SCENARIOS, name);
    const scenario = await fixture.begin({ ...scenarioOptions, currency });
    for (const [step, events] of steps) {
      await step(scenario);
      expect(await scenario.next()).toEqual(events);
    }
    expect(await scenario.end()).toBe(end);
    expect(await scenario.storedFunds()).toBe(storedBalance);
    await fixture.app.advance(7 * 60_000);
    expect(await scenario.next()).toEqual([]);
  });
});
