// Requests with files against a listening server: admission, stored content, and removal of files that no
// operation attaches.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import {
  type Entry,
  formOf,
  GOOD,
  MAX_FILE_BYTES,
  SLOW_TIMEOUT,
  startUploads,
  TYPE,
  uploadThing,
} from '../../../test/kit/http/upload.ts';
import { namingFor } from '../../catalog/naming.ts';
import { runToEnd } from '../../kernel/steps.ts';
import { files } from '../../runtime/files/files.ts';
import { NO_EXAMPLES } from '../examples.ts';
import { openApiSteps } from '../openapi.ts';

const uploads = openForFile(startUploads);

describe('a valid form', () => {
  it('is passed to the operation as fields and a stored file', async () => {
    const namesBefore = await uploads.storedNames();
    const content = Buffer.alloc(150_000, 'z');
    const reply = await uploads.send([
      ...GOOD.slice(0, 1),
      ['file', content, 'C:\\tmp\\../scan\u0001.pdf'],
    ]);
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ fileName: 'scan.pdf', size: 150_000, name: 'passport' });
    expect(reply.body.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(reply.body.findings.chunks).toBeGreaterThan(0);
    expect(await uploads.storedNames()).toHaveLength(namesBefore.length + 1);
    const row = await uploads.app.runtime.db.read(files, reply.body.id);
    expect(row).toMatchObject({
      state: 'KEPT',
      size: 150_000n,
      platform_id: uploads.app.platform.id,
    });
  });

  it('may arrive in small chunks, without a length, with fields after the file', async () => {
    const body = formOf([...GOOD].reverse());
    const chunkedBody = new ReadableStream({
      start(controller) {
        for (const byte of body) controller.enqueue(Buffer.from([byte]));
        controller.close();
      },
    });
    const reply = await uploads.post(chunkedBody);
    expect([reply.status, reply.body.size, reply.body.name]).toEqual([201, 5, 'passport']);
  });

  it('may be encoded by FormData', async () => {
    const form = new FormData();
    form.set('name', 'Grüße 🎉');
    form.set('file', new Blob(['']), 'leer ü.pdf');
    const encodedForm = new Response(form);
    const type = encodedForm.headers.get('content-type') as string;
    const reply = await uploads.post(Buffer.from(await encodedForm.arrayBuffer()), {
      'content-type': type,
    });
    expect(reply.body).toMatchObject({ name: 'Grüße 🎉', fileName: 'leer ü.pdf', size: 0 });
  });

  it('may have exactly the maximum size', async () => {
    const reply = await uploads.send([
      ...GOOD.slice(0, 1),
      ['file', Buffer.alloc(MAX_FILE_BYTES), 'a'],
    ]);
    expect([reply.status, reply.body.size]).toEqual([201, MAX_FILE_BYTES]);
  });
});

describe('an upload whose body is not read yet', () => {
  /** Sends the head only. The reply arrives without the body. */
  async function sendHead(headers: Record<string, string>): Promise<number> {
    const request = http.request(uploads.url, { method: 'POST', headers });
    request.on('error', () => undefined);
    request.flushHeaders();
    const [reply] = (await once(request, 'response')) as [http.IncomingMessage];
    request.destroy();
    return reply.statusCode ?? 0;
  }
  const typeHeader = { 'content-type': TYPE };

  it('requires credentials and permission', async () => {
    const lengthHeader = { 'content-length': '100000' };
    expect(await sendHead({ ...typeHeader, ...lengthHeader })).toBe(401);
    expect(await sendHead({ ...typeHeader, ...lengthHeader, authorization: 'Basic viewer' })).toBe(
      403,
    );
  });

  it('is rejected with an error of the file if its length exceeds every limit', async () => {
    const headers = { ...typeHeader, authorization: 'Basic good', 'content-length': '999999999' };
    expect(await sendHead(headers)).toBe(400);
    const reply = await uploads.post(Buffer.alloc(MAX_FILE_BYTES + 1_500_000));
    expect([reply.status, reply.body.details.errors[0].field]).toEqual([400, 'file']);
  });
});

describe('an upload that no operation stores', () => {
  it.each(['reject', 'unused'])('is removed after the operation: %s', async (name) => {
    const namesBefore = await uploads.storedNames();
    const reply = await uploads.send([['name', name], ...GOOD.slice(1)]);
    expect(reply.status).toBe(name === 'reject' ? 409 : 201);
    expect(await uploads.storedNames()).toEqual(namesBefore);
  });

  it('is removed if the client disconnects during the upload', async () => {
    const namesBefore = await uploads.storedNames();
    const headers = {
      authorization: 'Basic good',
      'content-type': TYPE,
      'content-length': '150000',
    };
    const request = http.request(uploads.url, { method: 'POST', headers });
    request.on('error', () => undefined);
    request.write(formOf([['file', 'x'.repeat(100_000), 'a']], ''));
    await expect
      .poll(async () => (await uploads.storedNames()).length, SLOW_TIMEOUT)
      .toBe(namesBefore.length + 1);
    request.destroy();
    await expect.poll(uploads.storedNames, SLOW_TIMEOUT).toEqual(namesBefore);
  });
});

describe('an idempotency key', () => {
  it('returns the first reply for the same form without a second file', async () => {
    const headers = { 'idempotency-key': 'one' };
    const firstReply = await uploads.send(
      [
        ['name', 'ab'],
        ['file', 'hello', 'a'],
      ],
      headers,
    );
    expect(firstReply.status).toBe(201);
    const namesBefore = await uploads.storedNames();
    const body = formOf([
      ['file', 'hello', 'a'],
      ['name', 'ab'],
    ])
      .toString()
      .replaceAll('--b', '--c');
    const type = 'multipart/form-data; boundary=c';
    const repeatedReply = await uploads.post(body, { ...headers, 'content-type': type });
    expect(repeatedReply.body).toEqual(firstReply.body);
    expect(repeatedReply.headers.get('idempotency-replayed')).toBe('true');
    expect(await uploads.storedNames()).toEqual(namesBefore);
  });

  it.each([
    [
      'another file',
      [
        ['name', 'ab'],
        ['file', 'hellO', 'a'],
      ],
    ],
    [
      'another field',
      [
        ['name', 'abc'],
        ['file', 'hello', 'a'],
      ],
    ],
    [
      'another file name',
      [
        ['name', 'ab'],
        ['file', 'hello', 'b'],
      ],
    ],
  ] as [string, Entry[]][])('is rejected with %s', async (_name, entries) => {
    const namesBefore = await uploads.storedNames();
    const reply = await uploads.send(entries, { 'idempotency-key': 'one' });
    expect([reply.status, reply.body.code]).toEqual([409, 'CONFLICT']);
    expect(await uploads.storedNames()).toEqual(namesBefore);
  });
});

describe('concurrent uploads', () => {
  it('are all stored', async () => {
    const contents = Array.from({ length: 20 }, (_, index) => Buffer.alloc(100_000, index));
    const replies = await Promise.all(
      contents.map((content) =>
        uploads.send([
          ['name', 'ab'],
          ['file', content, 'a'],
        ]),
      ),
    );
    const hashes = contents.map((each) => createHash('sha256').update(each).digest('hex'));
    expect(replies.map((reply) => reply.body.sha256)).toEqual(hashes);
  });

  it('are admitted up to 64 per platform', async () => {
    const headers = { authorization: 'Basic good', 'content-type': TYPE, 'content-length': '5000' };
    const statuses: (number | undefined)[] = [];
    const openRequests = Array.from({ length: 70 }, () => {
      const request = http.request(uploads.url, { method: 'POST', headers });
      request.on('error', () => undefined);
      request.on('response', (reply) => statuses.push(reply.resume().statusCode));
      request.flushHeaders();
      return request;
    });
    // All permitted uploads are in progress only now. An earlier request could have been admitted
    // and completed.
    await expect.poll(() => statuses, SLOW_TIMEOUT).toEqual(Array(6).fill(429));
    expect((await uploads.send(GOOD)).status).toBe(429);
    for (const request of openRequests) request.destroy();
    await expect.poll(async () => (await uploads.send(GOOD)).status, SLOW_TIMEOUT).toBe(201);
  });
});

it('uploads have a lower limit per link than per platform', async () => {
  const urlOf = (link: string) => `http://127.0.0.1:${uploads.port}/links/${link}/things`;
  const headers = { 'content-type': TYPE, 'content-length': '5000' };
  const statuses: (number | undefined)[] = [];
  const openRequests = Array.from({ length: 6 }, () => {
    const request = http.request(urlOf('one'), { method: 'POST', headers });
    request.on('error', () => undefined);
    request.on('response', (reply) => statuses.push(reply.resume().statusCode));
    request.flushHeaders();
    return request;
  });
  const send = async (link: string) => {
    const body = new Uint8Array(formOf(GOOD.slice(1)));
    const init = { method: 'POST', headers: { 'content-type': TYPE }, body };
    return (await fetch(urlOf(link), init)).status;
  };
  await expect.poll(() => statuses, SLOW_TIMEOUT).toEqual([429, 429]);
  expect([await send('one'), await send('two')]).toEqual([429, 201]);
  expect((await uploads.send(GOOD)).status).toBe(201);
  for (const request of openRequests) request.destroy();
  await expect.poll(() => send('one'), SLOW_TIMEOUT).toBe(201);
});

it('an upload is documented as a form with a file', () => {
  const document = runToEnd(openApiSteps([uploadThing], [], namingFor('Service'), NO_EXAMPLES)) as {
    paths: Record<string, { post: { requestBody: unknown } }>;
  };
  expect(document.paths['/things']?.post.requestBody).toMatchObject({
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file', 'name'],
          properties: { file: { type: 'string', format: 'binary' }, name: { type: 'string' } },
        },
      },
    },
  });
});
