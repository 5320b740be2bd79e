// A file that a client sends with a request. A contract with `upload` takes multipart/form-data:
// its text fields are the body as usual, and `file` is the one file, which HTTP has put into sealed
// storage before the operation runs. The storage port is defined here too, because the runtime
// seals and connectors store.
import { type TUnsafe, Type } from '@sinclair/typebox';

/** A file in sealed storage, not attached to a resource until an operation attaches it. */
export interface UploadedFile {
  /** Id of a row of the table `files`. */
  id: string;
  /** As named by the client, without folders and control characters. */
  fileName: string;
  /** Size of the clear content in bytes. */
  size: number;
  /** SHA-256 of the clear content, hexadecimal. */
  sha256: string;
  /** The file's own key, 32 bytes; the operation that attaches the file seals and stores it. */
  key: Uint8Array;
  /** Result of the contract's inspector. */
  findings: unknown;
}

/**
 * Inspects a file's clear content while it is received; the content is not kept for a second pass.
 */
export interface Inspector {
  write(chunk: Uint8Array): void;
  /** Called once, after the last chunk; returns the findings. */
  end(): unknown;
}

/** How a contract accepts a file. */
export interface UploadRules {
  maxBytes: number;
  /** Creates an inspector for each file. */
  inspect?: () => Inspector;
}

/** The property `file` in the body schema of a contract with `upload`. */
export const FilePart: TUnsafe<UploadedFile> = Type.Unsafe<UploadedFile>({
  type: 'string',
  format: 'binary',
  description: 'Content of the file.',
});

/**
 * Stores bytes under names. Names are the server's ids, never chosen by a client. Content is
 * already sealed, so secrecy and integrity do not depend on the storage.
 */
export interface StoragePort {
  /** The object exists completely or not at all, and survives a crash once this resolves. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** From byte `from` to the end; rejects if there is no such object. */
  get(name: string, from?: number): AsyncIterable<Uint8Array>;
  /** Also removes the remains of an interrupted `put`. A missing object is ignored. */
  remove(name: string): Promise<void>;
}
