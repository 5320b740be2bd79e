// Published client libraries of embedded wallets, with the types that tests need. The libraries are
// loaded with `require`, because their type definitions would add browser types to the whole
// project.
import { createRequire } from 'node:module';

interface Stamper {
  stamp(payload: string): Promise<{ stampHeaderName: string; stampHeaderValue: string }>;
}

interface StamperOptions {
  apiPublicKey: string;
  apiPrivateKey: string;
  runtimeOverride?: 'browser' | 'node' | 'purejs';
}

interface EncryptInput {
  plainTextBuf: Uint8Array;
  /** Uncompressed: 65 bytes. */
  targetKeyBuf: Uint8Array;
}

interface DecryptInput {
  ciphertextBuf: Uint8Array;
  encappedKeyBuf: Uint8Array;
  receiverPriv: string;
}

interface ExportInput {
  exportBundle: string;
  embeddedKey: string;
  organizationId: string;
  dangerouslyOverrideSignerPublicKey?: string;
  keyFormat?: 'SOLANA' | 'HEXADECIMAL';
  returnMnemonic: boolean;
}

interface KeyPair {
  privateKey: string;
  publicKey: string;
  publicKeyUncompressed: string;
}

interface Crypto {
  generateP256KeyPair(): KeyPair;
  verifyStampSignature(publicKey: string, signature: string, text: string): Promise<boolean>;
  compressRawPublicKey(uncompressedKey: Uint8Array): Uint8Array;
  uncompressRawPublicKey(compressedKey: Uint8Array): Uint8Array;
  getPublicKey(privateKey: Uint8Array | string, isCompressed?: boolean): Uint8Array;
  hpkeEncrypt(input: EncryptInput): Uint8Array;
  hpkeDecrypt(input: DecryptInput): Uint8Array;
  formatHpkeBuf(sealedData: Uint8Array): string;
  decryptCredentialBundle(sealedBundle: string, privateKey: string): string;
  decryptExportBundle(input: ExportInput): Promise<string>;
  encryptOtpCodeToBundle(
    code: string,
    bundle: string,
    publicKey: string,
    signerPublicKey?: string,
  ): Promise<string>;
  verifyOtpVerificationToken(
    token: string,
    signerPublicKey?: string,
  ): Promise<Record<string, unknown>>;
}

const require = createRequire(import.meta.url);

export const { ApiKeyStamper } = require('@turnkey/api-key-stamper') as {
  ApiKeyStamper: new (options: StamperOptions) => Stamper;
};
export const walletCrypto = require('@turnkey/crypto') as Crypto;
