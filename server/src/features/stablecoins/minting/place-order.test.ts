// Orders of mints and burns under concurrency. The provider is called between the reads and the commit, so
// the validation may be outdated when it responds. The tests use the sandbox provider with a scripted
// validation.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { mintFixture } from '../../../../test/kit/payments/mints.ts';
import type { MintPort } from '../../../connectors/ports/stablecoins.ts';
import { Fault } from '../../../kernel/fault.ts';
import { mintsAndBurns, stablecoins } from '../store.ts';
import { placeOrder, providerAccessOf } from './place-order.ts';

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let coinId: string;

beforeAll(async () => {
  fixture = mintFixture(app);
  coinId = (await fixture.createCoin()).id;
});

/** Orders a mint for a wallet. `beforeValidation` runs before the provider validates the order. */
function mintWith(accountId: string, beforeValidation: () => Promise<unknown>) {
  const { mint } = app.connectorsOf('sandbox') as { mint: MintPort };
  const prepare: MintPort['prepare'] = async (...args) => {
    await beforeValidation();
    return mint.prepare(...args);
  };
  const deps = { connectors: () => ({ mint: { ...mint, prepare } }) as never };
  return app.operate(async (ctx) => {
    const coin = await ctx.read(stablecoins, coinId);
    if (!coin) throw new Error(`the coin ${coinId} was not found`);
    return placeOrder(ctx, coin, await providerAccessOf(ctx, deps, coin), {
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

const findOrders = () => app.runtime.db.find(mintsAndBurns, { stablecoin_id: coinId });

it('placeOrder rejects a mint for a customer who is deleted concurrently', async () => {
  const wallet = await fixture.createWallet();
  let calls = 0;
  const deleteCustomerOnce = async () => {
    if (calls++) return;
    ok(await app.call('DELETE', `/customers/${wallet.customerId}`), 200);
  };
  const order = mintWith(wallet.id, deleteCustomerOnce);
  await expect(order).rejects.toMatchObject({ code: 'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND' });
  expect(calls).toBe(1);
  expect(await findOrders()).toEqual([]);
});

describe('an error during a call of the provider', () => {
  it.each([
    ['no response', new Error('socket hang up'), 'SERVICE_UNAVAILABLE'],
    [
      'an unreachable host',
      new TypeError('fetch failed', { cause: new Error('ENOTFOUND') }),
      'SERVICE_UNAVAILABLE',
    ],
    ['a response that is not JSON', new SyntaxError('Unexpected token'), 'SERVICE_UNAVAILABLE'],
    [
      'a rejection',
      new Fault('NOT_IMPLEMENTED', 'The provider does not support mints.'),
      'NOT_IMPLEMENTED',
    ],
    ['an internal error', new TypeError('undefined is not a function'), undefined],
    ['another internal error', new RangeError('no such time'), undefined],
  ])('is thrown as SERVICE_UNAVAILABLE or unchanged: %s', async (_, providerError, code) => {
    const order = mintWith((await fixture.createWallet()).id, () => Promise.reject(providerError));
    const thrownError: unknown = await order.catch((error: unknown) => error);
    if (code === 'SERVICE_UNAVAILABLE')
      expect(thrownError).toMatchObject({ code, cause: providerError });
    else expect(thrownError).toBe(providerError);
    expect(await findOrders()).toEqual([]);
  });
});
