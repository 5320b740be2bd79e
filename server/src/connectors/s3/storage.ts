// Files in a bucket of an S3-compatible service. The size of an object must be known before its
// first byte is sent, and an upload can take minutes. A sealed file is therefore staged on the
// local disk, and sent once it is complete. The staging file has no name, so it disappears after a
// crash.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { type Effects, iso, type StreamReply, type StreamRequest } from '../../kernel/effects.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import type { StoragePort } from '../ports/index.ts';

export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`. The bucket is the first part of the path. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Inactivity timeout. */
const TIMEOUT_MS = 20_000;
/** Deadline of an upload or a download. */
const FILE_DEADLINE_MS = 600_000;
const REMOVAL_DEADLINE_MS = 20_000;
/** Delays between attempts if the service fails or is unreachable. */
const RETRY_DELAYS_MS = [250, 1_000, 4_000];
const EMPTY_SHA256 = createHash('sha256').digest('hex');
/** Maximum bytes that are read of a response as text. */
const MAX_TEXT_BYTES = 10_000;

interface Call {
  method: StreamRequest['method'];
  name: string;
  headers?: Record<string, string>;
  /** Created for each attempt. */
  body?: () => AsyncIterable<Uint8Array>;
  sha256?: string;
}

const isServerError = (status: number) => status >= 500 || status === 429;

/**
 * Reads a response, so that its connection can be reused. A response over `MAX_TEXT_BYTES` is
 * truncated.
 */
async function textOf({ body }: StreamReply): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > MAX_TEXT_BYTES) break;
  }
  return text;
}

/** An error with the error code of the service, such as `AccessDenied`. */
async function problemOf(reply: StreamReply, { method }: Call): Promise<Error> {
  const text = await textOf(reply).catch(() => '');
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? '';
  return new Error(`storage responded to ${method} with ${reply.status} ${code}`.trim());
}

function sender(effects: Effects, settings: S3Settings) {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = settings;
  const base = `${endpoint.replace(/\/+$/, '')}/${bucket}/`;

  async function sendOnce(call: Call): Promise<StreamReply> {
    const signer = new AwsV4Signer({
      method: call.method,
      url: `${base}${encodeURIComponent(call.name)}`,
      headers: { ...call.headers, 'x-amz-content-sha256': call.sha256 ?? EMPTY_SHA256 },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      datetime: iso(effects.now()).replaceAll(/[:-]|\.\d{3}/g, ''),
    });
    const { url, headers } = await signer.sign();
    return effects.stream({
      url: url.toString(),
      method: call.method,
      headers: Object.fromEntries(headers),
      ...(call.body ? { body: call.body() } : {}),
      timeoutMs: TIMEOUT_MS,
      deadlineMs: call.method === 'DELETE' ? REMOVAL_DEADLINE_MS : FILE_DEADLINE_MS,
    });
  }

  return async function send(call: Call): Promise<StreamReply> {
    for (const delayMs of RETRY_DELAYS_MS) {
      const reply = await sendOnce(call).catch((error: unknown) => {
        if (circuitOpenIn(error)) throw error;
        return undefined;
      });
      if (reply && !isServerError(reply.status)) return reply;
      if (reply) await textOf(reply).catch(() => '');
      await pause(delayMs);
    }
    return sendOnce(call);
  };
}

/** A file without a name, removed when it is closed. */
async function unnamedFile(folder: string, name: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${name}.part`);
  const handle = await open(file, 'w+', 0o600);
  await rm(file);
  return handle;
}

/** `stagingFolder` is on the local disk. */
export function s3Storage(
  effects: Effects,
  settings: S3Settings,
  stagingFolder: string,
): StoragePort {
  const send = sender(effects, settings);
  const expectStatus = async (call: Call, statuses: readonly number[]) => {
    const reply = await send(call);
    if (!statuses.includes(reply.status)) throw await problemOf(reply, call);
    return reply;
  };
  return {
    async put(name, bytes) {
      const handle = await unnamedFile(stagingFolder, name);
      try {
        const hash = createHash('sha256');
        let size = 0;
        for await (const chunk of bytes) {
          hash.update(chunk);
          size += chunk.length;
          await handle.writeFile(chunk);
        }
        const call: Call = {
          method: 'PUT',
          name,
          headers: { 'content-length': String(size), 'content-type': 'application/octet-stream' },
          body: () => handle.createReadStream({ start: 0, autoClose: false }),
          sha256: hash.digest('hex'),
        };
        await textOf(await expectStatus(call, [200]));
      } finally {
        await handle.close();
      }
    },
    async *get(name, from = 0) {
      const headers = { range: `bytes=${from}-` };
      const reply = await expectStatus({ method: 'GET', name, headers }, [206, 416]);
      if (reply.status === 206) yield* reply.body;
      else await textOf(reply);
    },
    async remove(name) {
      await textOf(await expectStatus({ method: 'DELETE', name }, [200, 204, 404]));
    },
  };
}
