// Port of a provider: the calls of the provider protocol, and how a provider is connected.

import type { SignatureKey } from '../../../kernel/crypto/http-signatures.ts';
import type { Effects } from '../../../kernel/effects.ts';
import type { Progress, RailPort } from '../rail.ts';
import type { Capabilities, TransferState } from './protocol.ts';

export interface ProviderPort {
  /** Requests the capabilities. Rejects with an error message for operators. */
  capabilities(): Promise<Capabilities>;
  /** The calls about transfers. Routing decides which transfers a provider receives. */
  transfers: Pick<RailPort, 'send' | 'check'> & Required<Pick<RailPort, 'cancel'>>;
}

/** Address of a provider. */
export interface ProviderAddress {
  /** Base URL without a trailing slash. */
  url: string;
  /** Whether the operator has allowed an address that is not public, or plain HTTP. */
  isPrivateAllowed: boolean;
}

/** This server's implementation of the provider protocol. */
export interface ProviderProtocol {
  /** `name` appears in error messages; `keyOf` returns the current signing key. */
  connect(
    effects: Effects,
    name: string,
    address: ProviderAddress,
    keyOf: () => SignatureKey,
  ): ProviderPort;
  /** Converts a reported state to the progress of an instruction. */
  progressOf(reported: TransferState): Progress;
}
