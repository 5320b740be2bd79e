// Types of events, with the data of each type.
import type { EventDataByType } from './generated/events.ts';

/** A type of event, such as `OUTGOING_PAYMENT.COMPLETED`. */
export type EventType = keyof EventDataByType;

/** Content of a webhook. `type` discriminates `data`. */
export type WebhookEvent<Type extends EventType = EventType> = {
  [Each in Type]: {
    /** Identical in every delivery of the event. Use it to detect duplicates. */
    readonly id: string;
    readonly type: Each;
    readonly timestamp: string;
    readonly data: EventDataByType[Each];
  };
}[Type];

/** An event of the list. Its data is null after the erasure of the customer. */
export type StoredEvent<Type extends EventType = EventType> = {
  [Each in Type]: {
    readonly id: string;
    readonly type: Each;
    readonly timestamp: string;
    readonly resourceId?: string;
    readonly data: EventDataByType[Each] | null;
  };
}[Type];
