// Handles an admitted request with a file. The file is stored while it arrives, before the operation runs.
// A file that the operation does not attach is removed.

import type { Readable } from 'node:stream';
import type { Caller } from '../../kernel/caller.ts';
import type { UploadedFile, UploadRules } from '../../kernel/contract/upload.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Files } from '../../runtime/files/files.ts';
import type { Request } from '../bind.ts';
import { type Form, MAX_OVERHEAD, readForm } from './multipart.ts';

/** Maximum concurrent uploads of a platform in this process. */
const MAX_UPLOADS = 64;
/** Maximum concurrent uploads through one link, so that its holder cannot block the platform. */
const MAX_LINK_UPLOADS = 4;

/** The parts of a request that an upload needs. `body` is undefined if none was sent. */
interface RequestWithFile {
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  raw: { socket: object };
}

interface Upload {
  caller: Caller;
  rules: UploadRules;
  /** Whether the credential is the link of a page. */
  isLink: boolean;
  request: RequestWithFile;
  /** Counts bytes of the body, and waits if the platform sends too many. */
  throttle?: (bytes: number) => Promise<void> | undefined;
}

/** The parts of a request that its form contains. */
export type FormParts = Pick<Request, 'body' | 'rawBody' | 'errors'>;

/** The text by which two forms are compared, independent of boundary and order of fields. */
function rawOf({ fields, file }: Form): string {
  const sortedFields = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sortedFields, file ? [file.fileName, file.sha256] : null]);
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
  const uploadCounts = new Map<string, number>();

  function reserve({ platformId, tokenId }: Caller, isLink: boolean): () => void {
    const limits: [string, number][] = [[platformId, MAX_UPLOADS]];
    if (isLink && tokenId !== null) limits.push([tokenId, MAX_LINK_UPLOADS]);
    for (const [key, max] of limits) {
      if ((uploadCounts.get(key) ?? 0) < max) continue;
      const reason = `More than ${max} uploads are in progress. Wait until one is complete.`;
      throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 1 });
    }
    for (const [key] of limits) uploadCounts.set(key, (uploadCounts.get(key) ?? 0) + 1);
    return () => {
      for (const [key] of limits) {
        const count = (uploadCounts.get(key) ?? 1) - 1;
        if (count > 0) uploadCounts.set(key, count);
        else uploadCounts.delete(key);
      }
    };
  }

  async function receive<R>(
    { caller, rules, isLink, throttle, request: { headers, body } }: Upload,
    use: (parts: FormParts) => Promise<R>,
  ): Promise<R> {
    if (!body) throw new Fault('INVALID_INPUT', 'The body must be multipart/form-data.');
    const maxBytes = rules.maxBytes + MAX_OVERHEAD;
    let storedFile: UploadedFile | undefined;
    const release = reserve(caller, isLink);
    try {
      const form = await readForm(body as Readable, {
        contentType: headers['content-type'] as string | undefined,
        maxBytes,
        throttle,
        async store(source, fileName) {
          storedFile = await files.put(caller, source, { ...rules, fileName });
          return storedFile;
        },
      }).finally(release);
      const { fields, file, errors } = form;
      const translatedFields = translate(fields) as object;
      return await use({
        body: { ...translatedFields, ...(file && { file }) },
        rawBody: rawOf(form),
        errors,
      });
    } finally {
      // If the removal fails, the sweep removes the file.
      if (storedFile) await files.discard(caller, storedFile.id).catch(logError);
    }
  }

  /** Connections on which a file is arriving. */
  const receivingSockets = new WeakSet<object>();

  return {
    /**
     * Passes the form of a request to `use`. A file that was not attached is removed afterwards.
     */
    async run<R>(upload: Upload, use: (parts: FormParts) => Promise<R>): Promise<R> {
      const { socket } = upload.request.raw;
      receivingSockets.add(socket);
      try {
        return await receive(upload, use);
      } catch (error) {
        if (error instanceof Fault && error.cause !== undefined) logError(error.cause);
        throw error;
      } finally {
        receivingSockets.delete(socket);
      }
    },
    /** Whether a file is arriving on this connection. */
    isReceiving: (socket: object) => receivingSockets.has(socket),
  };
}

export type Uploads = ReturnType<typeof createUploads>;
