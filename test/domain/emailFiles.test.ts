import { describe, expect, it } from 'vitest';
import { attachmentType } from '../../domain/email/content.ts';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const OPEN = 'application/vnd.oasis.opendocument';

describe('a file of an e-mail', () => {
  // Types as IANA has them.
  it.each([
    ['csv', 'text/csv'],
    ['doc', 'application/msword'],
    ['docx', `${OFFICE}.wordprocessingml.document`],
    ['gif', 'image/gif'],
    ['ics', 'text/calendar'],
    ['jpeg', 'image/jpeg'],
    ['jpg', 'image/jpeg'],
    ['json', 'application/json'],
    ['odp', `${OPEN}.presentation`],
    ['ods', `${OPEN}.spreadsheet`],
    ['odt', `${OPEN}.text`],
    ['p7m', 'application/pkcs7-mime'],
    ['p7s', 'application/pkcs7-signature'],
    ['pdf', 'application/pdf'],
    ['png', 'image/png'],
    ['ppt', 'application/vnd.ms-powerpoint'],
    ['pptx', `${OFFICE}.presentationml.presentation`],
    ['rtf', 'application/rtf'],
    ['txt', 'text/plain'],
    ['vcf', 'text/vcard'],
    ['webp', 'image/webp'],
    ['xls', 'application/vnd.ms-excel'],
    ['xlsx', `${OFFICE}.spreadsheetml.sheet`],
    ['xml', 'application/xml'],
    ['zip', 'application/zip'],
  ])('that ends in .%s is %s', (ending, type) => {
    expect(attachmentType(`faktura.${ending}`)).toBe(type);
    expect(attachmentType(`FAKTURA.${ending.toUpperCase()}`)).toBe(type);
  });

  it.each([
    ...['app', 'bat', 'cmd', 'com', 'exe', 'hta', 'htm', 'html', 'jar', 'js', 'lnk', 'msi', 'ps1', 'scr'],
    ...['sh', 'svg', 'url', 'vbs', 'wsf', 'docm', 'xlsm', 'pptm', 'iso'],
    ...['constructor', 'toString', '__proto__'],
  ])('that ends in .%s is not taken', (ending) => {
    expect(attachmentType(`faktura.${ending}`)).toBeNull();
  });
});
