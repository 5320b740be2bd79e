// Parses the segments of a JPEG file to determine its size and whether it is complete. The segments
// are parsed sequentially, because embedded previews also have an end marker and cameras append
// data after the end. Image libraries read the size from the start of a file and do not verify its
// end.
import type { Reader } from './reader.ts';

const END_MARKER = 0xd9;
const START_MARKER = 0xd8;
const SCAN_MARKER = 0xda;
/** A frame header starts with precision, height and width. */
const FRAME_BYTES = 5;

const isFrame = (code: number) =>
  code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);
const isRestart = (code: number) => code >= 0xd0 && code <= 0xd7;

type State =
  | 'marker' // 0xff expected
  | 'code' // segment type
  | 'high' // length, high byte
  | 'low'
  | 'frame' // first bytes of a frame header
  | 'skip'
  | 'scan' // image data, up to the next 0xff
  | 'escape' // byte after 0xff in image data
  | 'done'
  | 'broken';

export function jpegReader(): Reader {
  // The first two bytes are the start marker.
  let state: State = 'skip';
  let remainingBytes = 2;
  let code = 0;
  const frame: number[] = [];

  const stateAfterSegment = (): State => (code === SCAN_MARKER ? 'scan' : 'marker');

  function startSegment(marker: number): State {
    if (marker === 0xff) return 'code';
    if (marker === END_MARKER) return 'done';
    if (marker === 0x01 || isRestart(marker)) return 'marker';
    if (marker === 0x00 || marker === START_MARKER) return 'broken';
    code = marker;
    return 'high';
  }

  function stateAfterLength(): State {
    remainingBytes -= 2;
    if (remainingBytes < 0) return 'broken';
    if (isFrame(code) && frame.length === 0)
      return remainingBytes < FRAME_BYTES ? 'broken' : 'frame';
    return remainingBytes === 0 ? stateAfterSegment() : 'skip';
  }

  function readFrameByte(byte: number): State {
    remainingBytes--;
    if (frame.push(byte) < FRAME_BYTES) return 'frame';
    if (frame[3] === 0 && frame[4] === 0) return 'broken'; // No width.
    return remainingBytes === 0 ? stateAfterSegment() : 'skip';
  }

  function readByte(byte: number): State {
    if (state === 'marker') {
      if (byte === 0xff) return 'code';
      return frame.length === 0 ? 'broken' : 'marker'; // Decoders skip invalid bytes.
    }
    if (state === 'code') return startSegment(byte);
    if (state === 'high') {
      remainingBytes = byte << 8;
      return 'low';
    }
    if (state === 'low') {
      remainingBytes |= byte;
      return stateAfterLength();
    }
    if (state === 'frame') return readFrameByte(byte);
    if (byte === 0xff) return 'escape';
    return byte === 0x00 || isRestart(byte) ? 'scan' : startSegment(byte);
  }

  function write(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length; ) {
      if (state === 'done' || state === 'broken') return;
      if (state === 'skip') {
        const step = Math.min(remainingBytes, chunk.length - index);
        index += step;
        remainingBytes -= step;
        if (remainingBytes === 0) state = stateAfterSegment();
      } else if (state === 'scan') {
        const nextMarker = chunk.indexOf(0xff, index);
        if (nextMarker < 0) return;
        index = nextMarker + 1;
        state = 'escape';
      } else state = readByte(chunk[index++] as number);
    }
  }

  return {
    write,
    end() {
      const [, heightHigh = 0, heightLow = 0, widthHigh = 0, widthLow = 0] = frame;
      const isComplete = frame.length === FRAME_BYTES;
      return {
        complete: state === 'done',
        readable: state !== 'broken' && (state !== 'done' || isComplete),
        locked: false,
        width: isComplete ? (widthHigh << 8) | widthLow : null,
        // Zero: the height is defined after the image data.
        height: (isComplete && (heightHigh << 8) | heightLow) || null,
      };
    },
  };
}
