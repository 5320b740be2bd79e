// The operator's list of the funding sources of a card after many changes.
import { expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import { fundingSources } from '../store.ts';
import { cardFundingOf } from './funding.ts';

const app = testApp();

it('the operator list contains every current funding source, even after many replacements', async () => {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder();
  const card = await fixture.createCard(holder);
  const firstAccountId = holder.accountId;
  const { accountId: otherAccountId } = await fixture.createCardholder();
  await app.operate(async (ctx) => {
    for (let index = 1; index <= 1_001; index++) {
      ctx.insert(fundingSources, {
        id: ctx.id('CardFundingSource'),
        platform_id: app.platform.id,
        customer_id: holder.customer.id,
        card_id: card.id,
        account_id: otherAccountId,
        created_at: ctx.now,
        ended_at: index === 1_001 ? null : ctx.now,
      });
    }
  });
  const cardFunding = await cardFundingOf(app.runtime.db, card.id);
  const currentSources = cardFunding.filter((each) => each.endedAt === null);
  expect(currentSources.map((each) => each.accountId)).toEqual([firstAccountId, otherAccountId]);
  expect([cardFunding[0], cardFunding.at(-1)]).toEqual(currentSources);
  expect(cardFunding).toHaveLength(1_000);
});
