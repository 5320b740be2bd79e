// Sending messages. An operation stages a message. After the commit a job passes it to the
// connector, with retries until the message expires. In the sandbox without a connector, the
// message is stored for the operator to read and is not sent.

import { Type } from '@sinclair/typebox';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { defineJob, type JobDefinition, PlatformFields } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { DataKey } from '../../../runtime/security/vault.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import {
  type Content,
  type MessageChannel,
  type MessageFailure,
  type MessageRow,
  messageStates,
  messages,
  openMessage,
  sealMessage,
} from './store.ts';

const SendInput = Type.Object({ messageId: Type.String(), ...PlatformFields });

/**
 * One job kind per channel, so that a slow provider of one channel does not use the concurrency of
 * the other.
 */
const SEND = {
  EMAIL: defineJob('messages.send', SendInput),
  SMS: defineJob('messages.send-sms', SendInput),
} as const satisfies Record<MessageChannel, JobDefinition>;
const DEFAULT_VALIDITY_MS = 86_400_000;
/**
 * More attempts than the backoff allows in a day, so that a message expires before its job fails.
 */
const MAX_ATTEMPTS = 48;

interface NewMessage extends Content {
  channel: MessageChannel;
  /** An e-mail address, or a telephone number in E.164 form. */
  to: string;
  /** Purpose of the message, for the operator only. */
  kind: string;
  /** The recipient, whose data key encrypts the message. */
  customer?: { id: string; data_key: string | null };
  /** Defaults to one day. */
  expiresAt?: number;
}

const keyFor = (id: string, sealedKey: string | null): DataKey | undefined =>
  sealedKey === null ? undefined : { owner: id, sealed: sealedKey };

/** Stages a message of the calling platform and the job that sends it. */
export function sendMessage(ctx: Ctx, message: NewMessage): MessageRow {
  const { channel, to, kind, customer, subject, text, senderName, replyTo } = message;
  const { platformId, environment } = ctx.caller;
  const id = ctx.id('Message');
  const key = customer && keyFor(customer.id, customer.data_key);
  if (customer && !key) throw new Error(`the data of ${customer.id} was erased`);
  const row = ctx.insert(messages, {
    id,
    platform_id: platformId,
    customer_id: customer?.id ?? null,
    channel,
    kind,
    status: 'QUEUED',
    ...sealMessage(ctx.vault, key, id, { to, subject, text, senderName, replyTo }),
    attempts: 0,
    expires_at: message.expiresAt ?? ctx.now + DEFAULT_VALIDITY_MS,
    created_at: ctx.now,
  });
  ctx.later(SEND[channel], { messageId: id, platformId, environment });
  return row;
}

/**
 * Returns a customer's data key, or undefined after an erasure. The function is a port, because the
 * customers feature depends on messages.
 */
export type CustomerKey = (reader: Reader, customerId: string) => Promise<DataKey | undefined>;

/** Decrypts a message. Cleared fields are missing. */
export async function openMessageOf(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  customerKey: CustomerKey,
  row: MessageRow,
) {
  const key = row.customer_id === null ? undefined : await customerKey(db, row.customer_id);
  return openMessage(vault, key, row);
}

/** Whether a provider for the channel is connected. Always true in the sandbox. */
export function canSend(
  { mail, sms }: Connectors,
  channel: MessageChannel,
  environment: Mode,
): boolean {
  return environment === 'sandbox' || (channel === 'EMAIL' ? mail : sms) !== undefined;
}

type Outcome = { event: 'send' | 'keep' } | { event: 'fail'; failure: MessageFailure };

const failWith = (failure: MessageFailure): Outcome => ({ event: 'fail', failure });

async function submit(
  runtime: Runtime,
  customerKey: CustomerKey,
  { mail, sms }: Connectors,
  environment: Mode,
  row: MessageRow,
): Promise<Outcome> {
  const now = await runtime.clocks.nowOf({ platformId: row.platform_id });
  if (now >= row.expires_at) return failWith('EXPIRED');
  const port = row.channel === 'EMAIL' ? mail : sms;
  if (!port) return environment === 'sandbox' ? { event: 'keep' } : failWith('NOT_CONNECTED');
  const openedMessage = await openMessageOf(runtime, customerKey, row);
  const { to, subject = '', text, senderName, replyTo } = openedMessage;
  if (to === undefined || text === undefined) return failWith('ERASED');
  const message = { id: row.id, to, subject, text, senderName, replyTo };
  return (await port.send(message)) === 'sent' ? { event: 'send' } : failWith('REFUSED');
}

/**
 * Stages the final status. Only messages that the sandbox stores instead of sending retain their
 * content.
 */
function endMessage(ctx: Ctx, row: MessageRow, outcome: Outcome, attempts: number): void {
  ctx.update(messages, row, {
    status: messageStates.next(row.status, outcome.event),
    attempts,
    ...(outcome.event === 'keep' ? {} : { content: null }),
    ...(outcome.event === 'send' ? { sent_at: ctx.now } : {}),
    ...(outcome.event === 'fail' ? { failure: outcome.failure } : {}),
  });
}

interface MessageDeps {
  connectors(environment: Mode): Connectors;
  customerKey: CustomerKey;
}

/** The jobs that send messages. Each kind can send messages of any channel. */
export const messageJobs = ({ connectors, customerKey }: MessageDeps): JobHandler[] =>
  Object.values(SEND).map((definition) =>
    jobHandler(definition, {
      maxAttempts: MAX_ATTEMPTS,
      run: async (runtime, job) => {
        const { messageId, platformId, environment } = job.input;
        const caller = systemCaller(platformId, environment);
        const row = await runtime.db.read(messages, messageId);
        if (row?.status !== 'QUEUED') return { caller, stage: async () => {} };
        const connectedPorts = connectors(environment);
        const outcome = await submit(runtime, customerKey, connectedPorts, environment, row);
        return {
          caller,
          async stage(ctx) {
            const currentRow = await ctx.read(messages, messageId);
            if (currentRow?.status === 'QUEUED') endMessage(ctx, currentRow, outcome, job.attempts);
          },
        };
      },
    }),
  );

/** Clears recipient and content of a customer's messages. Queued messages are not sent. */
export async function eraseMessages(ctx: Ctx, customerId: string): Promise<void> {
  for (const row of await ctx.db.find(messages, { customer_id: customerId }, UNPAGED)) {
    if (row.status === 'QUEUED') endMessage(ctx, row, failWith('ERASED'), row.attempts);
    if (row.recipient === null && row.content === null) continue;
    ctx.update(messages, row, { recipient: null, content: null });
  }
}
