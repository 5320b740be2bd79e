// Card authorization decisions as shown to the operator, declines included.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';

const app = testApp();
let cardId: string;
let otherPlatformCardId: string;
let paymentId: string;

const run = (...argv: string[]) => commandRunner(app)(argv);

async function runJson(...argv: string[]) {
  const { code, out, err } = await run('cards', 'decisions', ...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Record<string, unknown>[];
}

beforeAll(async () => {
  const network = cardNetwork(app);
  const [fixture, otherFixture] = [cardFixture(app), cardFixture(app, { platform: app.other })];
  cardId = (await fixture.createCard(await fixture.createCardholder({ funds: 50_00 }))).id;
  otherPlatformCardId = (
    await otherFixture.createCard(await otherFixture.createCardholder({ funds: 0 }))
  ).id;
  const request = network.message(cardId, 12_34);
  const decision = await network.send(request);
  paymentId = decision.approved ? (decision.transactionId ?? '') : '';
  const advanceClock = () => app.effects.set(app.effects.now() + 1_000);
  advanceClock();
  await network.notify(request.token, { kind: 'CLEARING', amount: 12_34n });
  advanceClock();
  await network.request(cardId, 100_00);
  advanceClock();
  await network.request(otherPlatformCardId, 1);
});

describe('cards decisions', () => {
  it('filters by platform and card, newest first', async () => {
    const allDecisions = await runJson();
    expect(allDecisions.map((each) => [each.cardId, each.kind, each.amount, each.reason])).toEqual([
      [otherPlatformCardId, 'AUTHORIZATION', 1, 'INSUFFICIENT_FUNDS'],
      [cardId, 'AUTHORIZATION', 100_00, 'INSUFFICIENT_FUNDS'],
      [cardId, 'CLEARING', 12_34, null],
      [cardId, 'AUTHORIZATION', 12_34, null],
    ]);
    expect(allDecisions[3]).toMatchObject({
      at: '2026-01-05T09:00:00.000Z',
      platformId: app.platform.id,
      currency: 'USD',
      readable: '12.34',
      merchant: { descriptor: 'Corner shop' },
      approved: true,
      transactionId: paymentId,
    });
    expect(await runJson('--platform', app.other.id)).toEqual(allDecisions.slice(0, 1));
    expect(await runJson(cardId)).toEqual(allDecisions.slice(1));
    expect(await runJson('--declined')).toEqual(allDecisions.slice(0, 2));
    expect(await runJson('--card', cardId, '--declined')).toEqual(allDecisions.slice(1, 2));
    expect(await runJson('--limit', '1')).toEqual(allDecisions.slice(0, 1));
  });

  it('prints a table', async () => {
    const { out } = await run('cards', 'decisions', cardId);
    const [head, declinedLine, , approvedLine] = out.split('\n');
    expect(head).toMatch(/^AT +CARD +KIND +AMOUNT +CURRENCY +MERCHANT +DECISION +TRANSACTION$/);
    expect(declinedLine).toMatch(/ 100\.00 +USD +Corner shop +INSUFFICIENT_FUNDS +-$/);
    expect(approvedLine).toMatch(new RegExp(` 12\\.34 +USD +Corner shop +approved +${paymentId}$`));
  });
});

describe('other commands', () => {
  it('do not change a card payment', async () => {
    for (const [argv, reason] of [
      [['suspense', 'return', paymentId], 'The transaction has no funds in suspense'],
      [['suspense', 'settle', paymentId, '--reference', 'x'], 'The transaction has no shortfall'],
      [['deposits', 'release', paymentId], 'The transaction is not a deposit'],
      [['deposits', 'reject', paymentId], 'The transaction is not a deposit'],
      [['deposits', 'return', paymentId], 'The transaction is not a deposit'],
      [
        ['payouts', 'return', paymentId, '--reason', 'PAYOUT_RETURNED'],
        'This transfer did not use a rail',
      ],
      [['payouts', 'settle', paymentId], 'the sandbox'],
    ] as const) {
      const { code, err } = await run(...argv);
      expect([code, err.split('\n')[0]]).toEqual([1, expect.stringContaining(reason)]);
    }
    const transaction = ok(await app.call('GET', `/transactions/${paymentId}`), 200);
    expect(transaction.status).toBe('SETTLED');
  });

  it('include the payment in the export of transactions', async () => {
    await app.settle(); // The account is debited for the payment.
    const period = ['--from', '2026-01-05', '--to', '2026-01-05'];
    const { code, out } = await run('export', 'transactions', ...period);
    expect(code).toBe(0);
    const line = out.split('\n').find((each) => each.includes(paymentId));
    expect(line).toContain('CARD');
    expect(line).toContain('12.34');
  });
});
