// A listening server with one operation that accepts a file, for tests of uploads.
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Type } from '@sinclair/typebox';
import { namingFor } from '../../../src/catalog/naming.ts';
import { systemCaller } from '../../../src/features/tenancy/platform/index.ts';
import { BASE_PATH, createServer } from '../../../src/http/server.ts';
import { handler, operation } from '../../../src/kernel/contract/operation.ts';
import { FilePart } from '../../../src/kernel/contract/upload.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { oneOf } from '../../../src/kernel/schema.ts';
import { attachFile } from '../../../src/runtime/files/files.ts';
import { createLog } from '../../../src/runtime/observability/log.ts';
import { createMetrics } from '../../../src/runtime/observability/metrics.ts';
import type { Ctx } from '../../../src/runtime/operation/context.ts';
import { startApp } from '../app/harness.ts';

/** Bytes of the largest file. */
export const MAX_FILE_BYTES = 200_000;

/** Timeout of polling on a busy machine. */
export const SLOW_TIMEOUT = { timeout: 10_000 };

export const uploadThing = operation({
  operationId: 'uploadThing',
  method: 'POST',
  path: '/things',
  tag: 'Things',
  summary: 'Upload',
  permission: 'TRANSACT',
  upload: {
    maxBytes: MAX_FILE_BYTES,
    inspect: () => {
      let chunks = 0;
      return { write: () => void chunks++, end: () => ({ chunks }) };
    },
  },
  body: Type.Object({
    file: FilePart,
    name: Type.String({ minLength: 2 }),
    side: Type.Optional(oneOf(['FRONT', 'BACK'])),
  }),
  replies: { 201: Type.Object({}, { additionalProperties: true }) },
  errors: [],
});

const uploadByLink = operation({
  operationId: 'uploadByLink',
  method: 'POST',
  path: '/links/{secret}/things',
  tag: 'Things',
  summary: 'Upload by a link',
  auth: 'hosted',
  params: Type.Object({ secret: Type.String() }),
  upload: { maxBytes: MAX_FILE_BYTES },
  body: Type.Object({ file: FilePart }),
  replies: { 201: Type.Object({}) },
  errors: [],
});

const handle = handler<Ctx>();

const operations = [
  handle(uploadThing, async (ctx, { body }) => {
    const { file, name } = body;
    if (name === 'reject') throw new Fault('CONFLICT', 'The name is in use.');
    if (name !== 'unused') await attachFile(ctx, file);
    const { fileName, size, sha256, findings } = file;
    const result = { id: file.id, fileName, size, sha256, findings, name };
    return { status: 201 as const, body: result };
  }),
  handle(uploadByLink, async () => ({ status: 201 as const, body: {} })),
];

/** A field, or a file if there is a file name. */
export type Entry = [name: string, value: string | Buffer, fileName?: string];

export const GOOD: Entry[] = [
  ['name', 'passport'],
  ['file', 'hello', 'scan.pdf'],
];

/** The body of a form whose boundary is `b`. */
export function formOf(entries: Entry[], end = '--b--\r\n'): Buffer {
  const parts = entries.map(([name, value, fileName]) => {
    const fileNameParameter = fileName === undefined ? '' : `; filename="${fileName}"`;
    const head = `--b\r\ncontent-disposition: form-data; name="${name}"${fileNameParameter}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
  });
  return Buffer.concat([...parts, Buffer.from(end)]);
}

export const TYPE = 'multipart/form-data; boundary=b';

/** Accepts `Basic good`, which may upload, and `Basic viewer`, which may not. */
export async function startUploads() {
  const app = await startApp();
  const { runtime, files, platform } = app;
  const server = createServer({
    ...{ runtime, files, operations, naming: namingFor('Service'), metrics: createMetrics() },
    log: createLog(app.effects, 'debug', (line) => app.log.push(line)),
    async authenticate(authorization) {
      if (!authorization?.startsWith('Basic '))
        throw new Fault('UNAUTHORIZED', 'The credentials are missing.');
      const permission = authorization === 'Basic viewer' ? 'VIEW' : 'TRANSACT';
      return { ...systemCaller(platform.id, 'sandbox'), permissions: [permission] };
    },
    bearers: {
      callerOf: async (secret) => ({ ...systemCaller(platform.id, 'sandbox'), tokenId: secret }),
      wasValid: () => true,
    },
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${BASE_PATH}/things`;

  async function post(
    body: Buffer | string | ReadableStream,
    headers: Record<string, string> = {},
  ) {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: 'Basic good', 'content-type': TYPE, ...headers },
      body: body as NonNullable<RequestInit['body']>,
      duplex: 'half',
    } as RequestInit);
    // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as any };
  }

  return {
    app,
    url,
    port,
    post,
    send: (entries: Entry[], headers?: Record<string, string>) => post(formOf(entries), headers),
    /** Names of stored files after all due work. */
    async storedNames(): Promise<string[]> {
      await app.settle();
      try {
        return readdirSync(app.filesFolder).sort();
      } catch {
        return [];
      }
    },
    async close() {
      await server.close();
      await app.close();
    },
  };
}
