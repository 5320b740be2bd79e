// A provider that speaks the protocol for providers, and how one is connected.

import type { SignatureKey } from '../../../kernel/crypto/http-signatures.ts';
import type { Effects } from '../../../kernel/effects.ts';
import type { Progress, RailPort } from '../rail.ts';
import type { Capabilities, TransferState } from './protocol.ts';

export interface ProviderPort {
  /** Requests what the provider offers. Rejects with a problem for operators. */
  capabilities(): Promise<Capabilities>;
  /** The calls for transfers. Which accounts a provider serves is decided by routing. */
  transfers: Pick<RailPort, 'send' | 'check'> & Required<Pick<RailPort, 'cancel'>>;
}

/** How a provider is reached. */
export interface ProviderAddress {
  /** Base URL without a trailing slash. */
  url: string;
  /** Whether the operator has allowed an address that is not public, or plain HTTP. */
  isPrivateAllowed: boolean;
}

/** The protocol for providers, on our side. */
export interface ProviderProtocol {
  /** `name` is for messages of errors; `keyOf` returns the key that signs calls now. */
  connect(
    effects: Effects,
    name: string,
    address: ProviderAddress,
    keyOf: () => SignatureKey,
  ): ProviderPort;
  /** A reported state as the progress of an instruction. */
  progressOf(reported: TransferState): Progress;
}
