// Settings of several connectors. Each is one value, so that the help and the documentation list it
// once.
import {
  folderSetting,
  listOf,
  listSetting,
  problemUnless,
  serviceUrlProblem,
} from '../../kernel/settings.ts';

/**
 * Error message unless all issuers are addresses without a query. An issuer must be exactly as in
 * its tokens.
 */
function issuersProblem(text: string): string | undefined {
  const isValid = (each: string) =>
    serviceUrlProblem(each) === undefined && !/[?#@\s]/.test(each) && each.length <= 512;
  const problem =
    'must be comma-separated addresses with https, or with http on this machine, without a query';
  return problemUnless(listOf(text).every(isValid), problem);
}

/** Identity providers whose tokens are accepted in addition to the built-in ones. */
export const OidcIssuers = listSetting(
  {
    env: 'RAILHEAD_OIDC_ISSUERS',
    flag: 'oidc-issuers',
    value: 'URLS',
    help: 'further identity providers for wallet users, separated by commas',
  },
  issuersProblem,
);

/** Storage folder of files. With a bucket, the folder where they are staged. */
export const FilesFolder = folderSetting({
  env: 'RAILHEAD_FILES_DIR',
  flag: 'files-dir',
  help: 'folder of uploaded files, shared by all machines. Default: in the data folder',
});
