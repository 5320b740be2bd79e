// A request with a file, from its first byte to its reply. Only admitted requests get here; the
// file is stored while it arrives, then the operation runs, and a file that no operation kept is
// removed. An unread body does not block its connection permanently.

import type { Readable } from 'node:stream';
import type { Caller } from '../../kernel/caller.ts';
import type { UploadedFile, UploadRules } from '../../kernel/contract/upload.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Files } from '../../runtime/files/files.ts';
import type { Request } from '../bind.ts';
import { type Form, MAX_BESIDE, readForm } from './multipart.ts';

/** Maximum concurrent uploads of a platform in this process. */
const BATCH_SIZE = 64;
/** Maximum through one link, so that its receiver cannot block the platform. */
const AT_ONCE_OF_LINK = 4;

/** The needed parts of a request; no body if none was sent. */
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
  paced?: (bytes: number) => Promise<void> | undefined;
}

/** The request of a file. */
export type FormParts = Pick<Request, 'body' | 'rawBody' | 'errors'>;

/** Equal forms are the same request, independent of boundary and duration. */
function rawOf({ fields, file }: Form): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, file ? [file.fileName, file.sha256] : null]);
}

/**
 * Creates the receiver of requests with files. `translate` maps field names from the wire; `note`
 * receives errors that no client sees.
 */
export function createUploads(
  files: Files,
  translate: (fields: unknown) => unknown,
  note: (error: unknown) => void,
) {
  const inFlight = new Map<string, number>();

  function enter({ platformId, tokenId }: Caller, isLink: boolean): () => void {
    const places: [string, number][] = [[platformId, BATCH_SIZE]];
    if (isLink && tokenId !== null) places.push([tokenId, AT_ONCE_OF_LINK]);
    for (const [key, max] of places) {
      if ((inFlight.get(key) ?? 0) < max) continue;
      const reason = `More than ${max} uploads are in progress. Wait until one is complete.`;
      throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 1 });
    }
    for (const [key] of places) inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    return () => {
      for (const [key] of places) {
        const left = (inFlight.get(key) ?? 1) - 1;
        if (left > 0) inFlight.set(key, left);
        else inFlight.delete(key);
      }
    };
  }

  async function receive<R>(
    { caller, rules, isLink, paced, request: { headers, body } }: Incoming,
    use: (parts: FormParts) => Promise<R>,
  ): Promise<R> {
    if (!body) throw new Fault('INVALID_INPUT', 'The body must be multipart/form-data.');
    const maxBytes = rules.maxBytes + MAX_BESIDE;
    let stored: UploadedFile | undefined;
    const leave = enter(caller, isLink);
    try {
      const form = await readForm(body as Readable, {
        contentType: headers['content-type'] as string | undefined,
        maxBytes,
        paced,
        async store(source, fileName) {
          stored = await files.put(caller, source, { ...rules, fileName });
          return stored;
        },
      }).finally(leave);
      const { fields, file, errors } = form;
      const named = translate(fields) as object;
      return await use({ body: { ...named, ...(file && { file }) }, rawBody: rawOf(form), errors });
    } finally {
      // If this fails, the sweep removes the file.
      if (stored) await files.discard(caller, stored.id).catch(note);
    }
  }

  /** Connections on which a file is arriving. */
  const arriving = new WeakSet<object>();

  return {
    /** Passes the form of a request to `use`; a file that was not kept is removed afterwards. */
    async run<R>(incoming: Incoming, use: (parts: FormParts) => Promise<R>): Promise<R> {
      const { socket } = incoming.request.raw;
      arriving.add(socket);
      try {
        return await receive(incoming, use);
      } catch (error) {
        if (error instanceof Fault && error.cause !== undefined) note(error.cause);
        throw error;
      } finally {
        arriving.delete(socket);
      }
    },
    /** Whether a file is arriving on this connection, however long it has been. */
    holds: (socket: object) => arriving.has(socket),
  };
}

export type Uploads = ReturnType<typeof createUploads>;
