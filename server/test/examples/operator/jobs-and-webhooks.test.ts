// Examples of the operator API: jobs, messages, requests, and webhooks with their deliveries.
import { describe } from 'vitest';
import { ok } from '../../kit/app/fixtures.ts';
import { DAY } from '../../kit/app/production.ts';
import { createEuropeanCustomer, sendCode } from '../../kit/customers/contacts.ts';
import { EMIL } from '../../kit/http/example-people.ts';
import { createDeadJob } from '../../kit/operator/dead-jobs.ts';
import { listedEvents } from '../../kit/operator/events.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

async function recordJobs({ service, record }: OperatorRecorder) {
  const { app } = service;
  const { id: transactionId } = await service.createPayment();
  for (const kind of ['payout.send', 'payout.check', 'payout.check'])
    await createDeadJob(app, kind, { transactionId });
  const { data } = await record('listJobs', 'dead', {
    summary: 'Dead jobs of a kind',
    query: { state: 'dead', kind: 'payout.send' },
  });
  const params = { jobId: data[0].jobId as string };
  await record('getJob', 'dead', { summary: 'A job with its last error', params });
  await record('retryJob', 'one', {
    summary: 'Retry a job',
    params,
    body: { reason: 'The bank is available again' },
  });
  await record('retryDeadJobs', 'kind', {
    summary: 'Retry all dead jobs of a kind',
    body: { kind: 'payout.check', reason: 'The bank is available again' },
  });
  await record('cancelJob', 'settled', {
    summary: 'Cancel a job whose payment was settled manually',
    params,
    body: { reason: 'Settled manually' },
  });
  await app.runtime.db.query("delete from jobs where kind like 'payout.%'", []);
}

async function recordMessages({ service: { app }, record }: OperatorRecorder) {
  const { id: customerId } = await createEuropeanCustomer(app, {}, EMIL);
  ok(await sendCode(app, customerId, 'email'), 204);
  await app.settle();
  const { data } = await record('listMessages', 'of-customer', {
    summary: 'Messages to a customer',
    query: { customerId },
  });
  await record('getMessage', 'code', {
    summary: 'An e-mail with a code',
    params: { messageId: data[0].messageId },
  });
}

async function recordRequests({ service, record }: OperatorRecorder) {
  const { app, callOptions } = service;
  const { id: platformId } = service.platform;
  const path = '/quotes/Quote:019b8d60-2a80-7000-8000-0000000000ff';
  const { headers } = await app.call('GET', path, undefined, callOptions);
  // A request for this list stores the records of earlier requests first.
  ok(await app.call('GET', '/requests', undefined, callOptions), 200);
  await record('listRequestsOfPlatforms', 'rejected', {
    summary: 'Rejected requests of all platforms',
    query: { statusClass: '4xx', limit: '2' },
  });
  await record('listRequestsOfPlatform', 'rejected', {
    summary: 'Rejected requests of a platform',
    params: { platformId },
    query: { statusClass: '4xx', limit: '2' },
  });
  await record('getRequestOfPlatform', 'rejected', {
    summary: 'A request for an unknown quote',
    params: { requestId: String(headers['x-request-id']) },
  });
}

/** The endpoint of the platform receives completed deposits only. */
async function restrictEndpoint({ service: { app, callOptions } }: OperatorRecorder) {
  const { data } = ok(await app.call('GET', '/webhook-endpoints', undefined, callOptions), 200);
  const body = { eventTypes: ['INCOMING_PAYMENT.COMPLETED'] };
  ok(await app.call('PATCH', `/webhook-endpoints/${data[0].id}`, body, callOptions), 200);
}

/** The receiver of the platform rejects all deliveries. */
function rejectDeliveries({ service: { app } }: OperatorRecorder): void {
  const { http } = app.effects;
  app.effects.http = async (request) =>
    request.url.startsWith('https://hooks.example.com/')
      ? { status: 503, headers: {}, body: 'Service Unavailable' }
      : http(request);
}

async function recordEndpoints({ service, record }: OperatorRecorder) {
  const { id: platformId } = service.platform;
  const { data } = await record('listWebhookEndpointsOfPlatform', 'all', {
    summary: 'The endpoints of a platform',
    params: { platformId },
  });
  const params = { webhookEndpointId: data[0].id as string };
  await record('pauseWebhookEndpoint', 'maintenance', {
    summary: 'Pause deliveries during maintenance',
    params,
    body: { reason: 'Maintenance of the receiver' },
  });
  await record('resumeWebhookEndpoint', 'maintenance', {
    summary: 'Resume deliveries',
    params,
    body: { reason: 'The maintenance is complete' },
  });
}

async function recordWebhooks(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { app } = service;
  const { id: platformId } = service.platform;
  await restrictEndpoint(recorder);
  await recordEndpoints(recorder);
  await service.createPayer('250.00');
  await app.settle();
  const events = await listedEvents(recorder, platformId);
  // Events are delivered once they are listed, which transactions of other tests can delay.
  await app.settle();
  const deposit = events.find(({ type }) => type === 'INCOMING_PAYMENT.COMPLETED');
  const params = { eventId: deposit?.id as string };
  await record('listEventsOfPlatforms', 'of-platform', {
    summary: 'The latest events of a platform',
    query: { platformId, limit: '2' },
  });
  await record('getEventOfPlatform', 'deposit', { summary: 'An event with its content', params });
  await record('listDeliveriesOfPlatforms', 'delivered', {
    summary: 'The latest deliveries to all platforms',
    query: { limit: '2' },
  });
  await record('listDeliveriesOfPlatform', 'delivered', {
    summary: 'The latest deliveries to a platform',
    params: { platformId },
    query: { limit: '2' },
  });
  await record('listDeliveriesOfEvent', 'delivered', {
    summary: 'The deliveries of an event',
    params,
  });
  await recordRejectedDelivery(recorder);
}

async function recordRejectedDelivery(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  rejectDeliveries(recorder);
  await service.createPayer('125.00');
  await service.app.settle();
  await record('listPendingWebhookDeliveries', 'rejected', {
    summary: 'A delivery that the receiver has rejected',
    query: { limit: '1' },
  });
  // One attempt a day, because the delays between attempts are random.
  await service.app.advance(8 * DAY, DAY);
  const { data } = await record('listDroppedEvents', 'rejected', {
    summary: 'An event whose deliveries have failed for days',
    query: { limit: '1' },
  });
  await record('resendEventOfPlatform', 'repaired', {
    summary: 'Send an event again to all endpoints',
    params: { eventId: data[0].eventId },
    body: { reason: 'The receiver was repaired' },
  });
}

describe('examples of the operator API: jobs and webhooks', () => {
  operatorExamples(
    'jobs-and-webhooks',
    { recordJobs, recordMessages, recordRequests, recordWebhooks },
    { replacements: [[/lightMyRequest/g, 'northwind-payments/2.1']] },
  );
});
