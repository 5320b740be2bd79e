// Messages to people, by e-mail or SMS. To whom one goes and what it says is sealed: under the data key of
// the customer it is for, which forgets it together with the customer, else under the master key. What it
// said is forgotten as soon as it is out, because most of what is sent is a code.
import { stateTable } from '../../../kernel/states.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';

export type MessageChannel = 'EMAIL' | 'SMS';
type MessageStatus = 'QUEUED' | 'SENT' | 'KEPT' | 'FAILED';
export type MessageFailure = 'REFUSED' | 'EXPIRED' | 'ERASED' | 'NOT_CONNECTED';

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
    channel: col.word<MessageChannel>(),
    /** What it is about, for those who look at the list. */
    kind: col.text,
    status: col.word<MessageStatus>().mut,
    /** Sealed; null once erased. */
    recipient: col.text.null.mut,
    /** `Content`, sealed; null once it was sent, failed or was erased. */
    content: col.text.null.mut,
    failure: col.word<MessageFailure>().null.mut,
    /** How often it was tried when it came to its end. */
    attempts: col.int4.mut,
    /** It is not sent any more from then on. */
    expires_at: col.time,
    sent_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: messageStates }] },
);

export type MessageRow = RowOf<typeof messages>;

/** Messages whose columns equal all the given values. */
export const findMessages = (
  db: Pick<Database, 'find'>,
  where: Partial<MessageRow>,
): Promise<MessageRow[]> => db.find(messages, where);

export interface Content {
  /** Of an e-mail. */
  subject?: string | undefined;
  text: string;
  /** Of an e-mail: the name it comes from, and where answers go; the operator's own unless said. */
  senderName?: string | undefined;
  replyTo?: string | undefined;
}

/** What a message says; each part is missing once it was forgotten. */
interface OpenedMessage extends Partial<Content> {
  to?: string;
}

const contextOf = (id: string, column: 'recipient' | 'content') => `messages ${id} ${column}`;

/** The two sealed columns of the message `id`. */
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

/** `key` is that of the customer; without it nothing of a customer's message can be read any more. */
export function openMessage(
  vault: Vault,
  key: DataKey | undefined,
  row: MessageRow,
): OpenedMessage {
  if (row.customer_id !== null && !key) return {};
  const opened = (column: 'recipient' | 'content') => {
    const sealed = row[column];
    if (sealed === null) return undefined;
    const context = contextOf(row.id, column);
    return String(key ? vault.open(key, sealed, context) : vault.openOwn(sealed, context));
  };
  const [to, content] = [opened('recipient'), opened('content')];
  return {
    ...(to === undefined ? {} : { to }),
    ...(content === undefined ? {} : (JSON.parse(content) as Content)),
  };
}
