// Changes of a card and its funding sources by the platform, and the closure of a card by the
// deletion of its cardholder. The issuer is notified of changes and may respond late.
import { describe, expect, it } from 'vitest';
import { findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type Cardholder, cardFixture, newCardName } from '../../../../test/kit/cards/cards.ts';
import type { IssuerPort } from '../../../connectors/ports/cards.ts';
import type { Job } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { cards, delegatedKeys, fundingSources } from '../store.ts';
import { cardJobs } from './issue-jobs.ts';
import { closeCard } from './lifecycle.ts';

const app = testApp();
const fixture = cardFixture(app);

const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const STATE_CHANGE = 'CARD.STATE_CHANGE';
const FUNDING_CHANGE = 'CARD.FUNDING_SOURCE_CHANGE';

/** Events about a card after it was issued, with the state in each. */
const eventsOf = async (id: string) =>
  (await fixture.eventsOf('CARD.', id)).slice(1).map(({ type, data }) => `${type} ${data.state}`);

const rowOf = async (ctx: Ctx, id: string) => {
  const row = await ctx.read(cards, id);
  if (!row) throw new Error(`The card ${id} does not exist.`);
  return row;
};

const readBindings = (cardId: string) =>
  app.runtime.db.find(fundingSources, { card_id: cardId }, { orderBy: 'id' });

/** A cardholder with a balance and a wallet in USDB. Both accounts can fund a card. */
async function createHolderWithTwoAccounts(): Promise<Cardholder & { walletId: string }> {
  const holder = await fixture.createCardholder({ currency: 'USDB' });
  const path = `/customers/internal-accounts?customerId=${holder.customer.id}&type=EMBEDDED_WALLET`;
  const walletId = ok(await fixture.call('GET', path), 200).data[0].id as string;
  return { ...holder, walletId };
}

/** Stores a key of the funding source that links a card to an account, in this status. */
const createKey = (cardId: string, accountId: string, status: 'PENDING' | 'ACTIVE') =>
  app.operate(async (ctx) => {
    const sources = await ctx.db.find(fundingSources, { card_id: cardId, account_id: accountId });
    const source = sources.find((each) => each.ended_at === null);
    if (!source) throw new Error('The account is not a funding source of the card.');
    const { id: funding_source_id, platform_id, customer_id } = source;
    const columns = { platform_id, customer_id, card_id: cardId, account_id: accountId };
    const keyFields = { public_key: '02', signer: 'sealed', nickname: 'sealed' };
    const timestamps = { created_at: ctx.now, updated_at: ctx.now };
    const id = ctx.id('DelegatedKey');
    return ctx.insert(delegatedKeys, {
      id,
      funding_source_id,
      status,
      ...columns,
      ...keyFields,
      ...timestamps,
    }).id;
  });

const keyStateOf = async (id: string) => {
  const row = await app.runtime.db.read(delegatedKeys, id);
  return [row?.status, row?.signer];
};

describe('updateCardById', () => {
  it('freezes, unfreezes and closes, with one event each', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder());
    for (const state of ['FROZEN', 'ACTIVE', 'FROZEN', 'CLOSED']) {
      const patchedCard = ok(await fixture.patchCard(id, { state }), 200);
      expect(patchedCard).toEqual(await fixture.readCard(id));
      const stateReason = state === 'CLOSED' ? 'CLOSED_BY_PLATFORM' : null;
      expect([patchedCard.state, patchedCard.stateReason]).toEqual([state, stateReason]);
    }
    await app.settle();
    expect(await eventsOf(id)).toEqual(
      ['FROZEN', 'ACTIVE', 'FROZEN', 'CLOSED'].map((state) => `${STATE_CHANGE} ${state}`),
    );
  });

  it('rejects an impossible transition without a change', async () => {
    const processingCard = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('001'),
    });
    const earlyResponse = await fixture.patchCard(processingCard.id, { state: 'CLOSED' });
    expect(codeOf(earlyResponse)).toEqual([409, 'INVALID_STATE_TRANSITION']);
    // A retry can succeed once the issuer has responded.
    expect(earlyResponse.headers['x-should-retry']).toBe('true');
    const { id } = await fixture.createCard(await fixture.createCardholder());
    const rejectedResponse = await fixture.patchCard(id, {
      state: 'ACTIVE',
      maxSpendPerTransaction: 5,
    });
    expect(codeOf(rejectedResponse)).toEqual([409, 'INVALID_STATE_TRANSITION']);
    expect((await fixture.readCard(id)).maxSpendPerTransaction).toBeNull();
    const closedCard = ok(await fixture.patchCard(id, { state: 'CLOSED' }), 200);
    const responses = [
      await fixture.patchCard(id, { state: 'CLOSED' }),
      await fixture.patchCard(id, { state: 'ACTIVE' }),
      await fixture.patchCard(id, { state: 'FROZEN', maxSpendPerTransaction: 5 }),
      await fixture.patchCard(id, { maxSpendPerTransaction: 5 }),
      await fixture.patchCard(id, { fundingSources: closedCard.fundingSources }),
    ];
    expect(responses.map((response) => response.body.code)).toEqual([
      'CARD_ALREADY_CLOSED',
      'INVALID_STATE_TRANSITION',
      'INVALID_STATE_TRANSITION',
      'CARD_NOT_MUTABLE',
      'CARD_NOT_MUTABLE',
    ]);
    expect(await fixture.readCard(id)).toEqual(closedCard);
    expect(await eventsOf(id)).toEqual([`${STATE_CHANGE} CLOSED`]);
  });

  it('rejects an empty request, an invalid value, and CLOSED with other fields', async () => {
    const { id, fundingSources: sources } = await fixture.createCard(
      await fixture.createCardholder(),
    );
    for (const body of [
      {},
      { state: 'PROCESSING' },
      { state: null },
      { state: 'CLOSED', fundingSources: sources },
      { state: 'CLOSED', maxSpendPerTransaction: null },
      { maxSpendPerTransaction: 0 },
      { maxSpendPerTransaction: 1.5 },
      { fundingSources: [] },
    ]) {
      expect(codeOf(await fixture.patchCard(id, body)), JSON.stringify(body)).toEqual([
        400,
        'INVALID_INPUT',
      ]);
    }
    expect((await fixture.readCard(id)).state).toBe('ACTIVE');
  });

  it('sets and clears the limit per payment, without an event', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('001'),
    });
    const limitedCard = ok(await fixture.patchCard(id, { maxSpendPerTransaction: 25_00 }), 200);
    expect(limitedCard.maxSpendPerTransaction).toBe(25_00);
    const clearedCard = ok(await fixture.patchCard(id, { maxSpendPerTransaction: null }), 200);
    expect(clearedCard.maxSpendPerTransaction).toBeNull();
    expect(await fixture.eventsOf('CARD.', id)).toEqual([]);
  });

  it('applies concurrent requests one after the other', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder());
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        fixture.patchCard(id, { state: index % 2 ? 'CLOSED' : 'FROZEN' }),
      ),
    );
    const acceptedResponses = responses.filter(({ status }) => status === 200);
    const states = acceptedResponses.map(({ body }) => body.state);
    expect(states).toContain('CLOSED');
    expect(states.length).toBeLessThanOrEqual(2);
    expect((await fixture.readCard(id)).state).toBe('CLOSED');
    expect(await eventsOf(id)).toHaveLength(states.length);
  });

  it('returns NOT_FOUND for a card of another platform', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder());
    const otherPlatformFixture = cardFixture(app, { platform: app.other });
    expect(codeOf(await otherPlatformFixture.patchCard(id, { state: 'CLOSED' }))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(codeOf(await otherPlatformFixture.call('GET', `/cards/${id}`))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect((await fixture.readCard(id)).state).toBe('ACTIVE');
  });
});

describe('funding sources', () => {
  it('are replaced as a list, and the keys of removed sources are revoked', async () => {
    const holder = await createHolderWithTwoAccounts();
    const { accountId: balance, walletId: wallet } = holder;
    const { id } = await fixture.createCard(holder, { fundingSources: [balance, wallet] });
    const [firstBinding, secondBinding] = await readBindings(id);
    const keys = [await createKey(id, wallet, 'ACTIVE'), await createKey(id, wallet, 'PENDING')];

    const reorderedCard = ok(
      await fixture.patchCard(id, { fundingSources: [wallet, balance] }),
      200,
    );
    expect(reorderedCard.fundingSources).toEqual([wallet, balance]);
    expect(await readBindings(id)).toEqual([firstBinding, secondBinding]);
    expect(await keyStateOf(keys[0] as string)).toEqual(['ACTIVE', 'sealed']);

    ok(await fixture.patchCard(id, { fundingSources: [balance] }), 200);
    const endedBindings = (await readBindings(id)).filter((each) => each.ended_at !== null);
    expect(endedBindings.map((each) => each.account_id)).toEqual([wallet]);
    for (const key of keys) expect(await keyStateOf(key)).toEqual(['REVOKED', null]);

    ok(await fixture.patchCard(id, { fundingSources: [balance, wallet] }), 200);
    const currentBindings = (await readBindings(id)).filter((each) => each.ended_at === null);
    expect(currentBindings).toHaveLength(2);
    expect(currentBindings.map((each) => each.id)).not.toContain(endedBindings[0]?.id);
    for (const key of keys) expect(await keyStateOf(key)).toEqual(['REVOKED', null]);
    expect(await eventsOf(id)).toEqual(Array(3).fill(`${FUNDING_CHANGE} ACTIVE`));
  });

  it('can change together with the state, and while the card is PROCESSING', async () => {
    const holder = await createHolderWithTwoAccounts();
    const { id } = await fixture.createCard(holder);
    const fundingSources = [holder.walletId];
    const change = { state: 'FROZEN', fundingSources, maxSpendPerTransaction: 7 };
    const patchedCard = ok(await fixture.patchCard(id, change), 200);
    expect(patchedCard).toMatchObject(change);
    expect(await eventsOf(id)).toEqual([`${STATE_CHANGE} FROZEN`, `${FUNDING_CHANGE} FROZEN`]);
    const emittedEvents = await fixture.eventsOf('CARD.', id);
    expect(emittedEvents.slice(1).map(({ data }) => data)).toEqual([patchedCard, patchedCard]);
    const processingCard = await fixture.createCard(holder, { platformCardId: newCardName('001') });
    expect(ok(await fixture.patchCard(processingCard.id, { fundingSources }), 200)).toMatchObject({
      state: 'PROCESSING',
      fundingSources,
    });
  });

  it('are validated as for a new card', async () => {
    const holder = await createHolderWithTwoAccounts();
    const euroAccount = await findInternalAccount(app, holder.customer.id, 'EUR');
    const { id } = await fixture.createCard(holder);
    for (const fundingSources of [
      [euroAccount.id],
      [(await fixture.createCardholder()).accountId],
      ['x'],
    ]) {
      expect(codeOf(await fixture.patchCard(id, { fundingSources, state: 'FROZEN' }))).toEqual([
        400,
        'FUNDING_SOURCE_INELIGIBLE',
      ]);
    }
    expect((await fixture.readCard(id)).fundingSources).toEqual([holder.accountId]);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('are removed when the card is closed and remain in its record', async () => {
    const holder = await createHolderWithTwoAccounts();
    const { id } = await fixture.createCard(holder, { fundingSources: [holder.walletId] });
    const key = await createKey(id, holder.walletId, 'PENDING');
    const patchedCard = ok(await fixture.patchCard(id, { state: 'CLOSED' }), 200);
    expect(patchedCard.fundingSources).toEqual([holder.walletId]);
    expect((await readBindings(id)).map((each) => each.ended_at)).toEqual([app.effects.now()]);
    expect(await keyStateOf(key)).toEqual(['REVOKED', null]);
  });
});

describe('deletion of a customer', () => {
  it('closes all cards of the customer and no others', async () => {
    const [holder, otherHolder] = [
      await fixture.createCardholder(),
      await fixture.createCardholder(),
    ];
    const otherCard = await fixture.createCard(otherHolder);
    const [firstCard, secondCard] = [
      await fixture.createCard(holder),
      await fixture.createCard(holder),
    ];
    const processingCard = await fixture.createCard(holder, { platformCardId: newCardName('001') });
    ok(await fixture.patchCard(secondCard.id, { state: 'CLOSED' }), 200);
    ok(await app.call('DELETE', `/customers/${holder.customer.id}`), 200);
    await app.settle();
    const finalStates = [];
    for (const { id } of [firstCard, secondCard, processingCard]) {
      const { state, stateReason } = await fixture.readCard(id);
      finalStates.push([state, stateReason]);
    }
    expect(finalStates).toEqual([
      ['CLOSED', 'CLOSED_BY_SERVICE'],
      ['CLOSED', 'CLOSED_BY_PLATFORM'],
      ['CLOSED', 'CLOSED_BY_SERVICE'],
    ]);
    expect(await eventsOf(firstCard.id)).toEqual([`${STATE_CHANGE} CLOSED`]);
    expect((await fixture.readCard(otherCard.id)).state).toBe('ACTIVE');
  });
});

describe('the issuer', () => {
  /** Runs a job of a card with this issuer. `concurrentWork` runs before the response is staged. */
  async function runJob(
    kind: string,
    cardId: string,
    issuer: Partial<IssuerPort>,
    concurrentWork: () => Promise<unknown> = async () => {},
  ) {
    const jobs = cardJobs({ connectors: () => ({ issuer: issuer as IssuerPort }) as never });
    const job = { id: 'Job:x', kind, input: { cardId, named: true } } as unknown as Job;
    const { stage } = (await jobs.find((each) => each.kind === kind)?.run(app.runtime, job)) ?? {};
    await concurrentWork();
    return app.operate(async (ctx) => {
      await stage?.(ctx);
      return ctx.set.inserts.map(({ row }) => row.kind).filter(Boolean);
    });
  }

  it('receives the state of a card, and again if it changed during the call', async () => {
    const { id, issuerRef } = await fixture.createCard(await fixture.createCardholder());
    const receivedStates: unknown[] = [];
    const change: IssuerPort['change'] = async (card) => void receivedStates.push(card);
    ok(await fixture.patchCard(id, { state: 'FROZEN' }), 200);
    const unfreeze = () => fixture.patchCard(id, { state: 'ACTIVE' });
    expect(await runJob('cards.change', id, { change }, unfreeze)).toEqual(['cards.change']);
    expect(await runJob('cards.change', id, { change })).toEqual([]);
    expect(receivedStates).toEqual([
      { cardId: id, issuerRef, state: 'FROZEN', currency: 'USD', maxSpend: null },
      { cardId: id, issuerRef, state: 'ACTIVE', currency: 'USD', maxSpend: null },
    ]);
  });

  it('receives the closure of a card that it issued after the closure', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('001'),
    });
    await app.operate(async (ctx) => closeCard(ctx, await rowOf(ctx, id), 'CLOSED_BY_SERVICE'));
    const card = {
      brand: 'VISA' as const,
      last4: '4242',
      expMonth: 1,
      expYear: 2030,
      issuerRef: 'late',
      processorRef: 'late',
      secret: 'secret',
    };
    const issue: IssuerPort['issue'] = async () => ({ state: 'issued', card });
    expect(await runJob('cards.issue', id, { issue })).toEqual(['cards.change']);
    const row = await app.runtime.db.read(cards, id);
    expect([row?.state, row?.issuer_ref, row?.secret, row?.last4]).toEqual([
      'CLOSED',
      'late',
      null,
      null,
    ]);
    expect(await fixture.eventsOf('CARD.', id)).toHaveLength(1);
  });

  it('has no effect if it responds a second time', async () => {
    const { id } = await fixture.createCard(await fixture.createCardholder());
    const reject: IssuerPort['issue'] = async () => ({ state: 'rejected' });
    expect(await runJob('cards.issue', id, { issue: reject })).toEqual([]);
    expect((await fixture.readCard(id)).state).toBe('ACTIVE');
    expect(await eventsOf(id)).toEqual([]);
  });
});
