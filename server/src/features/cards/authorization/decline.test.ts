// Each decline reason separately, and the order of the reasons.
import { describe, expect, it } from 'vitest';
import { CARD_REQUESTS, type CardRequestKind } from '../../../connectors/ports/cards.ts';
import { type AuthorizationState, declineReason, isCredit } from './decline.ts';

const usd = (amount: bigint) => ({ currency: 'USD', amount });

/** A state in which every request is approved. */
const validState: AuthorizationState = {
  card: { state: 'ACTIVE', currency: 'USD', max_spend: 50_00n, exp_month: 12, exp_year: 2030 },
  now: Date.parse('2030-12-31T23:59:59.999Z'),
  request: { kind: 'AUTHORIZATION', amount: 50_00n, currency: 'USD' },
  issuerDecline: undefined,
  holder: { status: 'APPROVED', deleted_at: null },
  source: {
    account: { status: 'ACTIVE', owed: 0n, currency: 'USD' },
    maySign: true,
    spendable: usd(50_00n),
  },
};

const source = validState.source as NonNullable<AuthorizationState['source']>;

/** Decline reasons in their order. */
const INVALID_STATES: readonly [
  string,
  (authorizationState: AuthorizationState) => AuthorizationState,
][] = [
  ['CARD_NOT_ACTIVE', (s) => ({ ...s, card: { ...s.card, state: 'CLOSED' } })],
  ['CARD_PAUSED', (s) => ({ ...s, card: { ...s.card, state: 'FROZEN' } })],
  ['CARD_EXPIRED', (s) => ({ ...s, now: Date.parse('2031-01-01T00:00:00Z') })],
  ['INSUFFICIENT_FUNDS', (s) => ({ ...s, issuerDecline: 'INSUFFICIENT_FUNDS' })],
  ['CURRENCY_NOT_SUPPORTED', (s) => ({ ...s, request: { ...s.request, currency: 'EUR' } })],
  ['CARDHOLDER_NOT_READY', (s) => ({ ...s, holder: { status: 'PENDING', deleted_at: null } })],
  ['SPEND_LIMIT_EXCEEDED', (s) => ({ ...s, card: { ...s.card, max_spend: 49_99n } })],
  ['NO_FUNDING_SOURCE', (s) => ({ ...s, source: { ...source, maySign: false } })],
  [
    'INSUFFICIENT_FUNDS',
    (s) => ({ ...s, source: s.source && { ...s.source, spendable: usd(49_99n) } }),
  ],
];

const applyInvalidStates = (
  ...changes: ((authorizationState: AuthorizationState) => AuthorizationState)[]
) =>
  changes.reduce((authorizationState, makeInvalid) => makeInvalid(authorizationState), validState);

describe('declineReason', () => {
  it('is undefined for an amount equal to limit and balance', () => {
    expect(declineReason(validState)).toBeUndefined();
  });

  it.each(INVALID_STATES)('is %s if no other reason applies', (reason, makeInvalid) => {
    expect(declineReason(makeInvalid(validState))).toBe(reason);
  });

  it('is the first applicable reason', () => {
    for (const [index, [reason]] of INVALID_STATES.entries()) {
      // A card has one state, so CARD_PAUSED is omitted for the closed card.
      const laterChecks = INVALID_STATES.slice(index).filter(
        ([otherReason]) => index > 0 || otherReason !== 'CARD_PAUSED',
      );
      expect(
        declineReason(applyInvalidStates(...laterChecks.map(([, makeInvalid]) => makeInvalid))),
      ).toBe(reason);
    }
  });

  it('is undefined for the available balance on a card without a limit', () => {
    const card = { ...validState.card, max_spend: null };
    expect(declineReason({ ...validState, card })).toBeUndefined();
  });

  it.each([
    ['PROCESSING', 'CARD_NOT_ACTIVE'],
    ['CLOSED', 'CARD_NOT_ACTIVE'],
    ['FROZEN', 'CARD_PAUSED'],
  ] as const)('for a card that is %s is %s', (state, reason) => {
    expect(declineReason({ ...validState, card: { ...validState.card, state } })).toBe(reason);
  });

  it.each([
    ['that does not exist', undefined],
    ['that is frozen', { ...source, account: { ...source.account, status: 'FROZEN' } }],
    ['that is closed', { ...source, account: { ...source.account, status: 'CLOSED' } }],
    ['that owes funds', { ...source, account: { ...source.account, owed: 1n } }],
    ['whose key may not sign', { ...source, maySign: false }],
  ] as const)('is NO_FUNDING_SOURCE for an account %s', (_, fundingSource) => {
    expect(declineReason({ ...validState, source: fundingSource })).toBe('NO_FUNDING_SOURCE');
  });

  it('is exact to the cent for an account with six decimals', () => {
    const account = { ...source.account, currency: 'USDB' };
    const stateFor = (amount: bigint) => {
      const spendable = { currency: 'USDB', amount };
      return { ...validState, source: { ...source, account, spendable } };
    };
    expect(declineReason(stateFor(50_000_000n))).toBeUndefined();
    expect(declineReason(stateFor(49_999_999n))).toBe('INSUFFICIENT_FUNDS');
  });

  it('is undefined for a merchant credit regardless of limit, balance and key', () => {
    const emptySource = { ...source, maySign: false, spendable: usd(0n) };
    for (const kind of CARD_REQUESTS.filter(isCredit)) {
      const request = { ...validState.request, kind, amount: 1_000_00n };
      expect(declineReason({ ...validState, request, source: emptySource }), kind).toBeUndefined();
      const frozenSource = {
        ...emptySource,
        account: { ...emptySource.account, status: 'FROZEN' as const, owed: 5n },
      };
      expect(declineReason({ ...validState, request, source: frozenSource }), kind).toBeUndefined();
    }
    expect(CARD_REQUESTS.filter(isCredit)).toHaveLength(3);
  });

  const closedSource = { ...source, account: { ...source.account, status: 'CLOSED' as const } };
  const creditState = (kind: CardRequestKind): AuthorizationState => ({
    ...validState,
    request: { ...validState.request, kind },
  });

  it('depends on the account and the holder for a credit', () => {
    const creditRequestState = creditState('CREDIT_AUTHORIZATION');
    expect(declineReason({ ...creditRequestState, source: closedSource })).toBe(
      'NO_FUNDING_SOURCE',
    );
    const holder = { status: 'APPROVED', deleted_at: 1 } as const;
    expect(declineReason({ ...creditRequestState, holder })).toBe('CARDHOLDER_NOT_READY');
  });

  it('ignores account and holder status for a credit approved in stand-in processing', () => {
    const standInState = creditState('CREDIT_AUTHORIZATION_ADVICE');
    const frozenState: AuthorizationState = {
      ...standInState,
      card: { ...standInState.card, state: 'FROZEN' },
    };
    const rejectedHolder = { status: 'REJECTED', deleted_at: null } as const;
    expect(
      declineReason({ ...frozenState, source: closedSource, holder: rejectedHolder }),
    ).toBeUndefined();
    for (const holder of [undefined, { status: 'APPROVED', deleted_at: 1 } as const]) {
      expect(declineReason({ ...frozenState, holder })).toBe('CARDHOLDER_NOT_READY');
    }
    expect(declineReason({ ...frozenState, issuerDecline: 'CARD_PAUSED' })).toBe('CARD_PAUSED');
    expect(
      declineReason({ ...standInState, card: { ...standInState.card, state: 'CLOSED' } }),
    ).toBe('CARD_NOT_ACTIVE');
    expect(
      declineReason({ ...standInState, request: { ...standInState.request, currency: 'EUR' } }),
    ).toBe('CURRENCY_NOT_SUPPORTED');
  });
});
