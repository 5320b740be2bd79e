// E-mail through a local mail server: the received message, the meaning of each rejection, the
// requirement of TLS, and the deadline. 0.0.0.0 represents a remote host, because the connector
// does not treat it as this machine.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { type MailServer, startMailServer } from '../../../test/kit/http/mail-server.ts';
import { smtpMail } from './mail.ts';

const from = 'Railhead <codes@pay.example.com>';
const message = {
  id: 'Message:018f0000-0000-7000-8000-000000000001',
  to: 'ada@example.org',
  subject: 'Your code for Käse & Söhne',
  text: '042137 is your code.\nDo not pass it on.',
};

let server: MailServer;
beforeEach(async () => {
  server = await startMailServer();
});
afterEach(() => server.close());

const mail = (url = server.url) => smtpMail(testEffects(), { url, from });

async function errorTextOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error))
    throw new Error('The message was sent, but an error was expected.');
  return `${error.message} ${error.stack} ${String(error.cause)}`;
}

describe('smtpMail', () => {
  it('logs in and sends one message with plain text', async () => {
    expect(await mail().send(message)).toBe('sent');
    const [receivedMessage] = server.receivedMail;
    expect(receivedMessage).toMatchObject({ from: 'codes@pay.example.com', to: [message.to] });
    expect(receivedMessage?.rawText).toContain('From: Railhead <codes@pay.example.com>');
    expect(receivedMessage?.rawText).toContain(`To: ${message.to}`);
    expect(receivedMessage?.rawText).toContain('Date: Mon, 05 Jan 2026 09:00:00 +0000');
    expect(receivedMessage?.rawText).toContain('Auto-Submitted: auto-generated');
    expect(receivedMessage?.rawText).toContain('042137 is your code.\r\nDo not pass it on.');
    expect(receivedMessage?.rawText).not.toContain('text/html');
  });

  it('sends a message with the same ID each time', async () => {
    await mail().send(message);
    await mail().send(message);
    await mail().send({ ...message, id: 'Message:018f0000-0000-7000-8000-000000000002' });
    const ids = server.receivedMail.map(({ rawText }) =>
      /^Message-ID: (.*)$/im.exec(rawText)?.[1]?.trim(),
    );
    expect(ids[0]).toBe('<018f0000-0000-7000-8000-000000000001@pay.example.com>');
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('sends to exactly one address', async () => {
    for (const to of ['ada@example.org, eve@example.org', 'ada@a.org eve@b.org', 'x: ada@a.org;']) {
      expect([to, await mail().send({ ...message, to })]).toEqual([to, 'rejected']);
    }
    expect(server.receivedMail).toEqual([]);
    const messageWithLineBreak = { ...message, subject: 'Hello\r\nBcc: eve@example.org' };
    expect(await mail().send(messageWithLineBreak)).toBe('sent');
    expect(server.receivedMail[0]?.to).toEqual([message.to]);
    expect(server.receivedMail[0]?.rawText).not.toMatch(/^Bcc:/m);
  });

  it('uses the sender name and a valid reply address of a message', async () => {
    const messageWithSender = { ...message, senderName: 'Bank "Söhne"\r\nBcc: eve@example.org' };
    await mail().send({ ...messageWithSender, replyTo: 'help@bank.example.com' });
    await mail().send({ ...messageWithSender, replyTo: 'a@b.example.com, eve@example.org' });
    const [firstMail, secondMail] = server.receivedMail;
    expect(firstMail).toMatchObject({ from: 'codes@pay.example.com', to: [message.to] });
    expect(firstMail?.rawText).toMatch(/^From: =\?UTF-8\?.*<codes@pay\.example\.com>\r$/ms);
    expect(firstMail?.rawText).not.toMatch(/^Bcc:|=0D|=0A/m);
    expect(firstMail?.rawText).toContain('Reply-To: help@bank.example.com');
    expect(secondMail?.rawText).not.toMatch(/^Reply-To:/m);
  });

  it.each([550, 501, 553])(
    'returns rejected for a recipient that the server rejects with %s',
    async (status) => {
      server.reject(message.to, status);
      expect(await mail().send(message)).toBe('rejected');
    },
  );

  it.each([451, 503, 530])(
    'throws an error without the text of the server if it replies %s',
    async (status) => {
      server.reject(message.to, status);
      const errorText = await errorTextOf(mail().send(message));
      expect(errorText).toContain(`RCPT TO ${status}`);
      expect(errorText).not.toContain('ada@');
      expect(errorText).not.toContain('042137');
    },
  );

  it('throws if the login is invalid, without the login in the message', async () => {
    const errorText = await errorTextOf(
      mail(`smtp://railhead:hunter2@127.0.0.1:${server.port}`).send(message),
    );
    expect(errorText).toContain('EAUTH');
    expect(errorText).not.toContain('hunter2');
    expect(server.receivedMail).toEqual([]);
  });

  it('throws if the connection is refused', async () => {
    const errorText = await errorTextOf(mail('smtp://127.0.0.1:9').send(message));
    expect(errorText).toContain('the mail server did not accept the message');
  });

  it('sends no login and no message to another machine without TLS', async () => {
    const remoteUrl = server.url.replace('127.0.0.1', '0.0.0.0');
    const errorText = await errorTextOf(mail(remoteUrl).send(message));
    expect(errorText).toMatch(/ETLS|STARTTLS/);
    expect(server.receivedMail).toEqual([]);
  });

  it.each([
    ['STARTTLS', 'smtp', { starttls: true }],
    ['TLS from the start', 'smtps', { secure: true }],
  ])('rejects a self-signed certificate, with %s', async (_description, scheme, options) => {
    const otherMailServer = await startMailServer(options);
    const remoteUrl = otherMailServer.url
      .replace('smtp://', `${scheme}://`)
      .replace('127.0.0.1', '0.0.0.0');
    expect(await errorTextOf(mail(remoteUrl).send(message))).toContain(
      'did not accept the message',
    );
    expect(otherMailServer.receivedMail).toEqual([]);
    await otherMailServer.close();
  });
});

describe('the connection to a mail server that hangs', () => {
  /**
   * A server that sends no reply, or with `hasGreeting` a greeting and then endless reply lines.
   */
  async function hangingServer(hasGreeting: boolean): Promise<{ url: string; close(): void }> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (!hasGreeting) return;
      socket.write('220 ready\r\n');
      const lineTimer = setInterval(() => socket.write('250-more\r\n'), 500);
      socket.on('close', () => clearInterval(lineTimer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const close = () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
    return { url: `smtp://127.0.0.1:${port}`, close };
  }

  it.concurrent.each([
    ['without a reply', false],
    ['with endless reply lines', true],
  ])(
    'is aborted within the deadline, %s',
    async (_description, hasGreeting) => {
      const hangingMailServer = await hangingServer(hasGreeting);
      const startMs = performance.now();
      expect(await errorTextOf(mail(hangingMailServer.url).send(message))).toContain(
        'did not accept the message',
      );
      expect(performance.now() - startMs).toBeLessThan(17_000);
      hangingMailServer.close();
    },
    40_000,
  );
});
