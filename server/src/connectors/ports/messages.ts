// E-mails and text messages.

/** A message to a person. */
interface OutgoingMessage {
  /** Unique for the message. Repetitions have the same ID. */
  id: string;
  /** An e-mail address, or a telephone number in E.164 format. */
  to: string;
  text: string;
}

/**
 * `sent`: the service has accepted the message. `rejected`: the service never accepts it. An
 * error is retried until the message expires. The error contains no recipient and no text.
 */
type MessageReply = 'sent' | 'rejected';

interface OutgoingMail extends OutgoingMessage {
  subject: string;
  /** Sender name and reply address. Default: the operator's. */
  senderName?: string | undefined;
  replyTo?: string | undefined;
}

export interface MailPort {
  send(message: OutgoingMail): Promise<MessageReply>;
}

export interface SmsPort {
  send(message: OutgoingMessage): Promise<MessageReply>;
}
