// Invalid forms against a listening server, and slow uploads with fake timers. An invalid form is rejected
// with an error for each invalid part, and no file is stored. A connection remains usable after a complete
// form.
import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import {
  type Entry,
  formOf,
  GOOD,
  MAX_FILE_BYTES,
  startUploads,
  TYPE,
} from '../../../test/kit/http/upload.ts';
import type { UploadedFile } from '../../kernel/contract/upload.ts';
import { BASE_PATH } from '../server.ts';
import { readForm } from './multipart.ts';

const uploads = openForFile(startUploads);

const fieldsOf = (reply: { body: { details?: { errors?: { field: string }[] } } }) =>
  (reply.body.details?.errors ?? []).map((error) => error.field).sort();

const entriesOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, index) => [`f${index}`, 'x'] as Entry);

describe('an invalid form', () => {
  const oversizedFile = Buffer.alloc(MAX_FILE_BYTES + 1);
  const cases: [string, Entry[], string[]][] = [
    ['lacks its file', [['name', 'ab']], ['file']],
    ['has no parts', [], ['file', 'name']],
    [
      'has too large a file',
      [
        ['file', oversizedFile, 'a'],
        ['name', 'ab'],
      ],
      ['file'],
    ],
    [
      'has invalid fields and an invalid file',
      [
        ['file', oversizedFile, 'a'],
        ['side', 'UP'],
      ],
      ['file', 'name', 'side'],
    ],
    ['has two files', [...GOOD, ['file', 'again', 'b']], ['file']],
    ['has an additional file', [...GOOD, ['other', 'again', 'b']], ['other']],
    [
      'has text for a file',
      [
        ['name', 'ab'],
        ['file', 'text'],
      ],
      ['file'],
    ],
    ['has a repeated field', [...GOOD, ['name', 'again']], ['name']],
    ['has a NUL', [['name', 'a\0b'], ...GOOD.slice(1)], ['name']],
    ['has too long a field', [['name', 'x'.repeat(10_241)], ...GOOD.slice(1)], ['name']],
    ['has too long a field name', [...GOOD, ['n'.repeat(101), 'x']], ['n'.repeat(100)]],
    [
      'has too long a file name',
      [
        ['name', 'ab'],
        ['file', 'x', 'f'.repeat(256)],
      ],
      ['file'],
    ],
    ['has a field without a name', [...GOOD, ['', 'x']], ['']],
  ];

  it.each(cases)('is rejected with all errors if it %s', async (_name, entries, expectedErrors) => {
    const namesBefore = await uploads.storedNames();
    const reply = await uploads.send(entries);
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(reply)).toEqual(expectedErrors);
    expect(await uploads.storedNames()).toEqual(namesBefore);
  });

  it.each([
    ['has too many fields', formOf([...GOOD, ...entriesOf(30)])],
    ['has no end', formOf(GOOD, '')],
    ['ends inside its file', formOf(GOOD).subarray(0, -12)],
    ['ends inside a field', formOf([...GOOD].reverse()).subarray(0, -14)],
    ['is text without parts', Buffer.from('hello')],
    ['is empty', Buffer.alloc(0)],
    ['is JSON', '{"name":"ab"}', { 'content-type': 'application/json' }],
    ['has no boundary', formOf(GOOD), { 'content-type': 'multipart/form-data' }],
    ['has a long boundary', formOf(GOOD), { 'content-type': `${TYPE}${'b'.repeat(200)}` }],
  ] as [string, Buffer, Record<string, string>?][])(
    'is rejected with a reason if it %s',
    async (_name, body, headers) => {
      const namesBefore = await uploads.storedNames();
      const reply = await uploads.post(body, headers);
      expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(reply.body.reason).toMatch(/multipart|fields|file|Content-Type/);
      expect(await uploads.storedNames()).toEqual(namesBefore);
    },
  );

  it('keeps its connection usable', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const exchange = (body: Buffer) =>
      new Promise<[number, number]>((resolve, reject) => {
        const headers = { authorization: 'Basic good', 'content-type': TYPE };
        const request = http.request(uploads.url, { method: 'POST', agent, headers }, (reply) => {
          const port = reply.socket.localPort ?? 0;
          reply.resume().on('end', () => resolve([reply.statusCode ?? 0, port]));
        });
        request.on('error', reject).end(body);
      });
    const rejection = await exchange(formOf([['file', oversizedFile, 'a']]));
    expect(rejection[0]).toBe(400);
    expect(await exchange(formOf(GOOD))).toEqual([201, rejection[1]]);
    agent.destroy();
  });

  it('is read only up to the limit if its file is endless', async () => {
    const socket = net.connect(uploads.port, '127.0.0.1');
    socket.on('error', () => undefined);
    let response = '';
    socket.on('data', (chunk) => {
      response += chunk;
    });
    const head = `POST ${BASE_PATH}/things HTTP/1.1\r\nhost: a\r\nauthorization: Basic good\r\n`;
    socket.write(`${head}content-type: ${TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`);
    const start = formOf([['file', '', 'a']], '').subarray(0, -2);
    socket.write(`${start.length.toString(16)}\r\n${start}\r\n`);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const closePromise = new Promise((resolve) => socket.on('close', resolve));
    const sender = setInterval(() => socket.write(chunk), 1);
    await closePromise;
    clearInterval(sender);
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(response).toContain('"field":"file"');
  });
});

describe('a slow upload', () => {
  beforeAll(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
  });
  afterAll(() => void vi.useRealTimers());

  const runTurns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const storedFile: UploadedFile = {
    ...{ id: 'File:1', fileName: 'a', size: 5, sha256: '', findings: null },
    key: new Uint8Array(32),
  };
  /**
   * Reads a form into storage that needs a minute for every chunk, and another for the complete
   * file.
   */
  async function read(body: Readable): Promise<string> {
    const waitMinute = () => new Promise((resolve) => setTimeout(resolve, 60_000));
    const form = readForm(body, {
      contentType: TYPE,
      maxBytes: 1_000_000,
      async store(source) {
        for await (const _ of source) await waitMinute();
        await waitMinute();
        return storedFile;
      },
    }).then(
      ({ file }) => file?.id ?? 'no file',
      (error: Error) => error.message,
    );
    for (let step = 0; step < 20; step++) {
      await runTurns();
      vi.advanceTimersByTime(30_000);
    }
    return Promise.race([form, runTurns().then(() => 'nothing yet')]);
  }

  it('succeeds even if storage is slow', async () => {
    expect(await read(Readable.from([formOf(GOOD)]))).toBe('File:1');
  });

  it('fails if no more data arrives', async () => {
    const body = new Readable({ read: () => undefined });
    body.push(formOf(GOOD, ''));
    expect(await read(body)).toContain('The body took too long to arrive.');
  });
});
