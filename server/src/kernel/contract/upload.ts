// A file that a client sends with a request. A contract with `upload` takes multipart/form-data: its text
// fields are the body as always, and `file` is the one file, which HTTP has put into sealed storage before
// the operation runs. What a storage must be able to do is said here too, because the runtime seals and
// connectors keep.
import { type TUnsafe, Type } from '@sinclair/typebox';

/** A file that lies sealed in storage and belongs to nothing until an operation keeps it. */
export interface UploadedFile {
  /** A row of the table `files`. */
  id: string;
  /** As the client named it, without folders and control characters. */
  fileName: string;
  /** Bytes of the clear content. */
  size: number;
  /** Of the clear content, hexadecimal. */
  sha256: string;
  /** The file's own key, 32 bytes; whoever keeps the file seals it and stores it. */
  key: Uint8Array;
  /** What the contract's inspector said. */
  findings: unknown;
}

/** Looks at a file's clear content on its way in; nothing of it is there a second time. */
export interface Inspector {
  write(chunk: Uint8Array): void;
  /** Called once, after the last piece: what was found. */
  end(): unknown;
}

/** How a contract takes a file. */
export interface UploadRules {
  maxBytes: number;
  /** A new inspector for every file. */
  inspect?: () => Inspector;
}

/** The property `file` in the body schema of a contract with `upload`. */
export const FilePart: TUnsafe<UploadedFile> = Type.Unsafe<UploadedFile>({
  type: 'string',
  format: 'binary',
  description: 'Content of the file.',
});

/**
 * Keeps bytes under names. Names are ids of ours, never anything a client chose. What it is given is sealed
 * already, so it needs to be trusted with neither secrets nor changes.
 */
export interface StoragePort {
  /** The object is there whole or not at all, and survives a crash once this resolves. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** From byte `from` up to the end; rejects where there is no such object. */
  get(name: string, from?: number): AsyncIterable<Uint8Array>;
  /** Also what a `put` left behind that never ended. That nothing is there is no error. */
  remove(name: string): Promise<void>;
}
