// Deliveries as the API and the operator's command show them.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import type { Target } from '../endpoints/index.ts';
import type { WebhookDelivery, WebhookDeliveryDetails } from './contract.ts';
import { keyOf } from './list.ts';
import { deliveryId } from './position.ts';
import type { AttemptDetails, DeliveryRow } from './store.ts';

export type DeliveryView = Static<typeof WebhookDelivery>;
export type DeliveryDetailsView = Static<typeof WebhookDeliveryDetails>;

/** The endpoints of a platform, by number. */
export type Targets = ReadonlyMap<number, Target>;

const RESULTS = { delivered: 'DELIVERED', retry: 'RETRY', dropped: 'FAILED' } as const;

type AttemptSummary = Pick<AttemptDetails, 'attempt' | 'at' | 'status' | 'error' | 'ms' | 'result'>;

const presentAttempt = ({ attempt, at, status, error, ms, result }: AttemptSummary) => ({
  number: attempt,
  at: iso(at),
  result: RESULTS[result],
  ...(status === null ? {} : { responseStatus: status }),
  ...(error === null ? {} : { error }),
  durationMs: ms,
});

function lastAttemptOf(row: DeliveryRow): AttemptSummary | undefined {
  const { attempt, at, http_status: status, error, ms, result } = row;
  if (attempt === null || at === null || ms === null || result === null) return undefined;
  return { attempt, at, status, error, ms, result };
}

function present(row: DeliveryRow, targets: Targets) {
  const target = targets.get(row.endpoint);
  return {
    id: deliveryId(keyOf(row)),
    endpointId: target?.id ?? '',
    eventId: row.event_id,
    eventType: row.type as DeliveryView['eventType'],
    resourceId: row.subject,
    eventCreatedAt: iso(row.created_at),
    status: row.status,
    attemptCount: row.attempt ?? 0,
    ...(row.due_at !== null && target?.isSent ? { nextAttemptAt: iso(row.due_at) } : {}),
  };
}

export function presentDelivery(row: DeliveryRow, targets: Targets): DeliveryView {
  const lastAttempt = lastAttemptOf(row);
  return {
    ...present(row, targets),
    ...(lastAttempt ? { lastAttempt: presentAttempt(lastAttempt) } : {}),
  };
}

const presentAttemptDetails = ({ head, response, ...attempt }: AttemptDetails) => ({
  ...presentAttempt(attempt),
  ...(head === null ? {} : { responseHeaders: JSON.parse(head) as Record<string, string> }),
  ...(response === null ? {} : { responseBody: response }),
});

export const presentDetails = (
  row: DeliveryRow,
  targets: Targets,
  attempts: readonly AttemptDetails[],
): DeliveryDetailsView => ({
  ...present(row, targets),
  attempts: attempts.map(presentAttemptDetails),
});
