// What other features may use of messages, and of the codes that they carry.
export { type CodePurpose, type CodeRules, issueCode, takeCode } from './codes.ts';
export {
  canSend,
  eraseMessages,
  messageJobs,
  messageKeyOf,
  type NewMessage,
  sendMessage,
} from './send.ts';
export {
  type MessageChannel,
  type MessageRow,
  messageStates,
  messages,
  openMessage,
} from './store.ts';
export { codeText } from './texts.ts';
