// E-mails and text messages.

/** A message to a person. */
interface OutgoingMessage {
  /** Unique for the message. Repetitions have the same. */
  id: string;
  /** An e-mail address, or a telephone number in E.164 format. */
  to: string;
  text: string;
}

/**
 * `sent`: the service has accepted it. `rejected`: it will never be accepted. An error is retried
 * while the message is useful. It contains neither recipient nor text.
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
