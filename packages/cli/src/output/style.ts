// Colors, by default on a terminal only. NO_COLOR disables them, and a FORCE_COLOR other than 0
// enables them.
import process from 'node:process';

interface Stream {
  readonly isTTY?: boolean;
}

export function hasColors(stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && env.TERM !== 'dumb';
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type Styles = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

export function stylesOf(isColored: boolean): Styles {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => [
    name,
    (text: string) => (isColored ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(entries);
}
