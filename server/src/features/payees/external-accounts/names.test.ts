// Answers about a holder's name that come later, or never: what each does to the account, and what is told.
import { expect, it } from 'vitest';
import { customer, eventTypes, externalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { NameCheck } from '../../../connectors/ports/index.ts';
import { applyNameCheck } from './names.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

const app = testApp();

/** An account whose bank takes its time. */
async function asked(): Promise<string> {
  const person = await customer(app);
  return (await externalAccount(app, person.id, 'USD', '104')).id;
}

const path = (id: string) => `/customers/external-accounts/${id}`;
const read = async (id: string) => ok(await app.call('GET', path(id)), 200);
const rowOf = async (id: string) =>
  (await app.runtime.db.read(externalAccounts, id)) as ExternalAccountRow;

const heed = (id: string, check: NameCheck) =>
  app.operate(async (ctx) => {
    applyNameCheck(ctx, (await ctx.read(externalAccounts, id)) as ExternalAccountRow, check);
  });

it('keeps what it hears later, tells nobody, and hears nothing more', async () => {
  const id = await asked();
  const { createdAt } = await read(id);
  await app.advance(5_000);
  const known = await read(id);
  expect(known).toMatchObject({
    status: 'ACTIVE',
    beneficiaryVerificationStatus: 'MATCHED',
    beneficiaryVerifiedData: { fullName: 'Grace Hopper' },
  });
  expect(Date.parse(known.updatedAt)).toBe(Date.parse(createdAt) + 5_000);
  expect(await eventTypes(app, id)).toEqual([]);
  await heed(id, { status: 'NOT_MATCHED' });
  expect(await read(id)).toEqual(known);
});

it('asks as often as it is told to', async () => {
  const id = await asked();
  await heed(id, { status: 'PENDING', checkAfterMs: 2_000 });
  const before = "select count(*)::int as waiting from jobs where input->>'accountId' = $1";
  expect(await app.runtime.db.query(before, [id])).toEqual([{ waiting: 2 }]);
  await app.advance(5_000);
  expect((await read(id)).beneficiaryVerificationStatus).toBe('MATCHED');
  expect(await app.runtime.db.query(before, [id])).toEqual([{ waiting: 0 }]);
});

it('takes an account that does not exist out of use, and tells so', async () => {
  const id = await asked();
  await heed(id, { status: 'INVALID_ACCOUNT' });
  const closed = await read(id);
  expect(closed).toMatchObject({
    status: 'INACTIVE',
    beneficiaryVerificationStatus: 'NOT_MATCHED',
  });
  expect(await eventTypes(app, id)).toEqual(['EXTERNAL_ACCOUNT.STATUS_UPDATED']);
  const [told] = (await app.events()).filter((each) => each.subject === id);
  expect(told?.data).toEqual(closed);
});

it('leaves a deleted account alone', async () => {
  const id = await asked();
  ok(await app.call('DELETE', path(id)), 204);
  await app.advance(60_000);
  expect((await rowOf(id)).beneficiary_status).toBe('PENDING');
  expect(await eventTypes(app, id)).toEqual([]);
});
