// Ordering a mint or burn while something goes on around it: the provider is asked in the middle, so what
// was judged before may be true no more when it has answered. The provider here is the sandbox's with one
// voice of its own.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { mintFixture } from '../../../../test/kit/payments/mints.ts';
import type { MintPort } from '../../../connectors/ports/stablecoins.ts';
import { Fault } from '../../../kernel/fault.ts';
import { mintsAndBurns, stablecoins } from '../store.ts';
import { placeOrder, throughOf } from './place.ts';

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let coinId: string;

beforeAll(async () => {
  fixture = mintFixture(app);
  coinId = (await fixture.coin()).id;
});

/** Orders a mint for a wallet at a provider that does this before it says what it thinks of it. */
function mintWhere(accountId: string, before: () => Promise<unknown>) {
  const { mint } = app.connectorsOf('sandbox') as { mint: MintPort };
  const prepare: MintPort['prepare'] = async (...asked) => {
    await before();
    return mint.prepare(...asked);
  };
  const parts = { connectors: () => ({ mint: { ...mint, prepare } }) as never };
  return app.operate(async (ctx) => {
    const coin = await ctx.read(stablecoins, coinId);
    if (!coin) throw new Error('no coin');
    return placeOrder(ctx, coin, await throughOf(ctx, parts, coin), {
      id: ctx.id('StablecoinOperation'),
      platform_id: app.platform.id,
      type: 'MINT',
      provider_account: coin.provider_account,
      amount: 1_000_000n,
      source: { type: 'WIRE' },
      destination: { accountId },
      description: null,
      created_at: ctx.now,
    });
  });
}

const ordered = () => app.runtime.db.find(mintsAndBurns, { stablecoin_id: coinId });

it('is not ordered for a customer that is deleted meanwhile', async () => {
  const wallet = await fixture.wallet();
  let asked = 0;
  const deleting = async () => {
    if (asked++) return;
    ok(await app.call('DELETE', `/customers/${wallet.customerId}`), 200);
  };
  const order = mintWhere(wallet.id, deleting);
  await expect(order).rejects.toMatchObject({ code: 'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND' });
  expect(asked).toBe(1);
  expect(await ordered()).toEqual([]);
});

describe('what is thrown while the provider is asked', () => {
  it.each([
    ['an answer that does not come', new Error('socket hang up'), 'SERVICE_UNAVAILABLE'],
    [
      'a host that is not there',
      new TypeError('fetch failed', { cause: new Error('ENOTFOUND') }),
      'SERVICE_UNAVAILABLE',
    ],
    ['an answer that is no JSON', new SyntaxError('Unexpected token'), 'SERVICE_UNAVAILABLE'],
    ['a refusal', new Fault('NOT_IMPLEMENTED', 'No.'), 'NOT_IMPLEMENTED'],
    ['a mistake of ours', new TypeError('undefined is not a function'), undefined],
    ['another mistake of ours', new RangeError('no such time'), undefined],
  ])('%s', async (_, thrown, code) => {
    const order = mintWhere((await fixture.wallet()).id, () => Promise.reject(thrown));
    const met: unknown = await order.catch((error: unknown) => error);
    if (code === 'SERVICE_UNAVAILABLE') expect(met).toMatchObject({ code, cause: thrown });
    else expect(met).toBe(thrown);
    expect(await ordered()).toEqual([]);
  });
});
