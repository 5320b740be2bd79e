// All texts of messages to customers. The texts contain no links, because customers must not expect
// links in security messages. The texts name the platform, because the operator of this server is
// unknown to customers.
import { iso, type Time } from '../../../kernel/effects.ts';
import type { Content } from './store.ts';

const formatCount = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** A duration in words, rounded down, so that the text states at most the validity of the code. */
function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120 && seconds !== 60) return formatCount(seconds, 'second');
  if (seconds % 3_600 === 0) return formatCount(seconds / 3_600, 'hour');
  return formatCount(Math.floor(seconds / 60), 'minute');
}

/**
 * A one-time code. The subject omits the code, because it is visible on locked screens and in logs.
 */
export const codeText = (senderName: string, code: string, validityMs: number): Content => ({
  subject: `Your code for ${senderName}`,
  text:
    `${code} is your code for ${senderName}. ` +
    `It expires in ${durationText(validityMs)}. Do not share it with anyone.`,
});

/** Control characters and line breaks in a description could imitate the text of the message. */
const toOneLine = (text: string) => text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

/**
 * A code that authorizes one action. `description` states the action, such as the amount and the
 * payee.
 */
export const scaCodeText = (
  senderName: string,
  code: string,
  validityMs: number,
  description?: string,
): Content =>
  description === undefined
    ? codeText(senderName, code, validityMs)
    : {
        ...codeText(senderName, code, validityMs),
        text:
          `${code} is your code for ${senderName} to confirm: ${toOneLine(description)}. ` +
          `It expires in ${durationText(validityMs)}. Do not share it with anyone.`,
      };

export const walletExportedText = (platformName: string): Content => ({
  subject: `Your wallet at ${platformName} was exported`,
  text:
    `The recovery phrase of your wallet at ${platformName} was exported. It gives ` +
    'full access to the funds in the wallet. If this was not you, contact ' +
    `${platformName} immediately.`,
});

/**
 * Data of a recovery notice. The address or number of the contact is omitted, because an attacker
 * may have access to the mailbox.
 */
interface RecoveryNotice {
  platformName: string;
  /** Kind of the contact that receives the codes, such as `e-mail address`. */
  contact: string;
  requestedAt: Time;
  dueAt: Time;
}

/** A time in UTC, because the time zone of the customer is unknown. */
const timeText = (time: Time) => `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;

export const recoveryStartedText = ({
  platformName: name,
  contact,
  dueAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery was requested for your wallet at ${name}`,
  text:
    `Account recovery was requested for your wallet at ${name}. It takes effect on ` +
    `${timeText(dueAt)} at the earliest. Codes sent to your ${contact} then give ` +
    'access to the wallet. If this was not you, sign in to cancel the recovery, or contact ' +
    `${name} immediately.`,
});

export const recoveryDoneText = ({
  platformName: name,
  contact,
  requestedAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery of your wallet at ${name} is complete`,
  text:
    `Codes sent to your ${contact} now give access to your wallet at ${name}, as ` +
    `requested on ${timeText(requestedAt)}. If this was not you, contact ${name} immediately.`,
});

export const recoveryCancelledText = ({
  platformName: name,
  requestedAt,
}: RecoveryNotice): Content => ({
  subject: `Account recovery of your wallet at ${name} was canceled`,
  text:
    `The account recovery of your wallet at ${name}, requested on ${timeText(requestedAt)}, ` +
    'was canceled. Your wallet is unchanged.',
});
