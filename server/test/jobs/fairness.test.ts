// A hanging provider delays its own messages and no payment of another platform. Waiting jobs use
// at most their share of the job slots, regardless of their number.
import { describe, expect, it, vi } from 'vitest';
import { sendMessage } from '../../src/features/notifications/messages/index.ts';
import { messages } from '../../src/features/notifications/messages/store.ts';
import { JOB_LIMITS } from '../../src/runtime/jobs/job-slots.ts';
import { createExternalAccount, createFundedCustomer, ok } from '../kit/app/fixtures.ts';
import { openForFile, testApp } from '../kit/app/test-app.ts';
import { startHanging } from '../kit/http/hanging-servers.ts';

const MESSAGE_COUNT = 450;

const sms = openForFile(startHanging);

const app = testApp(() => ({ connectors: { smsUrl: sms.url } }));

const queueMessages = (count: number) =>
  app.operate(async (ctx) => {
    for (let index = 0; index < count; index++) {
      sendMessage(ctx, {
        channel: 'SMS',
        to: '+15550100',
        kind: 'GREETING',
        text: `Hello ${index}.`,
      });
    }
  }, app.production);

describe('text messages that wait for a hanging service', () => {
  it('leave job slots for the payout of another platform', async () => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    await app.settle();
    await queueMessages(MESSAGE_COUNT);
    app.start();
    await vi.waitUntil(() => sms.requests() === JOB_LIMITS.perLane, { timeout: 10_000 });
    const transfer = {
      source: { accountId: account.id },
      destination: { accountId: payee.id },
      amount: 100_00,
    };
    const { id } = ok(await app.call('POST', '/transfer-out', transfer), 201);
    const readStatus = async () => (await app.call('GET', `/transactions/${id}`)).body.status;
    await vi.waitUntil(async () => (await readStatus()) === 'COMPLETED', { timeout: 8_000 });
    // No message has a response yet. The started messages are within their share.
    expect(app.worker.running().get('messages.send-sms')).toBe(JOB_LIMITS.perLane);
    const { body } = await app.server.inject({ url: '/metrics' });
    expect(body).toContain(`railhead_jobs_running{kind="messages.send-sms"} ${JOB_LIMITS.perLane}`);
    expect([sms.requests(), sms.peak()]).toEqual([JOB_LIMITS.perLane, JOB_LIMITS.perLane]);
  }, 30_000);

  it('leave job slots for the e-mails of their own platform', async () => {
    const mail = {
      channel: 'EMAIL',
      to: 'ada@example.com',
      kind: 'GREETING',
      text: 'Hello.',
    } as const;
    const { id } = await app.operate(async (ctx) => sendMessage(ctx, mail), app.production);
    const readMessage = () => app.runtime.db.read(messages, id);
    await vi.waitUntil(async () => (await readMessage())?.status !== 'QUEUED', { timeout: 8_000 });
    // No service for e-mail is connected.
    expect(await readMessage()).toMatchObject({ status: 'FAILED', failure: 'NOT_CONNECTED' });
    expect(app.worker.running().get('messages.send-sms')).toBe(JOB_LIMITS.perLane);
  }, 30_000);
});
