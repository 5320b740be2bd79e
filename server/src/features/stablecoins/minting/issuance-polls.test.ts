// Issuance polls: their interval, and provider accounts that are unlinked. A token has one poll at
// a time, even after its account is linked again.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { linkedFixture, newFixture } from '../../../../test/kit/payments/stablecoins.ts';
import { providerAccounts, stablecoins } from '../store.ts';
import { POLL_ISSUANCE, scheduleNextPoll, schedulePoll } from './issuance-polls.ts';

const SECOND = 1_000;

const app = testApp();

describe('issuance', () => {
  it('is polled at most once per second', async () => {
    const fixture = await linkedFixture(app);
    const { id } = ok(await fixture.registerCoin('001'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(stablecoins, id);
      if (row) schedulePoll(ctx, row, 0);
    }, fixture.platform);
    const jobsSql = "select due_at from jobs where kind = $1 and input ->> 'coinId' = $2";
    const pollJobs = await app.runtime.db.query(jobsSql, [POLL_ISSUANCE.kind, id]);
    expect(pollJobs.map(({ due_at }) => Number(due_at))).toEqual([app.effects.now() + SECOND]);
  });

  /** Scheduled polls of a token. */
  const pollsOf = (id: string) =>
    app.runtime.db.query("select due_at from jobs where kind = $1 and input ->> 'coinId' = $2", [
      POLL_ISSUANCE.kind,
      id,
    ]);

  it('is polled after a minute if the provider does not state a time', async () => {
    const fixture = await linkedFixture(app);
    const { id } = ok(await fixture.registerCoin('001'), 201);
    expect(await pollsOf(id)).toEqual([]);
    await app.operate(async (ctx) => {
      const row = await ctx.read(stablecoins, id);
      if (row) scheduleNextPoll(ctx, row, {});
    }, fixture.platform);
    const pollJobs = await pollsOf(id);
    expect(pollJobs.map(({ due_at }) => Number(due_at))).toEqual([app.effects.now() + 60 * SECOND]);
    await app.advance(60 * SECOND);
    expect(await pollsOf(id)).toEqual([]);
  });

  it('has one poll at a time, even if its account is linked again repeatedly', async () => {
    const fixture = await newFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    const { id } = ok(await fixture.registerCoin('005'), 201);
    for (let times = 0; times < 3; times++) {
      await app.operate(async (ctx) => {
        const row = await ctx.read(providerAccounts, account.id);
        if (row) ctx.update(providerAccounts, row, { status: 'REVOKED' });
      }, fixture.platform);
      ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
      await app.advance(SECOND);
    }
    await app.advance(12 * SECOND);
    expect(ok(await fixture.read(`/stablecoins/${id}`), 200).issuanceStatus).toBe('PROVISIONING');
    expect(await pollsOf(id)).toHaveLength(1);
    await app.advance(20 * SECOND);
    expect(ok(await fixture.read(`/stablecoins/${id}`), 200).issuanceStatus).toBe('PROVISIONED');
    expect(await pollsOf(id)).toEqual([]);
  });

  it('is not polled while its account is unlinked, and resumes when it is linked again', async () => {
    const fixture = await newFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    const coin = ok(await fixture.registerCoin('005'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(providerAccounts, account.id);
      if (row) ctx.update(providerAccounts, row, { status: 'REVOKED' });
    }, fixture.platform);
    await app.advance(60 * SECOND);
    const readIssuanceStatus = async () =>
      ok(await fixture.read(`/stablecoins/${coin.id}`), 200).issuanceStatus;
    expect(await readIssuanceStatus()).toBe('PENDING_REVIEW');
    ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    await app.settle();
    expect(await readIssuanceStatus()).toBe('PROVISIONED');
  });

  it('unlinks the account if the provider rejects its credentials in a poll', async () => {
    const fixture = await newFixture(app);
    const link = fixture.linkBody();
    const account = ok(await fixture.write('/stablecoin-provider-accounts', link), 201);
    ok(await fixture.registerCoin('005'), 201);
    await app.operate(async (ctx) => {
      const row = await ctx.read(providerAccounts, account.id);
      const rejectedCredentials = JSON.stringify({ clientId: 'x', clientSecret: 'x-004' });
      const context = `stablecoin_provider_accounts ${account.id} credentials`;
      const credentials = ctx.vault.sealOwn(rejectedCredentials, context);
      if (row) ctx.update(providerAccounts, row, { credentials });
    }, fixture.platform);
    await app.advance(15 * SECOND);
    const path = `/stablecoin-provider-accounts/${account.id}`;
    expect(ok(await fixture.read(path), 200).status).toBe('REVOKED');
  });
});
