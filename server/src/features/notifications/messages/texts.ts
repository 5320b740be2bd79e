// Everything that is written to people, in one place: short, plain, and without links, so that nobody learns
// to follow links in such messages. The platform is named, because it and not this server is known to them.
import { iso, type Time } from '../../../kernel/effects.ts';
import type { Content } from './store.ts';

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** In hours or minutes where that is no more than it is, in seconds where it is short. */
function spanText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120 && seconds !== 60) return counted(seconds, 'second');
  if (seconds % 3_600 === 0) return counted(seconds / 3_600, 'hour');
  return counted(Math.floor(seconds / 60), 'minute');
}

/** A one-time code. The subject does not show it: subjects are seen on locked screens and kept in logs. */
export const codeText = (senderName: string, code: string, livesMs: number): Content => ({
  subject: `Your code for ${senderName}`,
  text:
    `${code} is your code for ${senderName}. ` +
    `It expires in ${spanText(livesMs)}. Do not share it with anyone.`,
});

/** Control characters and runs of space would let a name pass for a line of our own. */
const inOneLine = (words: string) => words.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

/** A code that stands for one thing, which it names: an amount and who gets it, say. */
export const scaCodeText = (
  senderName: string,
  code: string,
  livesMs: number,
  words?: string,
): Content =>
  words === undefined
    ? codeText(senderName, code, livesMs)
    : {
        ...codeText(senderName, code, livesMs),
        text:
          `${code} is your code for ${senderName} to confirm: ${inOneLine(words)}. ` +
          `It expires in ${spanText(livesMs)}. Do not share it with anyone.`,
      };

/** Somebody took the words of a wallet: whoever did not should know at once. */
export const walletExportedText = (platformName: string): Content => ({
  subject: `Your wallet at ${platformName} was exported`,
  text:
    `The recovery phrase of your wallet at ${platformName} was just exported. It gives ` +
    'full access to the funds in the wallet. If this was not you, contact ' +
    `${platformName} immediately.`,
});

/** What is said of a way back into a wallet. None of it shows where codes go, which strangers might read. */
interface RecoveryNotice {
  platformName: string;
  /** Where codes are to go: `email address`. */
  contact: string;
  askedAt: Time;
  dueAt: Time;
}

/** To the minute, in one time zone for all: where they are is not known. */
const timeText = (at: Time) => `${iso(at).slice(0, 16).replace('T', ' ')} UTC`;

export const recoveryStartedText = ({
  platformName: name,
  contact,
  dueAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery was requested for your wallet at ${name}`,
  text:
    `Account recovery was requested for your wallet at ${name}. It takes effect on ` +
    `${timeText(dueAt)} at the earliest; codes sent to your ${contact} will then open ` +
    'the wallet. If this was not you, sign in, which cancels the recovery, or contact ' +
    `${name} immediately.`,
});

export const recoveryDoneText = ({
  platformName: name,
  contact,
  askedAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery of your wallet at ${name} is complete`,
  text:
    `Codes sent to your ${contact} now open your wallet at ${name}, as requested on ` +
    `${timeText(askedAt)}. If this was not you, contact ${name} immediately.`,
});

export const recoveryCancelledText = ({
  platformName: name,
  askedAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery of your wallet at ${name} was canceled`,
  text:
    `The account recovery of your wallet at ${name}, requested on ${timeText(askedAt)}, ` +
    'was canceled. Nothing has changed.',
});
