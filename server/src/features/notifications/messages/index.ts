// What other features may use of messages, and of the codes that they carry.
export {
  type CodePurpose,
  type CodeRules,
  codeSweep,
  drawCode,
  dropCode,
  issueCode,
  LETTERS_AND_DIGITS,
  takeCode,
} from './codes.ts';
export { messagePersonalData } from './personal-data.ts';
export { canSend, messageJobs, messageKeyOf, sendMessage } from './send.ts';
export {
  type MessageChannel,
  type MessageRow,
  messageStates,
  messages,
  openMessage,
} from './store.ts';
export {
  codeText,
  recoveryCancelledText,
  recoveryDoneText,
  recoveryStartedText,
  scaCodeText,
  walletExportedText,
} from './texts.ts';
