// Invariants of mints and burns of one coin under any order of provider responses, repeated, late or
// concurrent. Transitions follow the lifecycle, and final statuses are permanent. The ledger always matches
// the operations. Burns never exceed the circulating supply.
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { DOLLAR, mintFixture } from '../../../../test/kit/payments/mints.ts';
import type { OrderProgress } from '../../../connectors/ports/stablecoins.ts';
import { operationStates } from '../states.ts';
import { mintsAndBurns } from '../store.ts';
import { applyProgress, isFinalStatus } from './progress.ts';

const app = testApp({ isRandom: true });
let fixture: ReturnType<typeof mintFixture>;
let wallet: { id: string };
let bank: { id: string };

beforeAll(async () => {
  fixture = mintFixture(app);
  wallet = await fixture.createWallet();
  bank = await fixture.createBankAccount();
});

const STATES = ['funding', 'submitted', 'processing', 'completed', 'failed', 'expired'] as const;

const step = fc.oneof(
  fc.record({ do: fc.constantFrom('mint', 'burn'), dollars: fc.integer({ min: 1, max: 30 }) }),
  fc.record({
    do: fc.constant('report'),
    // Few operations, so that each receives several states.
    index: fc.nat({ max: 5 }),
    states: fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 3 }),
    late: fc.boolean(),
  }),
);

const progressOf = (state: (typeof STATES)[number]): OrderProgress =>
  state === 'failed'
    ? { state, providerStatus: state, reason: 'PROVIDER_TRANSFER_FAILED' }
    : { state, providerStatus: state };

const readOperation = async (id: string) => {
  const row = await app.runtime.db.read(mintsAndBurns, id);
  if (!row) throw new Error(`${id} was not found`);
  return row;
};

/** Applies several responses about one operation concurrently. */
async function applyResponses(id: string, states: readonly (typeof STATES)[number][]) {
  const rowBefore = await readOperation(id);
  const apply = (state: (typeof STATES)[number]) =>
    app.operate(async (ctx) => {
      const row = await ctx.read(mintsAndBurns, id);
      if (row) await applyProgress(ctx, row, progressOf(state), ctx.now);
    });
  await Promise.all(states.map(apply));
  const rowAfter = await readOperation(id);
  if (isFinalStatus(rowBefore)) expect(rowAfter).toEqual(rowBefore);
  // A response causes at most one transition. Concurrent responses may cause several.
  if (states.length === 1) {
    expect(operationStates.allows(rowBefore.status, rowAfter.status)).toBe(true);
  }
}

/** Orders a mint or a burn and returns its ID, or undefined if a burn exceeds the supply. */
async function placeOrder(coinId: string, type: 'mint' | 'burn', dollars: number) {
  const amount = String(BigInt(dollars) * DOLLAR);
  if (type === 'mint') {
    return ok(await fixture.mint(coinId, fixture.mintBody(wallet.id, { amount })), 201)
      .id as string;
  }
  const { circulating = 0n, burning = 0n } = await fixture.readSupply(coinId);
  const response = await fixture.burn(coinId, fixture.burnBody(bank.id, { amount }));
  expect(response.status).toBe(BigInt(amount) <= circulating - burning ? 201 : 400);
  return response.status === 201 ? (response.body.id as string) : undefined;
}

it('responses keep statuses in their lifecycle and the ledger equal to the operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const coin = await fixture.createCoin();
      const orderIds: string[] = [];
      for (const each of steps) {
        if ('dollars' in each) {
          const id = await placeOrder(coin.id, each.do as 'mint' | 'burn', each.dollars);
          if (id) orderIds.push(id);
        } else if (orderIds.length) {
          const id = orderIds[each.index % orderIds.length] as string;
          if (each.late) app.effects.set(app.effects.now() + 8 * 86_400_000);
          await applyResponses(id, each.states);
        }
        expect(await fixture.findSupplyProblems()).toEqual([]);
      }
      const remainingSupply = await fixture.readSupply(coin.id);
      expect((remainingSupply.circulating ?? 0n) >= (remainingSupply.burning ?? 0n)).toBe(true);
    }),
    { numRuns: 25 },
  );
  await expectBalancedBooks(app);
}, 120_000);
