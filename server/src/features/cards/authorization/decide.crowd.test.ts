// Concurrent card requests in one and in two processes. The balance covers all approved amounts. No
// request is approved after the commit of a freeze. A repeated message has one effect.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, readBalances } from '../../../../test/kit/app/fixtures.ts';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { type CardFixture, cardFixture } from '../../../../test/kit/cards/cards.ts';
import type { CardDecision } from '../../../connectors/ports/cards.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { cards } from '../store.ts';

type Network = ReturnType<typeof cardNetwork>;

const app = testApp();
let fixture: CardFixture;
let secondRuntime: ReturnType<typeof openSecondProcess>;
let networks: Network[];
beforeAll(async () => {
  fixture = cardFixture(app);
  secondRuntime = openSecondProcess(app);
  networks = [cardNetwork(app), cardNetwork(app, secondRuntime)];
});
afterAll(async () => {
  await app.settle();
  await secondRuntime.close();
});

async function createFundedCard(funds: number) {
  const holder = await fixture.createCardholder({ funds });
  const { id } = await fixture.createCard(holder);
  return { ...holder, cardId: id as string };
}

const networkOf = (processCount: number, index: number) =>
  networks[index % processCount] as Network;
const isApproved = ({ approved }: CardDecision) => approved;

describe.each([
  ['one process', 1],
  ['two processes', 2],
])('network handler in %s', (_, processCount) => {
  it('approves only as many of 64 concurrent payments as the balance covers', async () => {
    const { accountId, cardId, customer } = await createFundedCard(20_50);
    const pendingRequests = Array.from({ length: 64 }, (_, index) =>
      networkOf(processCount, index).request(cardId, 1_00),
    );
    const cardDecisions = await Promise.all(pendingRequests);
    expect(cardDecisions.filter(isApproved)).toHaveLength(20);
    const reasons = new Set(
      cardDecisions.filter((each) => !isApproved(each)).map((each) => JSON.stringify(each)),
    );
    expect([...reasons]).toEqual(['{"approved":false,"reason":"INSUFFICIENT_FUNDS"}']);
    expect(await readBalances(app, accountId)).toEqual({ balance: 50, total: 20_50 });
    expect(await networkOf(1, 0).paymentsOf(customer.id)).toHaveLength(20);
    const log = await networkOf(1, 0).logOf(cardId);
    expect(log).toHaveLength(64);
    expect(log.filter((each) => each.approved)).toHaveLength(20);
  });

  it('limits the payments of all cards of one account to its balance', async () => {
    const { accountId, cardId, ...holder } = await createFundedCard(30_00);
    const { id: otherId } = await fixture.createCard({ accountId, ...holder });
    const kinds = ['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION'] as const;
    const cardDecisions = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        networkOf(processCount, index).request(
          index % 4 < 2 ? cardId : otherId,
          1_00 + (index % 3),
          kinds[index % 2],
        ),
      ),
    );
    const approvedAmount = cardDecisions.reduce(
      (sum, each, index) => sum + (each.approved ? 1_00 + (index % 3) : 0),
      0,
    );
    const { balance } = await readBalances(app, accountId);
    expect(balance).toBe(30_00 - approvedAmount);
    expect(balance).toBeLessThan(1_02);
  });

  it('approves no request after the commit that freezes the card', async () => {
    const { cardId, customer } = await createFundedCard(100_00);
    let approvedCountAtFreeze = -1;
    const requests = Array.from({ length: 32 }, (_, index) =>
      networkOf(processCount, index).request(cardId, 1_00),
    );
    const freeze = async () => {
      ok(await fixture.patchCard(cardId, { state: 'FROZEN' }), 200);
      // All approvals are recorded at this point. No further request is approved.
      approvedCountAtFreeze = (await networkOf(1, 0).paymentsOf(customer.id)).length;
    };
    const [cardDecisions] = await Promise.all([Promise.all(requests), freeze()]);
    expect(await networkOf(1, 0).paymentsOf(customer.id)).toHaveLength(approvedCountAtFreeze);
    expect(cardDecisions.filter(isApproved)).toHaveLength(approvedCountAtFreeze);
    for (const each of cardDecisions) {
      if (!each.approved) expect(each.reason).toBe('CARD_PAUSED');
    }
    expect((await networkOf(processCount, 0).request(cardId, 1_00)).approved).toBe(false);
  });

  it('applies ten concurrent copies of a message once, with one reply', async () => {
    const { accountId, cardId, customer } = await createFundedCard(100_00);
    const request = networkOf(1, 0).message(cardId, 10_00);
    const pendingRequests = Array.from({ length: 10 }, (_, index) =>
      networkOf(processCount, index).send(request),
    );
    const cardDecisions = await Promise.all(pendingRequests);
    expect(new Set(cardDecisions.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(cardDecisions[0]).toMatchObject({ approved: true });
    expect(await readBalances(app, accountId)).toEqual({ balance: 90_00, total: 100_00 });
    const payments = await networkOf(1, 0).paymentsOf(customer.id);
    expect(payments.map((each) => each.id)).toEqual([
      cardDecisions[0] && 'transactionId' in cardDecisions[0] && cardDecisions[0].transactionId,
    ]);
    const { token } = request;
    const clearingMessage = { kind: 'CLEARING', amount: 4_00n } as const;
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        networkOf(processCount, index).notify(token, clearingMessage, `n-${cardId}`),
      ),
    );
    const [payment] = await networkOf(1, 0).paymentsOf(customer.id);
    expect(payment.settlementSummary).toEqual({ count: 1, totalAmount: 4_00 });
    expect(await networkOf(1, 0).logOf(cardId)).toHaveLength(2);
  });

  it('returns the same decline to a repeated request, even if it could be approved now', async () => {
    const { cardId, accountId } = await createFundedCard(0);
    const request = networkOf(1, 0).message(cardId, 10_00);
    const firstDecision = await networkOf(processCount, 0).send(request);
    expect(firstDecision).toEqual({ approved: false, reason: 'INSUFFICIENT_FUNDS' });
    ok(
      await app.call('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: 99_00 }),
      200,
    );
    expect(await networkOf(processCount, 1).send(request)).toEqual(firstDecision);
    expect((await readBalances(app, accountId)).balance).toBe(99_00);
  });
});

describe('a card whose limit is lowered during requests', () => {
  it('approves no payment above the lower limit after the commit of the change', async () => {
    const { cardId, customer } = await createFundedCard(100_00);
    let approvedCountAtLowering = -1;
    const lowerMaxSpend = async () => {
      await operate(secondRuntime, systemCaller(app.platform.id, 'sandbox'), async (ctx) => {
        const card = await ctx.read(cards, cardId);
        if (card) ctx.update(cards, card, { max_spend: 5n, updated_at: ctx.now });
      });
      // All approvals are recorded at this point. No further request is approved.
      approvedCountAtLowering = (await networkOf(1, 0).paymentsOf(customer.id)).length;
    };
    const requests = Array.from({ length: 32 }, (_, index) =>
      networkOf(2, index).request(cardId, 1_00),
    );
    const [cardDecisions] = await Promise.all([Promise.all(requests), lowerMaxSpend()]);
    expect(await networkOf(1, 0).paymentsOf(customer.id)).toHaveLength(approvedCountAtLowering);
    expect(cardDecisions.filter(isApproved)).toHaveLength(approvedCountAtLowering);
    expect(await networkOf(1, 0).request(cardId, 6)).toEqual({
      approved: false,
      reason: 'SPEND_LIMIT_EXCEEDED',
    });
  });
});
