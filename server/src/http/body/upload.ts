// A request with a file, from its first byte to its reply. It handles admitted requests only: the
// file is stored while it arrives, then the operation runs, and a file that the operation does not
// attach is removed. An unread body does not block its connection permanently.

import type { Readable } from 'node:stream';
import type { Caller } from '../../kernel/caller.ts';
import type { UploadedFile, UploadRules } from '../../kernel/contract/upload.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Files } from '../../runtime/files/files.ts';
import type { Request } from '../bind.ts';
import { type Form, MAX_OVERHEAD, readForm } from './multipart.ts';

/** Maximum concurrent uploads of a platform in this process. */
const MAX_UPLOADS = 64;
/** Maximum through one link, so that its holder cannot block the platform. */
const MAX_LINK_UPLOADS = 4;

/** The needed parts of a request. No body if none was sent. */
interface RequestWithFile {
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  raw: { socket: object };
}

interface Incoming {
  caller: Caller;
  rules: UploadRules;
  /** The credential is the link of a page. */
  isLink: boolean;
  request: RequestWithFile;
  /** Counts bytes of the body, and waits if the platform sends too many. */
  throttle?: (bytes: number) => Promise<void> | undefined;
}

/** The request of a file. */
export type FormParts = Pick<Request, 'body' | 'rawBody' | 'errors'>;

/** Equal forms are the same request, independent of boundary and duration. */
function rawOf({ fields, file }: Form): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, file ? [file.fileName, file.sha256] : null]);
}

/**
 * Creates the receiver of requests with files. `translate` maps field names from the wire.
 * `logError` receives errors that are not returned to the client.
 */
export function createUploads(
  files: Files,
  translate: (fields: unknown) => unknown,
  logError: (error: unknown) => void,
) {
  const inFlight = new Map<string, number>();

  function reserve({ platformId, tokenId }: Caller, isLink: boolean): () => void {
    const counters: [string, number][] = [[platformId, MAX_UPLOADS]];
    if (isLink && tokenId !== null) counters.push([tokenId, MAX_LINK_UPLOADS]);
    for (const [key, max] of counters) {
      if ((inFlight.get(key) ?? 0) < max) continue;
      const reason = `More than ${max} uploads are in progress. Wait until one is complete.`;
      throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 1 });
    }
    for (const [key] of counters) inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    return () => {
      for (const [key] of counters) {
        const remaining = (inFlight.get(key) ?? 1) - 1;
        if (remaining > 0) inFlight.set(key, remaining);
        else inFlight.delete(key);
      }
    };
  }

  async function receive<R>(
    { caller, rules, isLink, throttle, request: { headers, body } }: Incoming,
    use: (parts: FormParts) => Promise<R>,
  ): Promise<R> {
    if (!body) throw new Fault('INVALID_INPUT', 'The body must be multipart/form-data.');
    const maxBytes = rules.maxBytes + MAX_OVERHEAD;
    let stored: UploadedFile | undefined;
    const release = reserve(caller, isLink);
    try {
      const form = await readForm(body as Readable, {
        contentType: headers['content-type'] as string | undefined,
        maxBytes,
        throttle,
        async store(source, fileName) {
          stored = await files.put(caller, source, { ...rules, fileName });
          return stored;
        },
      }).finally(release);
      const { fields, file, errors } = form;
      const fieldsAsSent = translate(fields) as object;
      return await use({
        body: { ...fieldsAsSent, ...(file && { file }) },
        rawBody: rawOf(form),
        errors,
      });
    } finally {
      // If this fails, the sweep removes the file.
      if (stored) await files.discard(caller, stored.id).catch(logError);
    }
  }

  /** Connections on which a file is arriving. */
  const receiving = new WeakSet<object>();

  return {
    /**
     * Passes the form of a request to `use`. A file that was not attached is removed afterwards.
     */
    async run<R>(incoming: Incoming, use: (parts: FormParts) => Promise<R>): Promise<R> {
      const { socket } = incoming.request.raw;
      receiving.add(socket);
      try {
        return await receive(incoming, use);
      } catch (error) {
        if (error instanceof Fault && error.cause !== undefined) logError(error.cause);
        throw error;
      } finally {
        receiving.delete(socket);
      }
    },
    /** Whether a file is arriving on this connection, regardless of its duration. */
    isReceiving: (socket: object) => receiving.has(socket),
  };
}

export type Uploads = ReturnType<typeof createUploads>;
