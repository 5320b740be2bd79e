// E-mail through the operator's mail server. This is the only connector whose library opens
// sockets, within the deadline of `Effects.call`. The library is loaded for the first e-mail. A
// server on another machine must use TLS from the start or STARTTLS, with a valid certificate.

import type { Effects } from '../../kernel/effects.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import { isLoopbackHost } from '../../kernel/net/endpoint.ts';
import type { MailPort } from '../ports/index.ts';

interface SmtpSettings {
  /** `smtps://user:password@host:465`, or `smtp://` for STARTTLS. */
  url: string;
  /** An address, or `Name <address>`. */
  from: string;
}

/** Limit of each step. The whole exchange must be complete before the lease of its job expires. */
const STEP_TIMEOUT_MS = 5_000;
const LIMITS = {
  timeoutMs: 15_000,
  /** A status is a valid response, except 421, with which the service closes the connection. */
  isAnswer: (error: unknown) => {
    const { responseCode } = error as SmtpError;
    return typeof responseCode === 'number' && responseCode !== 421;
  },
};

/** Bad sequence of commands, authentication required, and invalid credentials. */
const SENDER_ERRORS = [503, 530, 535];

interface SmtpError {
  code?: unknown;
  command?: unknown;
  responseCode?: unknown;
}

/**
 * Whether the rejection is permanent: an invalid address or rejected content. A rejection of the
 * login or the sender is temporary, because the operator can fix it before the message expires.
 */
function isRejection({ code, command, responseCode }: SmtpError): boolean {
  if (code === 'EENVELOPE' && command === 'API') return true;
  const status = Number(responseCode);
  if (command !== 'RCPT TO' && command !== 'DATA') return false;
  return status >= 500 && status < 600 && !SENDER_ERRORS.includes(status);
}

/** The error omits the server's text, because that text repeats the recipient. */
const failure = ({ code, command, responseCode }: SmtpError): Error =>
  new Error(
    `the mail server did not accept the message: ${[code, command, responseCode].join(' ').trim()}`,
  );

function connectionOf(address: string) {
  const url = new URL(address);
  const isSecure = url.protocol === 'smtps:';
  const isLocal = isLoopbackHost(url.hostname);
  const auth = {
    user: decodeURIComponent(url.username),
    pass: decodeURIComponent(url.password),
  };
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isSecure ? 465 : 587),
    secure: isSecure,
    ...(isLocal && !isSecure ? { ignoreTLS: true } : { requireTLS: true }),
    ...(url.username ? { auth } : {}),
    dnsTimeout: STEP_TIMEOUT_MS,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const addressIn = (from: string): string => /<(.+)>$/.exec(from)?.[1] ?? from;

/** The library parses any other form as a list of recipients. */
const ONE_ADDRESS = /^[^\s<>(),:;"@]+@[^\s<>(),:;"@]+$/;

/** Text of a platform as one line of a header. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** The ID is the same for every attempt at one message, so that mail servers detect duplicates. */
const messageIdOf = (id: string, from: string): string =>
  `<${id.replace(/^\w+:/, '')}@${from.slice(from.lastIndexOf('@') + 1)}>`;

export function smtpMail(effects: Effects, { url, from }: SmtpSettings): MailPort {
  const connection = connectionOf(url);
  const sender = addressIn(from);
  return {
    async send({ id, to, subject, text, senderName, replyTo }) {
      if (!ONE_ADDRESS.test(to)) return 'rejected';
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(connection);
      try {
        const mail = {
          from: senderName ? { name: oneLine(senderName), address: sender } : from,
          ...(replyTo && ONE_ADDRESS.test(replyTo)
            ? { replyTo: { name: '', address: replyTo } }
            : {}),
          to: { name: '', address: to },
          envelope: { from: sender, to },
          subject,
          text,
          messageId: messageIdOf(id, sender),
          date: new Date(effects.now()),
          headers: { 'Auto-Submitted': 'auto-generated' },
        };
        await effects.call(LIMITS, (signal) => transport.sendMail({ ...mail, signal }));
        return 'sent';
      } catch (error) {
        if (circuitOpenIn(error)) throw error;
        if (isRejection(error as SmtpError)) return 'rejected';
        throw failure(error as SmtpError);
      } finally {
        transport.close();
      }
    },
  };
}
