// Requirements for every storage, a folder or a bucket of an S3-compatible service. The bucket is
// that of a local server that does not verify signatures, so the tests verify them by the rules of
// Signature Version 4.
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StoragePort } from '../kernel/contract/upload.ts';
import { systemEffects } from '../runtime/config/system-effects.ts';
import { storageOf } from './registry.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'storage-'));
const folder = path.join(root, 'folder');
const stagingFolder = path.join(root, 'staging');
const effects = systemEffects();

/** The package contains no types. */
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: object,
) => { run(): Promise<{ port: number }>; close(): Promise<void> };
const s3Server = new S3rver({
  ...{ address: '127.0.0.1', port: 0, silent: true, directory: path.join(root, 's3') },
  configureBuckets: [{ name: 'files', configs: [] }],
});

/** Handles a request in place of the S3 server if it returns true. */
let respondInstead:
  | ((request: http.IncomingMessage, reply: http.ServerResponse) => boolean)
  | undefined;
let s3Port = 0;
const proxy = http.createServer((request, reply) => {
  if (respondInstead?.(request, reply)) return;
  const { method, headers, url: path } = request;
  const forwardedRequest = http.request(
    { host: '127.0.0.1', port: s3Port, method, path, headers },
    (response) => {
      reply.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(reply);
    },
  );
  request.pipe(forwardedRequest);
});

const bucket = (overrides = {}) => ({
  endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  ...{ bucket: 'files', region: 'us-east-1', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  ...overrides,
});

const storages: Record<string, StoragePort> = {};
beforeAll(async () => {
  s3Port = (await s3Server.run()).port;
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  storages.folder = storageOf(effects, { folder });
  storages.s3 = storageOf(effects, { folder: stagingFolder, s3: bucket() });
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await s3Server.close();
  rmSync(root, { recursive: true });
});
afterEach(() => {
  respondInstead = undefined;
});

async function* chunksOf(bytes: Buffer, size = 10_000) {
  for (let index = 0; index < bytes.length; index += size)
    yield bytes.subarray(index, index + size);
}
async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const readChunks: Uint8Array[] = [];
  for await (const chunk of chunks) readChunks.push(chunk);
  return Buffer.concat(readChunks);
}
let nameCount = 0;
const newName = () => `00000000-0000-7000-8000-${String(++nameCount).padStart(12, '0')}`;
const bytesOf = (size: number) => Buffer.from(effects.random(size));

describe.each(['folder', 's3'])('the %s storage', (kind) => {
  const storage = (): StoragePort => storages[kind] as StoragePort;

  it.each([1, 16, 65_552, 1_000_003])(
    'returns %i bytes, completely and from any offset',
    async (size) => {
      const [name, bytes] = [newName(), bytesOf(size)];
      await storage().put(name, chunksOf(bytes));
      for (const from of [undefined, 0, 1, size - 1, size].filter((each) => (each ?? 0) >= 0)) {
        const receivedBytes = await readAll(storage().get(name, from));
        expect(receivedBytes.equals(bytes.subarray(from)), `from ${from}`).toBe(true);
      }
    },
  );

  it('replaces an object of the same name', async () => {
    const name = newName();
    await storage().put(name, chunksOf(Buffer.from('the first, which is longer')));
    await storage().put(name, chunksOf(Buffer.from('the second')));
    expect((await readAll(storage().get(name))).toString()).toBe('the second');
  });

  it('rejects the read of an absent object', async () => {
    await expect(readAll(storage().get(newName()))).rejects.toThrow();
  });

  it('removes an object repeatedly without an error', async () => {
    const name = newName();
    await storage().put(name, chunksOf(bytesOf(100)));
    await storage().remove(name);
    await storage().remove(name);
    await storage().remove(newName());
    await expect(readAll(storage().get(name))).rejects.toThrow();
  });

  it('stores no interrupted upload, and reports the reason', async () => {
    const name = newName();
    async function* failingChunks() {
      yield bytesOf(200_000);
      throw new Error('the connection was closed');
    }
    await expect(storage().put(name, failingChunks())).rejects.toThrow('the connection was closed');
    await expect(readAll(storage().get(name))).rejects.toThrow();
    const remainingFiles = [folder, stagingFolder]
      .filter(existsSync)
      .flatMap((each) => readdirSync(each));
    expect(remainingFiles.filter((each) => each.endsWith('.part'))).toEqual([]);
  });

  it('allows a read to stop early', async () => {
    const name = newName();
    await storage().put(name, chunksOf(bytesOf(1_000_000)));
    for await (const chunk of storage().get(name)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await readAll(storage().get(name))).length).toBe(1_000_000);
  });

  it('accepts concurrent uploads', async () => {
    const uploads = Array.from({ length: 20 }, () => [newName(), bytesOf(50_000)] as const);
    await Promise.all(uploads.map(([name, bytes]) => storage().put(name, chunksOf(bytes))));
    const receivedFiles = await Promise.all(uploads.map(([name]) => readAll(storage().get(name))));
    expect(
      receivedFiles.map((each, index) => each.equals(uploads[index]?.[1] as Buffer)),
    ).not.toContain(false);
  });
});

describe('the folder', () => {
  it('is accessible to its owner only', async () => {
    const name = newName();
    await storages.folder?.put(name, chunksOf(bytesOf(10)));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('rejects a path as a name', async () => {
    for (const name of ['../out', 'a/b', '/etc/passwd', '', '.', '..', 'a\0b']) {
      await expect(storages.folder?.put(name, chunksOf(bytesOf(1)))).rejects.toThrow('name');
      await expect(storages.folder?.remove(name)).rejects.toThrow('name');
      expect(() => storages.folder?.get(name)).toThrow('name');
    }
  });

  it('removes the fragment of a pending upload', async () => {
    const name = newName();
    let failUpload = () => {};
    async function* stuckChunks() {
      yield bytesOf(1_000);
      await new Promise<void>((_, reject) => {
        failUpload = () => reject(new Error('the upload was aborted'));
      });
    }
    const pendingUpload = storages.folder?.put(name, stuckChunks());
    await expect.poll(() => existsSync(path.join(folder, `${name}.part`))).toBe(true);
    expect(existsSync(path.join(folder, name))).toBe(false);
    await storages.folder?.remove(name);
    expect(existsSync(path.join(folder, `${name}.part`))).toBe(false);
    failUpload();
    await expect(pendingUpload).rejects.toThrow('the upload was aborted');
  });
});

/**
 * Whether the Authorization header is a valid AWS Signature Version 4 of this request and secret.
 */
function isSigned({ method, url, headers }: http.IncomingMessage, secret: string): boolean {
  const authorizationPattern =
    /Credential=\w+\/(\d+)\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/;
  const [, day = '', region = '', signedHeaders = '', signature] =
    authorizationPattern.exec(headers.authorization ?? '') ?? [];
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const lines = signedHeaders.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonicalRequest = [
    method,
    url,
    '',
    lines.join(''),
    signedHeaders,
    headers['x-amz-content-sha256'],
  ];
  const scope = `${day}/${region}/s3/aws4_request`;
  const hash = createHash('sha256').update(canonicalRequest.join('\n')).digest('hex');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex') === signature;
}

describe('the bucket', () => {
  it('is called again after an error', async () => {
    const requests: string[] = [];
    respondInstead = (request, reply) => {
      requests.push(request.method ?? '');
      if (requests.length > 2) return false;
      if (requests.length === 1) request.socket.destroy();
      else request.resume().on('end', () => reply.writeHead(503).end('<Code>SlowDown</Code>'));
      return true;
    };
    const [name, bytes] = [newName(), bytesOf(300_000)];
    await storages.s3?.put(name, chunksOf(bytes));
    expect(requests).toEqual(['PUT', 'PUT', 'PUT']);
    expect((await readAll(storages.s3?.get(name) as AsyncIterable<Buffer>)).equals(bytes)).toBe(
      true,
    );
  });

  it('fails after repeated errors, with the status and code in the message', async () => {
    respondInstead = (request, reply) => {
      request.resume().on('end', () => reply.writeHead(503).end('<Code>SlowDown</Code>'));
      return true;
    };
    const pendingUpload = storages.s3?.put(newName(), chunksOf(bytesOf(10)));
    await expect(pendingUpload).rejects.toThrow('storage responded to PUT with 503 SlowDown');
  });

  it('rejects an unknown key and is not called again', async () => {
    let requestCount = 0;
    respondInstead = () => {
      requestCount++;
      return false;
    };
    const s3 = bucket({ accessKeyId: 'UNKNOWN', secretAccessKey: 'sesame' });
    const storageWithUnknownKey = storageOf(effects, { folder: stagingFolder, s3 });
    const rejectedUpload = storageWithUnknownKey.put(newName(), chunksOf(bytesOf(10)));
    await expect(rejectedUpload).rejects.toThrow(
      'storage responded to PUT with 403 InvalidAccessKeyId',
    );
    expect(requestCount).toBe(1);
  });

  it('is called with a signature over the request', async () => {
    const requests: [string, boolean][] = [];
    respondInstead = (request) => {
      requests.push([request.method ?? '', isSigned(request, 'S3RVER')]);
      expect(isSigned(request, 'another')).toBe(false);
      return false;
    };
    const name = newName();
    await storages.s3?.put(name, chunksOf(bytesOf(70_000)));
    await readAll(storages.s3?.get(name, 3) as AsyncIterable<Buffer>);
    await storages.s3?.remove(name);
    expect(requests).toEqual([
      ['PUT', true],
      ['GET', true],
      ['DELETE', true],
    ]);
  });

  it('receives hash and length of a file, and no local file remains', async () => {
    let requestHeaders: http.IncomingHttpHeaders = {};
    respondInstead = ({ headers }) => {
      requestHeaders = headers;
      return false;
    };
    await storages.s3?.put(newName(), chunksOf(Buffer.from('hello')));
    expect(requestHeaders['content-length']).toBe('5');
    expect(requestHeaders['x-amz-content-sha256']).toBe(
      '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    );
    expect(readdirSync(stagingFolder)).toEqual([]);
  });
});
