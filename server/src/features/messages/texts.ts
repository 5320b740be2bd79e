// Everything that is written to people, in one place: short, plain, and without links, so that nobody learns
// to follow links in such messages. The platform is named, because it and not this server is known to them.
import type { Content } from './store.ts';

/** A one-time code. The subject does not show it: subjects are seen on locked screens and kept in logs. */
export const codeText = (platformName: string, code: string, livesMs: number): Content => ({
  subject: `Your code for ${platformName}`,
  text:
    `${code} is your code for ${platformName}. ` +
    `It works for ${Math.round(livesMs / 60_000)} minutes. Do not pass it on.`,
});
