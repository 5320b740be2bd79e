// Published vectors of the wire formats of embedded wallets, in lower-case hex unless a comment
// states another encoding. Other implementations computed the vectors, so they are valid for every
// client of the same formats.

/**
 * RFC 9180, mode 0, KEM 0x0010, KDF 0x0001, AEAD 0x0002: the first message of the suite that
 * wallets use. The source is the test vectors of the RFC (cfrg/draft-irtf-cfrg-hpke,
 * test-vectors.json at 5f503c5). The RFC itself prints this KEM with AES-128 only.
 */
export const RFC_9180 = {
  info: '4f6465206f6e2061204772656369616e2055726e',
  ikmE: 'a90d3417c3da9cb6c6ae19b4b5dd6cc9529a4cc24efb7ae0ace1f31887a8cd6c',
  ikmR: 'a0ce15d49e28bd47a18a97e147582d814b08cbe00109fed5ec27d1b4e9f6f5e3',
  skE: '90345e3a1d116c1dd39ae76d95ab858c142223a63e44f8f85318cfa91a84858e',
  skR: '317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2',
  pkR:
    '04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f' +
    '853148544876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c',
  pkE:
    '04c06b4f6bebc7bb495cb797ab753f911aff80aefb86fd8b6fcc35525f3ab5f03e' +
    '0b21bd31a86c6048af3cb2d98e0d3bf01da5cc4c39ff5370d331a4f1f7d5a4e0',
  sharedSecret: '48893fecd82f7c3456af6a42d8f56325d21e08c10fa81299986aaff54cde7b49',
  context:
    '008fc3aeb832490a4b5ab3e42023287db29a1f4bc7c222c0df228727b70a402112' +
    '7f1ff3fd1aa97af7e5d473e1cb01ba74831133d9659b6c26b03a038a49a84074',
  key: 'ee16802a936d5f544771131900ee6973d0551de9e852ece2ef34bf0d5f9e1d1d',
  nonce: '9bc50980832a7b4b58c40161',
  aad: '436f756e742d30',
  plaintext: '4265617574792069732074727574682c20747275746820626561757479',
  ciphertext:
    '58c61a45059d0c5704560e9d88b564a8b63f1364b8d1fcb3c4c6ddc1d291742465e902cd216f8908da49f8f96f',
} as const;

/** A session key encrypted to a client: the keys of both parties and all intermediate values. */
export const SEALED_KEY = {
  skR: '11'.repeat(32),
  skE: '22'.repeat(32),
  plaintext: '33'.repeat(32),
  /** Compressed, like `pkE`. */
  pkR: '020217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed',
  pkE: '03d65a93977caa3d1b081852ff57a79e465f1660577304baead505dd3a48589cf3',
  dh: 'ccfc261f58193c98ca4ad4a53bbac6f0ee29bc4d48438090446908622ca79af6',
  sharedSecret: '76bccf1264f5f7f5b7df0b78b6c1037f2e22fb513288207ad2dede881710d4c3',
  context:
    '008fc3aeb832490a4b5ab3e42023287db29a1f4bc7c222c0df228727b70a402112' +
    '2f3f04e9206cd12413503529b47ac6a630b92ec4cf7d234508d0af9771c99e50',
  key: '5e99ef2778a463eac43086c22c2286b64c93e7023dc417497c787b3ba367ffa2',
  nonce: '52978e9e3f60b30fef9de4a9',
  ciphertext:
    'd2ece7320fe4bc8faa7767a3599a62fb6a24307bf96938e13048551eeb9a58ca' +
    '37d4b19c924e79da6293924f4b8d95bb',
  /** base58check. */
  sealedKey:
    '2D3mR2shGSkgZjh1AX2hb1TuTjxbSMWX6Z7XT155tKcSznoPA4eZp4Z1eVGxZyfA1VCLbwcMFL8AmPHC1YSHBuj3Pw9i' +
    'RDfVp2tcPwznnrFNCn8Q2cWm',
} as const;

/** A stamp's signature, RFC 6979, DER. `payload` is the text. */
export const STAMP = {
  privateKey: '33'.repeat(32),
  payload: '{"a":1}',
  publicKey: '0351a7580833898ea1b183cbd7350a4099078c6ef1c1e18e970cd7683035f25e7d',
  signature:
    '30440220411d28575db3ae8db325976135205a0976ec00dbbd59d9cfdd52f4bbe34d4959' +
    '02201346c0f7f7d7b934372e3183c1e867b5fcf933794fcd5eec057ce24c44b7be41',
} as const;
