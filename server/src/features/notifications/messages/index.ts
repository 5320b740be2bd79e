// Public interface of messages.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { messagePersonalData } from './personal-data.ts';
import { messageJobs } from './send.ts';
import { messageStates, sealedMessageColumns } from './store.ts';

export { messageDetails, pageOfMessages, searchMessages } from './by-operator.ts';
export { canSend, sendMessage } from './send.ts';
export {
  findMessages,
  MESSAGE_CHANNELS,
  MESSAGE_FAILURES,
  MESSAGE_STATUSES,
  type MessageChannel,
} from './store.ts';
export {
  codeText,
  recoveryCancelledText,
  recoveryDoneText,
  recoveryStartedText,
  scaCodeText,
  walletExportedText,
} from './texts.ts';

/** Parts that this feature adds to a server. */
export const messageFeature = {
  sealed: sealedMessageColumns,
  jobs: messageJobs,
  personalData: messagePersonalData,
  states: { message: messageStates },
} satisfies Feature;
