// Test of a webhook endpoint: one event, sent synchronously. The attempt is recorded outside the
// change set of the request, so that it is recorded even if the request fails.

import type { Naming } from '../../../catalog/naming.ts';
import type { Bound } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type EndpointRule, endpointProblem } from '../../../kernel/net/endpoint.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { SigningKeys } from '../../../runtime/security/key-ring.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { recordTest } from './attempts-store.ts';
import { sendTestEvent, sendTestWebhook } from './contract.ts';
import type { StoredEvent } from './envelope.ts';
import { isDelivered } from './schedule.ts';
import { type AttemptOutcome, excerptOf, headOf, send } from './send.ts';

export interface WebhookDeps {
  keys: SigningKeys;
  naming: Naming;
  metrics: Metrics;
  /** Whether sandbox platforms may use loopback endpoints. */
  loopbackWebhooks: boolean;
  /** Defaults to `ANSWER_TIMEOUT_MS`. Shorter in tests. */
  answerTimeoutMs?: number;
}

/** `url` if it is permitted and has the scheme and host of the endpoint, otherwise the endpoint. */
function selectTestUrl(endpoint: string, url: string | undefined, rule: EndpointRule): string {
  const parsedUrl = url === undefined ? undefined : readUrl(url);
  if (url === undefined || !parsedUrl) return endpoint;
  const configuredUrl = new URL(endpoint);
  const isSameOrigin =
    configuredUrl.protocol === parsedUrl.protocol && configuredUrl.host === parsedUrl.host;
  return isSameOrigin && !endpointProblem(url, rule) ? url : endpoint;
}

async function sendTest(ctx: Ctx, deps: WebhookDeps, requestedUrl: string | undefined) {
  const platform = await readPlatform(ctx, ctx.caller.platformId);
  const endpoint = platform?.webhook_endpoint;
  if (!endpoint) {
    throw new Fault(
      'WEBHOOK_ENDPOINT_NOT_SET',
      'No webhook endpoint is configured. Set `webhookEndpoint` in the platform ' +
        'configuration first.',
    );
  }
  const event: StoredEvent = {
    id: ctx.id('Webhook'),
    type: testEvent.type,
    subject: ctx.caller.platformId,
    data: '{}',
    balance: null,
    held: null,
    created_at: ctx.now,
  };
  const { environment } = ctx.caller;
  const rule = { environment, loopback: deps.loopbackWebhooks };
  const url = selectTestUrl(endpoint, requestedUrl, rule);
  const outcome = await send({ effects: ctx.effects, ...deps }, event, { url, environment });
  await recordAttempt(ctx, deps, event, outcome);
  if (outcome.status === null) {
    const reason = 'The webhook endpoint did not respond. Check that its URL is reachable.';
    throw new Fault('WEBHOOK_DELIVERY_ERROR', reason, {
      url,
      error: outcome.error,
    });
  }
  const body = {
    url,
    response_status: outcome.status,
    response_body: excerptOf(outcome.responseText) ?? '',
  };
  return { status: 200 as const, body };
}

async function recordAttempt(
  ctx: Ctx,
  deps: WebhookDeps,
  event: StoredEvent,
  outcome: AttemptOutcome,
): Promise<void> {
  const result = isDelivered(outcome.status) ? 'delivered' : 'dropped';
  // Only events of the outbox count as `dropped`.
  deps.metrics.delivery(result === 'dropped' ? 'failed' : result);
  const { at, status, error, ms, responseText } = outcome;
  await recordTest(ctx.db, ctx.now, {
    platform_id: ctx.caller.platformId,
    event_id: event.id,
    at,
    status,
    error,
    ms,
    head: headOf(outcome.headers),
    response: excerptOf(responseText),
    result,
  });
}

export const webhookOperations = (deps: WebhookDeps): readonly Bound<Ctx>[] => [
  handle(sendTestEvent, (ctx, { body }) => sendTest(ctx, deps, body.url)),
  handle(sendTestWebhook, (ctx, { body }) => sendTest(ctx, deps, body.url)),
];
