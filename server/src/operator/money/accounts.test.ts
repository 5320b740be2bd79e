// The operator's verbs on internal accounts while a server is running: their effects, their
// rejections, and the platform's events.

import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createFundedCustomer,
  findInternalAccount,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { provisionAccounts } from '../../features/balances/internal-accounts/index.ts';
import { internalAccounts } from '../../features/balances/internal-accounts/store.ts';
import { debitWithShortfall } from '../../features/balances/shortfalls/index.ts';
import { systemAccount } from '../../ledger/chart.ts';
import { type Flags, parse } from '../cli/flags.ts';
import type { System } from '../cli/verb.ts';
import { accountVerbs } from './accounts.ts';

const app = testApp();

async function run(verb: string, ...argv: string[]) {
  const command = accountVerbs.find((each) => each.verb === verb);
  if (!command) throw new Error(`no verb ${verb}`);
  const { args } = parse(command.flags as Flags, command.positional, argv);
  const system = { runtime: app.runtime } as unknown as System;
  return command.run(system, args);
}

const readStatuses = async (id: string) =>
  (await app.events())
    .filter((each) => each.subject === id && each.type === 'INTERNAL_ACCOUNT.STATUS_UPDATED')
    .map((each) => each.data.status);

const createEmptyAccount = async () =>
  (await findInternalAccount(app, (await createCustomer(app)).id, 'USD')).id as string;

describe('accounts freeze and unfreeze', () => {
  it('change the status, and store actor and reason', async () => {
    const { account } = await createFundedCustomer(app, 12_00);
    const result = await run('freeze', account.id, '--reason', 'Requested by the bank');
    expect(result.json).toMatchObject({
      accountId: account.id,
      status: 'FROZEN',
      balance: 12_00,
      reason: 'Requested by the bank',
    });
    expect(result.text).toContain('FROZEN');
    await run('unfreeze', account.id);
    expect(await readStatuses(account.id)).toEqual(['FROZEN', 'ACTIVE']);
    const history = await run('history', account.id);
    expect(history.json).toMatchObject([
      { actor: 'operator', action: 'freeze', reason: 'Requested by the bank' },
      { actor: 'operator', action: 'unfreeze', reason: null },
    ]);
    expect(history.text).toContain('Requested by the bank');
  });

  it('require a reason for a freeze, an existing account, and a valid transition', async () => {
    const id = await createEmptyAccount();
    await expect(run('freeze', id)).rejects.toThrow('--reason');
    await expect(run('freeze', 'unknown', '--reason', 'x')).rejects.toThrow('Account not found.');
    await expect(run('unfreeze', id)).rejects.toThrow(
      'The account is ACTIVE. This action requires the status FROZEN.',
    );
    await expect(run('fail', id)).rejects.toThrow(
      'The account is ACTIVE. This action requires the status PENDING.',
    );
    expect(await readStatuses(id)).toEqual([]);
  });

  it('do not reactivate the account of a deleted customer', async () => {
    const person = await createCustomer(app);
    const { id } = await findInternalAccount(app, person.id, 'USD');
    await run('freeze', id, '--reason', 'Under investigation');
    expect((await app.call('DELETE', `/customers/${person.id}`)).status).toBe(200);
    await expect(run('unfreeze', id)).rejects.toThrow('is deleted');
  });
});

describe('accounts close', () => {
  it('closes an account only if it is empty and unused', async () => {
    const { account } = await createFundedCustomer(app, 1);
    await expect(run('close', account.id)).rejects.toMatchObject({ code: 'CONFLICT' });
    const owingAccountId = await createEmptyAccount();
    await app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, owingAccountId);
      const creditTo = systemAccount('sandbox', 'rail_in_transit', 'USD');
      const owedAmount = { currency: 'USD', amount: 3n };
      const shortfall = { ...owedAmount, transactionId: 'T:owing', step: 'return', creditTo };
      if (row) await debitWithShortfall(ctx, row, shortfall);
    });
    await expect(run('close', owingAccountId)).rejects.toThrow('has an outstanding shortfall');
    const id = await createEmptyAccount();
    await run('close', id, '--reason', 'Requested by its owner');
    expect(await readStatuses(id)).toEqual(['CLOSED']);
    await expect(run('freeze', id, '--reason', 'x')).rejects.toThrow(
      'The account is CLOSED. This action requires the status ACTIVE.',
    );
  });
});

describe('accounts fail and retry', () => {
  it('record a failed opening, and open the account after a retry', async () => {
    const person = await createCustomer(app, {}, { currencies: ['EUR'] });
    const [row] = await app.operate(async (ctx) =>
      provisionAccounts(ctx, {
        customerId: person.id,
        currencies: ['USD'],
        funding: undefined,
        status: 'PENDING',
      }),
    );
    const id = row?.id as string;
    await run('fail', id, '--reason', 'Rejected by every bank');
    await expect(run('unfreeze', id)).rejects.toThrow(
      'The account is FAILED. This action requires the status FROZEN.',
    );
    await run('retry', id);
    await app.settle();
    expect(await readStatuses(id)).toEqual(['FAILED', 'PENDING', 'ACTIVE']);
  });
});

describe('accounts list', () => {
  it('lists balances and shortfalls, and filters by platform, status and shortfall', async () => {
    const { id: platformId } = await app.newPlatform('Listed');
    const allAccounts = (await run('list', platformId)).json as {
      accountId: string;
      status: string;
    }[];
    expect(allAccounts.length).toBeGreaterThan(5);
    const id = allAccounts[0]?.accountId as string;
    await run('freeze', id, '--reason', 'Under investigation');
    const frozenResult = await run('list', platformId, '--status', 'FROZEN');
    expect(frozenResult.json).toMatchObject([{ accountId: id, status: 'FROZEN', owed: 0 }]);
    expect(frozenResult.text).toContain(id);
    expect((await run('list', platformId, '--owing')).json).toEqual([]);
    const owingAccounts = (await run('list', '--owing')).json as { owed: number }[];
    expect(owingAccounts.map((each) => each.owed)).toEqual([3]);
    await expect(run('list', 'unknown')).rejects.toThrow('Platform not found.');
  });

  it('lists page by page', async () => {
    const { id: platformId } = await app.newPlatform('Paged');
    const listIds = async (...flags: string[]) => {
      const { json } = await run('list', platformId, ...flags);
      return (json as { accountId: string }[]).map((each) => each.accountId);
    };
    const allIds = await listIds();
    expect(await listIds('--limit', '2')).toEqual(allIds.slice(0, 2));
    const secondId = allIds[1] as string;
    expect(await listIds('--limit', '2', '--after', secondId)).toEqual(allIds.slice(2, 4));
    expect(await listIds('--after', allIds.at(-1) as string)).toEqual([]);
    await expect(run('list', '--after', 'unknown')).rejects.toThrow('Account not found.');
    for (const limit of ['0', '1001', 'x']) {
      await expect(run('list', '--limit', limit)).rejects.toThrow('--limit must be a whole number');
    }
  });
});
