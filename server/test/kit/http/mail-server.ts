// A local mail server of an operator. It requires a login, records received mail and rejects the
// recipients that the test selects.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  from: string;
  to: string[];
  /** As received: headers, an empty line and the text. */
  rawText: string;
}

export interface MailServer {
  readonly port: number;
  /** URL with the required login. */
  readonly url: string;
  readonly receivedMail: ReceivedMail[];
  /** Rejects a recipient with this status. */
  reject(address: string, status: number): void;
  close(): Promise<void>;
}

const LOGIN = { user: 'railhead', pass: 'p@ss:word' };

const smtpError = (status: number, text: string) =>
  Object.assign(new Error(text), { responseCode: status });

/** `starttls` offers TLS with an untrusted certificate. `secure` accepts TLS only. */
export async function startMailServer(
  options: { starttls?: boolean; secure?: boolean } = {},
): Promise<MailServer> {
  const receivedMail: ReceivedMail[] = [];
  const rejectedRecipients = new Map<string, number>();
  const server = new SMTPServer({
    secure: options.secure ?? false,
    disabledCommands: options.starttls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    // Client names are not resolved, because a machine without DNS would wait for each.
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      const isValid = username === LOGIN.user && password === LOGIN.pass;
      if (isValid) callback(null, { user: LOGIN.user });
      else callback(smtpError(535, 'The user name or password is invalid.'));
    },
    onRcptTo({ address }, _session, callback) {
      const status = rejectedRecipients.get(address);
      callback(
        status === undefined ? null : smtpError(status, `The recipient ${address} is rejected.`),
      );
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope;
        receivedMail.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map((recipient) => recipient.address),
          rawText: Buffer.concat(chunks).toString('utf8'),
        });
        callback();
      });
    },
  });
  // An interrupted client emits an error.
  server.on('error', () => undefined);
  server.listen(0, '0.0.0.0');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const login = `${LOGIN.user}:${encodeURIComponent(LOGIN.pass)}`;
  return {
    port,
    url: `smtp://${login}@127.0.0.1:${port}`,
    receivedMail,
    reject: (address, status) => void rejectedRecipients.set(address, status),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
