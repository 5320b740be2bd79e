// The steps that have an effect in each state of a payment, including repeated, late and out-of-order
// steps. All other steps stage no change.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readCurrent } from '../payouts/payout-jobs.ts';
import { payRefund } from '../refunds/refund.ts';
import { asOutgoing } from '../transactions/rows.ts';
import type { OutgoingRow } from '../transactions/store.ts';

type Refund = NonNullable<OutgoingRow['refund']>;

import {
  cancelPayout,
  expirePayment,
  failPayout,
  failUnauthorized,
  settlePayout,
  submitPayout,
} from './payment.ts';

const app = testApp();
let payment: OutgoingRow;
beforeAll(async () => {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
    201,
  );
  payment = await app.operate((ctx) => readCurrent(ctx, quote.transactionId, asOutgoing));
});

const refundWith = (status: Refund['status']): Refund => ({
  reference: 'RF',
  initiatedAt: '2026-01-05T09:00:00.000Z',
  status,
  reason: 'TRANSACTION_FAILED',
});

type State = Pick<OutgoingRow, 'status' | 'funds' | 'refund'>;

const STATES: Record<string, State> = {
  pending: { status: 'PENDING', funds: 'NONE', refund: null },
  'awaiting authorization': { status: 'PENDING_AUTHORIZATION', funds: 'NONE', refund: null },
  held: { status: 'PROCESSING', funds: 'HELD', refund: null },
  submitted: { status: 'PROCESSING', funds: 'SUBMITTED', refund: null },
  completed: { status: 'COMPLETED', funds: 'SETTLED', refund: null },
  'being canceled': { status: 'PROCESSING', funds: 'SUBMITTED', refund: refundWith('PENDING') },
  canceled: { status: 'COMPLETED', funds: 'RETURNED', refund: refundWith('COMPLETED') },
  'failed with a hold': { status: 'FAILED', funds: 'HELD', refund: refundWith('PENDING') },
  'failed after submission': {
    status: 'FAILED',
    funds: 'SUBMITTED',
    refund: refundWith('PENDING'),
  },
  returned: { status: 'FAILED', funds: 'SETTLED', refund: refundWith('PENDING') },
  refunded: { status: 'FAILED', funds: 'RETURNED', refund: refundWith('COMPLETED') },
  'in suspense': { status: 'FAILED', funds: 'SUSPENSE', refund: refundWith('FAILED') },
  unauthorized: { status: 'FAILED', funds: 'NONE', refund: null },
  expired: { status: 'EXPIRED', funds: 'NONE', refund: null },
};

const STEPS: Record<string, (ctx: Ctx, row: OutgoingRow) => unknown> = {
  submit: submitPayout,
  settle: (ctx, row) => settlePayout(ctx, row),
  fail: (ctx, row) => failPayout(ctx, row, 'QUOTE_EXECUTION_FAILED', true),
  cancel: cancelPayout,
  refund: (ctx, row) => payRefund(ctx, row, true),
  postToSuspense: (ctx, row) => payRefund(ctx, row, false),
  expire: expirePayment,
  expireAuthorization: failUnauthorized,
};

/** By state: status, funds and refund status after each step that has an effect. */
const EFFECTS: Record<string, Record<string, string>> = {
  pending: { expire: 'EXPIRED NONE' },
  'awaiting authorization': { expireAuthorization: 'FAILED NONE' },
  held: {
    submit: 'PROCESSING SUBMITTED',
    settle: 'COMPLETED SETTLED',
    fail: 'FAILED HELD PENDING',
    cancel: 'PROCESSING HELD PENDING',
  },
  submitted: {
    settle: 'COMPLETED SETTLED',
    fail: 'FAILED SUBMITTED PENDING',
    cancel: 'PROCESSING SUBMITTED PENDING',
  },
  completed: { fail: 'FAILED SETTLED PENDING' },
  'being canceled': {
    refund: 'COMPLETED RETURNED COMPLETED',
    postToSuspense: 'COMPLETED SUSPENSE FAILED',
  },
  'failed with a hold': {
    refund: 'FAILED RETURNED COMPLETED',
    postToSuspense: 'FAILED SUSPENSE FAILED',
  },
  'failed after submission': {
    refund: 'FAILED RETURNED COMPLETED',
    postToSuspense: 'FAILED SUSPENSE FAILED',
  },
  returned: { refund: 'FAILED RETURNED COMPLETED', postToSuspense: 'FAILED SUSPENSE FAILED' },
};

/** The changes that a step stages, without a commit. */
async function readStagedChanges(state: State, step: (ctx: Ctx, row: OutgoingRow) => unknown) {
  const stopError = new Error('no commit');
  let changes: { rows: string[]; size: number } | undefined;
  const run = app.operate(async (ctx) => {
    await step(ctx, { ...payment, ...state });
    const { set } = ctx;
    const rows = set.updates.map(({ row }) => {
      const payment = row as OutgoingRow;
      return [payment.status, payment.funds, payment.refund?.status].filter(Boolean).join(' ');
    });
    const lists = [set.inserts, set.updates, set.transfers, set.events, set.removes];
    changes = { rows, size: lists.reduce((sum, each) => sum + each.length, 0) };
    throw stopError;
  });
  await expect(run).rejects.toBe(stopError);
  return changes;
}

describe.each(Object.entries(STATES))('payment that is %s', (name, state) => {
  it.each(Object.entries(STEPS))(
    'stages the change that its state allows for the step %s',
    async (stepName, step) => {
      const effect = EFFECTS[name]?.[stepName];
      const changes = await readStagedChanges(state, step);
      if (effect) expect(changes?.rows).toEqual([effect]);
      else expect(changes).toEqual({ rows: [], size: 0 });
    },
  );
});
