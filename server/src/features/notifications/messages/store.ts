// E-mail and SMS messages. Recipient and content are encrypted with the data key of the customer,
// so that an erasure makes them unreadable. The master key encrypts messages to other recipients.
// The content is cleared after the message is sent, because most messages contain a one-time code.
import { stateTable } from '../../../kernel/states.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { SealedColumn } from '../../../runtime/security/sealed-columns.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';

export const MESSAGE_CHANNELS = ['EMAIL', 'SMS'] as const;
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number];
export const MESSAGE_STATUSES = ['QUEUED', 'SENT', 'KEPT', 'FAILED'] as const;
type MessageStatus = (typeof MESSAGE_STATUSES)[number];
export const MESSAGE_FAILURES = ['REFUSED', 'EXPIRED', 'ERASED', 'NOT_CONNECTED'] as const;
export type MessageFailure = (typeof MESSAGE_FAILURES)[number];

export const messageStates = stateTable<MessageStatus, 'send' | 'keep' | 'fail'>('message', {
  QUEUED: { send: 'SENT', keep: 'KEPT', fail: 'FAILED' },
  SENT: {},
  KEPT: {},
  FAILED: {},
});

export const messages = table(
  'messages',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text.null,
    channel: col.enum<MessageChannel>(),
    /** Purpose, such as `CONTACT_CODE`. Shown in the operator's list. */
    kind: col.text,
    status: col.enum<MessageStatus>().mut,
    /** Address or number of the recipient, encrypted, or null after an erasure. */
    recipient: col.text.null.mut,
    /** `Content`, encrypted, or null after the message was sent, has failed or was erased. */
    content: col.text.null.mut,
    failure: col.enum<MessageFailure>().null.mut,
    /** Send attempts, set in a final status. */
    attempts: col.int4.mut,
    /** Time after which the message is no longer sent. */
    expires_at: col.time,
    sent_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: messageStates }] },
);

export type MessageRow = RowOf<typeof messages>;

/** Messages whose columns equal all values of `where`. */
export const findMessages = (
  db: Pick<Database, 'find'>,
  where: Partial<MessageRow>,
): Promise<MessageRow[]> => db.find(messages, where);

export interface Content {
  /** E-mail only. */
  subject?: string | undefined;
  text: string;
  /** E-mail only: sender name and reply address. Default to the operator's. */
  senderName?: string | undefined;
  replyTo?: string | undefined;
}

/** The decrypted fields of a message. Cleared fields are missing. */
type OpenedMessage = { [Part in keyof Content | 'to']?: string };

const contextOf = (id: string, column: 'recipient' | 'content') => `messages ${id} ${column}`;

/**
 * Columns of messages to recipients other than customers. Messages to customers are sealed under
 * the customer's key.
 */
export const sealedMessageColumns = (['recipient', 'content'] as const).map(
  (column): SealedColumn => ({
    table: 'messages',
    column,
    contexts: (id) => [contextOf(id, column)],
    where: 'customer_id is null',
  }),
);

/** Encrypts recipient and content of the message `id`. */
export function sealMessage(
  vault: Vault,
  key: DataKey | undefined,
  id: string,
  { to, ...content }: Content & { to: string },
): { recipient: string; content: string } {
  const seal = (text: string, column: 'recipient' | 'content') =>
    key ? vault.seal(key, text, contextOf(id, column)) : vault.sealOwn(text, contextOf(id, column));
  return { recipient: seal(to, 'recipient'), content: seal(JSON.stringify(content), 'content') };
}

/**
 * Decrypts a message. `key` is the customer's data key. Without it, the result for a message to a
 * customer is empty.
 */
export function openMessage(
  vault: Vault,
  key: DataKey | undefined,
  row: MessageRow,
): OpenedMessage {
  if (row.customer_id !== null && !key) return {};
  const openColumn = (column: 'recipient' | 'content') => {
    const sealedText = row[column];
    if (sealedText === null) return undefined;
    const context = contextOf(row.id, column);
    return String(key ? vault.open(key, sealedText, context) : vault.openOwn(sealedText, context));
  };
  const [to, content] = [openColumn('recipient'), openColumn('content')];
  return {
    ...(to === undefined ? {} : { to }),
    ...(content === undefined ? {} : (JSON.parse(content) as OpenedMessage)),
  };
}
