// Files in a bucket of an S3-compatible service.
import { Type } from '@sinclair/typebox';
import { matches, serviceSetting, textSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { FilesFolder } from '../ports/shared-settings.ts';
import { s3Storage } from './storage.ts';

const visibleText = matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters');

const bucket = Type.Object(
  {
    endpoint: serviceSetting({
      env: 'RAILHEAD_S3_ENDPOINT',
      flag: 's3-endpoint',
      help: 'URL of an S3-compatible service for the files. Set all five S3 settings, or none',
    }),
    bucket: textSetting(
      {
        env: 'RAILHEAD_S3_BUCKET',
        flag: 's3-bucket',
        value: 'NAME',
        help: 'bucket of the S3-compatible service',
      },
      matches(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be a bucket name: 3 to 63 lower-case letters, digits, dots or hyphens',
      ),
    ),
    region: textSetting(
      {
        env: 'RAILHEAD_S3_REGION',
        flag: 's3-region',
        value: 'NAME',
        help: 'region of the bucket, such as eu-central-1',
      },
      matches(
        /^[a-z0-9-]{1,64}$/,
        'must be a region name: 1 to 64 lower-case letters, digits or hyphens',
      ),
    ),
    accessKeyId: textSetting(
      { env: 'RAILHEAD_S3_ACCESS_KEY_ID', help: 'access key ID for the bucket', secret: true },
      visibleText,
    ),
    secretAccessKey: textSetting(
      { env: 'RAILHEAD_S3_SECRET_ACCESS_KEY', help: 'secret of the access key', secret: true },
      visibleText,
    ),
  },
  { description: 'The bucket and its credentials.' },
);

export const s3 = defineConnector({
  name: 's3',
  description: 'Stores files in a bucket. A folder holds them until they are uploaded.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({ folder: FilesFolder, s3: bucket }),
  capabilities: ['storage'],
  open: ({ provider }, settings) => ({
    storage: s3Storage(provider('storage'), settings.s3, settings.folder),
  }),
});
