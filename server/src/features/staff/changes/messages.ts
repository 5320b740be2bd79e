// Messages of the change stream, derived from events and audit records.
import type { Operator } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import type { EventHead } from '../../notifications/events/index.ts';
import type { RecordHead } from '../audit/index.ts';
import { type ChangePosition, isEventAfter, laterOf } from './cursor.ts';

/** Changes between two positions. */
export interface Batch {
  events: readonly EventHead[];
  records: readonly RecordHead[];
  /** The position after the changes. */
  position: ChangePosition;
}

export interface Message {
  /** Of messages with the same key, the last one is sufficient. */
  key: string;
  position: ChangePosition;
  data: Record<string, unknown>;
}

const OPERATOR_CHANGE = 'OPERATOR.CHANGE';

/**
 * The part of a record that an operator receives. Without `audit.read` the operation is omitted. The part
 * then reports only that rows were changed, so that lists are read again.
 */
function recordData(operator: Operator, record: RecordHead): Record<string, unknown> | undefined {
  const { platformIds, permissions } = operator;
  const { platform_id: platformId, operation_id: operationId, subject } = record;
  if (platformIds !== null && !platformIds.includes(platformId ?? '')) return undefined;
  const summary = { type: OPERATOR_CHANGE, createdAt: iso(record.created_at) };
  if (!permissions.includes('audit.read')) return record.has_changes ? summary : undefined;
  return {
    ...summary,
    operationId,
    ...(subject === null ? {} : { subject }),
    ...(platformId === null ? {} : { platformId }),
  };
}

/** The messages of a batch for an operator who has received everything until `from`. */
export function messagesFor(operator: Operator, from: ChangePosition, batch: Batch): Message[] {
  const { platformIds } = operator;
  const events = batch.events.filter(
    (each) =>
      (platformIds === null || platformIds.includes(each.platformId)) && isEventAfter(each, from),
  );
  const eventMessages = events.map((event): Message => {
    const { position, id, type, resourceId, platformId, customerId, createdAt } = event;
    return {
      key: resourceId,
      position: { position, id, record: from.record },
      data: {
        ...{ type, resourceId, platformId },
        ...(customerId === undefined ? {} : { customerId }),
        createdAt: iso(createdAt),
      },
    };
  });
  const { position, id } = laterOf(from, batch.position);
  const recordMessages = batch.records.flatMap((record): Message[] => {
    const data = record.number > from.record ? recordData(operator, record) : undefined;
    if (!data) return [];
    const key = `${OPERATOR_CHANGE} ${data.operationId ?? ''} ${data.subject ?? ''}`;
    return [{ key, position: { position, id, record: record.number }, data }];
  });
  return [...eventMessages, ...recordMessages];
}

/** The last message of each key, in order. */
export function lastOfEach(messages: readonly Message[]): Message[] {
  const lastByKey = new Map<string, Message>();
  for (const each of messages) {
    lastByKey.delete(each.key);
    lastByKey.set(each.key, each);
  }
  return [...lastByKey.values()];
}
