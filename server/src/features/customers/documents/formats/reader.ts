// Interface of the format readers. A reader receives a file in chunks of any size and buffers at
// most a few thousand bytes.

interface Structure {
  /** The end of the format was reached. Trailing data is ignored. */
  complete: boolean;
  /** The structure conforms to the format. */
  readable: boolean;
  /** The file is encrypted. */
  locked: boolean;
  /** Size in pixels, if the file is an image that declares it. */
  width: number | null;
  height: number | null;
}

export interface Reader {
  write(chunk: Uint8Array): void;
  end(): Structure;
}
