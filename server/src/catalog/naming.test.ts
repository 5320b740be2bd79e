// Names and messages with another service name prefix, in both directions.
import { describe, expect, it } from 'vitest';
import { isServiceNamePrefix, namingFor } from './naming.ts';

describe('namingFor', () => {
  it('keeps all names for the neutral prefix', () => {
    const naming = namingFor('Service');
    expect(naming.walletSignatureHeader).toBe('Service-Wallet-Signature');
    expect(naming.webhookSignatureHeader).toBe('X-Service-Signature');
    expect(naming.code('SERVICE_SWITCH_ERROR')).toBe('SERVICE_SWITCH_ERROR');
    const body = { rateDetails: { serviceApiMultiplier: 1 } };
    expect(naming.toApiNames(body)).toBe(body);
  });

  it('writes another prefix with the letter case of each name', () => {
    const naming = namingFor('Acme');
    expect(naming.walletSignatureHeader).toBe('Acme-Wallet-Signature');
    expect(naming.webhookSignatureHeader).toBe('X-Acme-Signature');
    expect(naming.code('SERVICE_SWITCH_ERROR')).toBe('ACME_SWITCH_ERROR');
    expect(naming.apiName('serviceApiMultiplier')).toBe('acmeApiMultiplier');
    expect(naming.apiName('request-service-enablement')).toBe('request-acme-enablement');
    expect(naming.path('/stablecoins/{stablecoinId}/request-service-enablement')).toBe(
      '/stablecoins/{stablecoinId}/request-acme-enablement',
    );
    expect(naming.apiName('requestStablecoinServiceEnablement')).toBe(
      'requestStablecoinAcmeEnablement',
    );
    expect(namingFor('AcmePay').apiName('serviceApiFixedFee')).toBe('acmePayApiFixedFee');
  });

  it('keeps names that are not listed', () => {
    const naming = namingFor('Acme');
    for (const name of ['SERVICE_UNAVAILABLE', 'OTHER_SERVICES', 'GOODS_OR_SERVICES', 'service']) {
      expect(naming.apiName(name)).toBe(name);
    }
  });

  it('renames the words of a message', () => {
    const text = 'must be one of WIRE, SERVICE_INTERNAL_ACCOUNT, SERVICE_UNAVAILABLE';
    const renamedText = 'must be one of WIRE, ACME_INTERNAL_ACCOUNT, SERVICE_UNAVAILABLE';
    expect(namingFor('Acme').text(text)).toBe(renamedText);
    expect(namingFor('Service').text(text)).toBe(text);
  });

  it('renames bodies at any depth, in both directions', () => {
    const naming = namingFor('Acme');
    const body = {
      code: 'SERVICE_SWITCH_ERROR',
      list: [{ serviceApiFixedFee: 1, note: 'the SERVICE_SWITCH_ERROR text' }, null, 7, true],
    };
    const apiBody = {
      code: 'ACME_SWITCH_ERROR',
      list: [{ acmeApiFixedFee: 1, note: 'the SERVICE_SWITCH_ERROR text' }, null, 7, true],
    };
    expect(naming.toApiNames(body)).toEqual(apiBody);
    expect(naming.toNeutralNames(apiBody)).toEqual(body);
  });

  it('rejects an invalid prefix', () => {
    for (const prefix of ['', 'acme', 'Ac-me', 'Ac me', '1A']) {
      expect(isServiceNamePrefix(prefix)).toBe(false);
      expect(() => namingFor(prefix)).toThrow(RangeError);
    }
  });
});
