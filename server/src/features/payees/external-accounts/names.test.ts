// Late or missing results of the holder name check: their effect on the account and its events.
import { expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  ok,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { NameCheck } from '../../../connectors/ports/index.ts';
import { applyNameCheck } from './names.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

const app = testApp();

/** An account whose name check is pending. */
async function createPendingCheck(): Promise<string> {
  const person = await createCustomer(app);
  return (await createExternalAccount(app, person.id, 'USD', '104')).id;
}

const accountPathOf = (id: string) => `/customers/external-accounts/${id}`;
const read = async (id: string) => ok(await app.call('GET', accountPathOf(id)), 200);
const rowOf = async (id: string) =>
  (await app.runtime.db.read(externalAccounts, id)) as ExternalAccountRow;

const applyResult = (id: string, check: NameCheck) =>
  app.operate(async (ctx) => {
    applyNameCheck(ctx, (await ctx.read(externalAccounts, id)) as ExternalAccountRow, check);
  });

it('a name check records a late result, emits no event, and ignores later results', async () => {
  const id = await createPendingCheck();
  const { createdAt } = await read(id);
  await app.advance(5_000);
  const checkedAccount = await read(id);
  expect(checkedAccount).toMatchObject({
    status: 'ACTIVE',
    beneficiaryVerificationStatus: 'MATCHED',
    beneficiaryVerifiedData: { fullName: 'Grace Hopper' },
  });
  expect(Date.parse(checkedAccount.updatedAt)).toBe(Date.parse(createdAt) + 5_000);
  expect(await eventTypes(app, id)).toEqual([]);
  await applyResult(id, { status: 'NOT_MATCHED' });
  expect(await read(id)).toEqual(checkedAccount);
});

it('a pending name check is repeated until it has a result', async () => {
  const id = await createPendingCheck();
  await applyResult(id, { status: 'PENDING', checkAfterMs: 2_000 });
  const countJobsSql = "select count(*)::int as waiting from jobs where input->>'accountId' = $1";
  expect(await app.runtime.db.query(countJobsSql, [id])).toEqual([{ waiting: 2 }]);
  await app.advance(5_000);
  expect((await read(id)).beneficiaryVerificationStatus).toBe('MATCHED');
  expect(await app.runtime.db.query(countJobsSql, [id])).toEqual([{ waiting: 0 }]);
});

it('a name check disables an account that does not exist and emits an event', async () => {
  const id = await createPendingCheck();
  await applyResult(id, { status: 'INVALID_ACCOUNT' });
  const disabledAccount = await read(id);
  expect(disabledAccount).toMatchObject({
    status: 'INACTIVE',
    beneficiaryVerificationStatus: 'NOT_MATCHED',
  });
  expect(await eventTypes(app, id)).toEqual(['EXTERNAL_ACCOUNT.STATUS_UPDATED']);
  const [event] = (await app.events()).filter((each) => each.subject === id);
  expect(event?.data).toEqual(disabledAccount);
});

it('a name check ignores a deleted account', async () => {
  const id = await createPendingCheck();
  ok(await app.call('DELETE', accountPathOf(id)), 204);
  await app.advance(60_000);
  expect((await rowOf(id)).beneficiary_status).toBe('PENDING');
  expect(await eventTypes(app, id)).toEqual([]);
});
