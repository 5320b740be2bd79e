// Sending a message: an operation stages it, a job hands it over after the commit. A connector that does
// not answer is tried again until the message has expired; a code that ran out is not sent any more. Where
// no connector is there the sandbox keeps the message, for the operator to read, and nothing goes out.

import { Type } from '@sinclair/typebox';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { defineJob, type JobDefinition, PlatformFields } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
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

/** A kind for each channel: jobs that wait for a provider leave the places of the other one. */
const SEND = {
  EMAIL: defineJob('messages.send', SendInput),
  SMS: defineJob('messages.send-sms', SendInput),
} as const satisfies Record<MessageChannel, JobDefinition>;
/** How long a message is tried that does not say so itself. */
const USUAL_LIFE_MS = 86_400_000;
/** More than fit into a day with the waits between them: a message expires before its job is dead. */
const MAX_ATTEMPTS = 48;

interface NewMessage extends Content {
  channel: MessageChannel;
  /** An e-mail address, or a telephone number in E.164 form. */
  to: string;
  /** What it is about; no part of what is sent. */
  kind: string;
  /** Whom it is for; its key seals the message. */
  customer?: { id: string; data_key: string | null };
  /** When it is of no use any more; a day unless said otherwise. */
  expiresAt?: number;
}

const keyFor = (id: string, sealed: string | null): DataKey | undefined =>
  sealed === null ? undefined : { owner: id, sealed };

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
    expires_at: message.expiresAt ?? ctx.now + USUAL_LIFE_MS,
    created_at: ctx.now,
  });
  ctx.later(SEND[channel], { messageId: id, platformId, environment });
  return row;
}

/** Reads the data key of a customer, who is a later feature's; undefined once it was forgotten. */
export type CustomerKey = (reader: Reader, customerId: string) => Promise<DataKey | undefined>;

/** A message with what it says, as far as it can still be opened. */
export async function openMessageOf(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  customerKey: CustomerKey,
  row: MessageRow,
) {
  const key = row.customer_id === null ? undefined : await customerKey(db, row.customer_id);
  return openMessage(vault, key, row);
}

/** Whether somebody carries messages of this channel, or the sandbox keeps them. */
export function canSend(
  { mail, sms }: Connectors,
  channel: MessageChannel,
  environment: Mode,
): boolean {
  return environment === 'sandbox' || (channel === 'EMAIL' ? mail : sms) !== undefined;
}

type Outcome = { move: 'send' | 'keep' } | { move: 'fail'; failure: MessageFailure };

const failed = (failure: MessageFailure): Outcome => ({ move: 'fail', failure });

async function handOver(
  runtime: Runtime,
  customerKey: CustomerKey,
  { mail, sms }: Connectors,
  environment: Mode,
  row: MessageRow,
): Promise<Outcome> {
  if (runtime.effects.now() >= row.expires_at) return failed('EXPIRED');
  const port = row.channel === 'EMAIL' ? mail : sms;
  if (!port) return environment === 'sandbox' ? { move: 'keep' } : failed('NOT_CONNECTED');
  const opened = await openMessageOf(runtime, customerKey, row);
  const { to, subject = '', text, senderName, replyTo } = opened;
  if (to === undefined || text === undefined) return failed('ERASED');
  const message = { id: row.id, to, subject, text, senderName, replyTo };
  return (await port.send(message)) === 'sent' ? { move: 'send' } : failed('REFUSED');
}

/** Ends a message; what was kept for nobody to be sent is forgotten. */
function endMessage(ctx: Ctx, row: MessageRow, outcome: Outcome, attempts: number): void {
  ctx.update(messages, row, {
    status: messageStates.next(row.status, outcome.move),
    attempts,
    ...(outcome.move === 'keep' ? {} : { content: null }),
    ...(outcome.move === 'send' ? { sent_at: ctx.now } : {}),
    ...(outcome.move === 'fail' ? { failure: outcome.failure } : {}),
  });
}

interface MessageParts {
  connectors(environment: Mode): Connectors;
  customerKey: CustomerKey;
}

/** The jobs that send; list them where the worker is built. Each kind sends messages of any channel. */
export const messageJobs = ({ connectors, customerKey }: MessageParts): JobHandler[] =>
  Object.values(SEND).map((definition) =>
    jobHandler(definition, {
      maxAttempts: MAX_ATTEMPTS,
      run: async (runtime, job) => {
        const { messageId, platformId, environment } = job.input;
        const caller = systemCaller(platformId, environment);
        const row = await runtime.db.read(messages, messageId);
        if (row?.status !== 'QUEUED') return { caller, stage: async () => {} };
        const connected = connectors(environment);
        const outcome = await handOver(runtime, customerKey, connected, environment, row);
        return {
          caller,
          async stage(ctx) {
            const now = await ctx.read(messages, messageId);
            if (now?.status === 'QUEUED') endMessage(ctx, now, outcome, job.attempts);
          },
        };
      },
    }),
  );

/** Forgets whom a customer's messages went to and what they said; what waits is not sent any more. */
export async function eraseMessages(ctx: Ctx, customerId: string): Promise<void> {
  for (const row of await ctx.db.find(messages, { customer_id: customerId }, ALL_OF_ONE)) {
    if (row.status === 'QUEUED') endMessage(ctx, row, failed('ERASED'), row.attempts);
    if (row.recipient === null && row.content === null) continue;
    ctx.update(messages, row, { recipient: null, content: null });
  }
}
