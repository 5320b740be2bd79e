// How long and how often a provider is asked about the issuance of a token, and that one chain of questions
// follows it, whatever becomes of the link to the provider.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { freshFixture, linkedFixture } from '../../../../test/kit/payments/stablecoins.ts';
import { providerAccounts, stablecoins } from '../store.ts';
import { FOLLOW, followLater, followOn } from './follow.ts';

const SECOND = 1_000;

const app = testApp();

describe('issuance', () => {
  it('is not asked about again within a second, whatever the provider says', async () => {
    const fixture = await linkedFixture(app);
    const { id } = ok(await fixture.register('001'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(stablecoins, id);
      if (row) followLater(ctx, row, 0);
    }, fixture.as);
    const jobs = "select due_at from jobs where kind = $1 and input ->> 'coinId' = $2";
    const due = await app.runtime.db.query(jobs, [FOLLOW.kind, id]);
    expect(due.map(({ due_at }) => Number(due_at))).toEqual([app.effects.now() + SECOND]);
  });

  /** Jobs that ask about a token. */
  const asking = (id: string) =>
    app.runtime.db.query("select due_at from jobs where kind = $1 and input ->> 'coinId' = $2", [
      FOLLOW.kind,
      id,
    ]);

  it('is asked about again in a minute where the provider does not say when', async () => {
    const fixture = await linkedFixture(app);
    const { id } = ok(await fixture.register('001'), 201);
    expect(await asking(id)).toEqual([]);
    await app.operate(async (ctx) => {
      const row = await ctx.read(stablecoins, id);
      if (row) followOn(ctx, row, {});
    }, fixture.as);
    const due = await asking(id);
    expect(due.map(({ due_at }) => Number(due_at))).toEqual([app.effects.now() + 60 * SECOND]);
    await app.advance(60 * SECOND);
    expect(await asking(id)).toEqual([]);
  });

  it('is followed once, however often its account is linked anew', async () => {
    const fixture = await freshFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    const { id } = ok(await fixture.register('005'), 201);
    for (let times = 0; times < 3; times++) {
      await app.operate(async (ctx) => {
        const row = await ctx.read(providerAccounts, account.id);
        if (row) ctx.update(providerAccounts, row, { status: 'REVOKED' });
      }, fixture.as);
      ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
      await app.advance(SECOND);
    }
    await app.advance(12 * SECOND);
    expect(ok(await fixture.read(`/stablecoins/${id}`), 200).issuanceStatus).toBe('PROVISIONING');
    expect(await asking(id)).toHaveLength(1);
    await app.advance(20 * SECOND);
    expect(ok(await fixture.read(`/stablecoins/${id}`), 200).issuanceStatus).toBe('PROVISIONED');
    expect(await asking(id)).toEqual([]);
  });

  it('rests while the provider does not know the platform, and goes on when it does', async () => {
    const fixture = await freshFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    const coin = ok(await fixture.register('005'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(providerAccounts, account.id);
      if (row) ctx.update(providerAccounts, row, { status: 'REVOKED' });
    }, fixture.as);
    await app.advance(60 * SECOND);
    const shown = async () => ok(await fixture.read(`/stablecoins/${coin.id}`), 200).issuanceStatus;
    expect(await shown()).toBe('PENDING_REVIEW');
    ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    await app.settle();
    expect(await shown()).toBe('PROVISIONED');
  });

  it('finds out by itself that the provider knows the platform no more', async () => {
    const fixture = await freshFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    ok(await fixture.register('005'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(providerAccounts, account.id);
      const gone = JSON.stringify({ clientId: 'x', clientSecret: 'x-004' });
      const context = `stablecoin_provider_accounts ${account.id} credentials`;
      const credentials = ctx.vault.sealOwn(gone, context);
      if (row) ctx.update(providerAccounts, row, { credentials });
    }, fixture.as);
    await app.advance(15 * SECOND);
    const path = `/stablecoin-provider-accounts/${account.id}`;
    expect(ok(await fixture.read(path), 200).status).toBe('REVOKED');
  });
});
